// Copying an invitation's link, ticking all systems of a kind, resting while hidden. The first two are conveniences: without them one selects the
// link by hand and ticks one by one.
(function () {
  "use strict";

  function offer(root) {
    for (const button of root.querySelectorAll("[data-copy], [data-tick]")) {
      if (button.dataset.copy && !navigator.clipboard && !document.execCommand) continue;
      button.hidden = false;
    }
  }

  async function copy(button) {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    try {
      if (navigator.clipboard) await navigator.clipboard.writeText(field.value);
      else document.execCommand("copy"); // a site without https
    } catch {
      return; // the link stays selected: Ctrl+C copies it
    }
    const word = button.textContent;
    button.textContent = button.dataset.copied;
    button.setAttribute("aria-live", "polite");
    setTimeout(function () { button.textContent = word; }, 2000);
  }

  function tick(button) {
    const boxes = button.closest("fieldset").querySelectorAll("input[type=checkbox]");
    for (const box of boxes) box.checked = button.dataset.tick === "all";
    boxes[0].dispatchEvent(new Event("change", { bubbles: true }));
  }

  document.addEventListener("click", function (event) {
    const button = event.target instanceof Element ? event.target.closest("[data-copy], [data-tick]") : null;
    if (!button) return;
    if (button.dataset.copy) copy(button);
    else tick(button);
  });
  // The progress is not asked for while nobody looks.
  document.addEventListener("htmx:beforeRequest", function (event) {
    if (document.hidden && event.target.id === "progress") event.preventDefault();
  });
  document.addEventListener("htmx:afterSwap", function () { offer(document); });
  offer(document);
})();
