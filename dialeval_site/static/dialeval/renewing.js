// A page that renews itself must not take the place of the one that somebody has just asked for: a reload ends a
// navigation that is under way. Its next question is answered the same way, should the navigation have led nowhere (a
// file that was downloaded).
(() => {
  "use strict";
  const UNDER_WAY = 10_000;
  let left = -Infinity;

  addEventListener("beforeunload", () => {
    left = performance.now();
  });

  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const renews = event.detail.xhr.getResponseHeader("HX-Refresh") === "true";
    if (renews && performance.now() - left < UNDER_WAY) event.preventDefault();
  });
})();
