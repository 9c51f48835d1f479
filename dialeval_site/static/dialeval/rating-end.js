// The page where nothing is left to rate now: what still waits is sent, and, while others hold the rest, it looks again.
(function () {
  "use strict";
  const LOOK_AGAIN_MS = 20_000;
  const page = document.querySelector(".end");
  const unsent = page.querySelector(".unsent");

  function show() {
    const text = outbox.size === 1 ? unsent.dataset.one : unsent.dataset.many.replace("{n}", outbox.size);
    unsent.textContent = outbox.size ? text : "";
  }

  function lookAgain() {
    if (!outbox.size && !document.hidden) location.reload();
    else setTimeout(lookAgain, LOOK_AGAIN_MS);
  }

  // A rating that was refused when the page of the work was left already.
  function sayNews() {
    try {
      const news = sessionStorage.getItem("dialeval-rating-news");
      sessionStorage.removeItem("dialeval-rating-news");
      if (!news) return;
      page.prepend(Object.assign(document.createElement("p"), { className: "notice warn", role: "alert", textContent: news }));
    } catch {
      // No storage, no news.
    }
  }

  const sent = () => outbox.size || location.assign(page.dataset.work);
  const outbox = new window.dialevalRating.Outbox(page.dataset.outbox, {
    changed: show, answered: sent, refused: sent, faulty: show, gone: show,
  });
  sayNews();
  outbox.pump();
  if (page.dataset.why === "wait") {
    page.querySelector(".has-wait").hidden = false;
    setTimeout(lookAgain, LOOK_AGAIN_MS);
  }
})();
