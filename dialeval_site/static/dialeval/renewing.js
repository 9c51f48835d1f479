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
    if (event.detail.xhr.getResponseHeader("HX-Refresh") !== "true") return;
    if (performance.now() - left < UNDER_WAY) return event.preventDefault();
    if (!event.target.closest(".analysis-state")) return;
    event.preventDefault();
    becomePage();
  });

  // A page that waited for its numbers becomes the page in place: nothing scrolls, and what has the focus keeps it.
  let becoming = false;

  async function becomePage() {
    if (becoming) return;
    becoming = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok || answer.redirected) return location.reload();
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      await bringFromHead(page.head);
      const focusWasInside = document.activeElement.closest("main") !== null;
      document.title = page.title;
      for (const part of ["#main", ".freshness"]) {
        htmx.swap(document.querySelector(part), page.querySelector(part).innerHTML, { swapStyle: "innerHTML" });
      }
      // htmx gives the focus back to what has the same id
      if (focusWasInside && document.activeElement === document.body) document.getElementById("main").focus({ preventScroll: true });
    } catch {
      // The site was not reached: the next question is answered the same way.
    } finally {
      becoming = false;
    }
  }

  // Style sheets and scripts that the page has and the waiting page had not, once they are there.
  function bringFromHead(head) {
    const loaded = Array.from(head.querySelectorAll("link[rel=stylesheet], script[src]"), (wanted) => {
      const name = wanted.localName === "link" ? "href" : "src";
      const address = wanted.getAttribute(name);
      if (document.head.querySelector(`[${name}="${CSS.escape(address)}"]`)) return null;
      const brought = document.createElement(wanted.localName);
      for (const { name, value } of wanted.attributes) brought.setAttribute(name, value);
      return new Promise((resolve) => {
        brought.onload = brought.onerror = resolve;
        document.head.append(brought);
      });
    });
    return Promise.all(loaded);
  }

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
