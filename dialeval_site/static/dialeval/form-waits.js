// A form that comes anew once something in it is chosen: until it is there nothing else in it can be filled in, for the
// answer, made of what stood in the form, would overwrite it. The choice itself may be changed; its newest answer counts.
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

  document.addEventListener("htmx:beforeRequest", (event) => held(event, true));
  document.addEventListener("htmx:afterRequest", (event) => held(event, false));
})();
