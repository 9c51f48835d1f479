// Copying an invitation's link, resting while hidden. Without the first one selects the link by hand.
(function () {
  "use strict";

  function offer(root) {
    for (const button of root.querySelectorAll("[data-copy]")) {
      if (!navigator.clipboard && !document.execCommand) continue;
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
    button.dataset.word ??= button.textContent; // a second click finds what the first wrote
    button.textContent = button.dataset.copied;
    button.setAttribute("aria-live", "polite");
    setTimeout(function () { button.textContent = button.dataset.word; }, 2000);
  }

  document.addEventListener("click", function (event) {
    const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
    if (button) copy(button);
  });
  // The progress is not asked for while nobody looks.
  document.addEventListener("htmx:beforeRequest", function (event) {
    if (document.hidden && event.target.id === "progress") event.preventDefault();
  });
  document.addEventListener("htmx:afterSwap", function () { offer(document); });
  offer(document);
})();
