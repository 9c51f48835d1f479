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

  // How far a statistic may be, by what the last one took. It is not at its end before the page is there.
  const ALMOST = 0.95;

  function advance() {
    for (const bar of document.querySelectorAll("progress[data-expected]")) {
      const seconds = (Date.now() - Date.parse(bar.dataset.since)) / 1000;
      if (seconds >= 0) bar.value = Math.min(seconds / Number(bar.dataset.expected), ALMOST);
    }
  }

  setInterval(advance, 1000);
  advance();
})();
