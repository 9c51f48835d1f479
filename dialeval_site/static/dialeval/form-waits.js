// A form that comes anew once something in it is chosen: until it is there nothing else in it can be filled in, for the
// answer, made of what stood in the form, would overwrite it. The choice itself may be changed; its newest answer counts.
// What was chosen before the scripts had come, or was put back by a reload, is a choice too.
(function () {
  "use strict";

  // Not disabled: what is inert is still sent along.
  function hold(part, form, held) {
    for (let node = part; node !== form; node = node.parentElement) {
      for (const other of node.parentElement.children) if (other !== node) other.inert = held;
    }
  }

  function held(event, yes) {
    const { elt, target } = event.detail;
    const form = elt.parentElement && elt.parentElement.closest("form");
    if (form && target.contains(form)) hold(elt, form, yes);
  }

  // Whether it stands otherwise than the server wrote it; of radios, the one that is chosen now says so.
  function chosenSince(control) {
    if (control.type === "radio") return control.checked && !control.defaultChecked;
    if (!(control instanceof HTMLSelectElement)) return false;
    const written = [...control.options].findIndex((option) => option.defaultSelected);
    return control.selectedIndex !== Math.max(written, 0);
  }

  function follow(part) {
    const missed = [...part.querySelectorAll("select, input")].find(chosenSince);
    if (missed) missed.dispatchEvent(new Event("change", { bubbles: true }));
  }

  document.addEventListener("htmx:load", (event) => event.target.querySelectorAll('[hx-trigger="change"]').forEach(follow));
  document.addEventListener("htmx:beforeRequest", (event) => held(event, true));
  document.addEventListener("htmx:afterRequest", (event) => held(event, false));
})();
