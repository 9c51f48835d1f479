// Ticking all boxes of a group, or none. A convenience: without it one ticks one by one.
(function () {
  "use strict";

  function offer() {
    for (const button of document.querySelectorAll("[data-tick]")) button.hidden = false;
  }

  document.addEventListener("click", function (event) {
    const button = event.target instanceof Element ? event.target.closest("[data-tick]") : null;
    if (!button) return;
    const boxes = button.closest("fieldset").querySelectorAll("input[type=checkbox]");
    for (const box of boxes) box.checked = button.dataset.tick === "all";
    boxes[0].dispatchEvent(new Event("change", { bubbles: true }));
  });
  document.addEventListener("htmx:afterSwap", offer);
  offer();
})();
