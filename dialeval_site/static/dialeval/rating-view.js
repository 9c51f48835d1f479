// Which part of an item stands in the window. At the end of the page, so that the first paint is where a rater reads.
(function () {
  "use strict";
  const NARROW = 700;

  // Questions at the side are no part of the bar.
  function barHeight(bar) {
    const inner = bar.querySelector("[data-bar]");
    return bar.offsetHeight || (inner ? inner.offsetHeight : 0);
  }

  // One response: it stands just above the bar, with what led to it above. A whole dialogue is read from its top.
  function bringIntoView(article, bar) {
    const room = document.documentElement;
    const personas = article.querySelector(".item-personas");
    const header = document.querySelector(".rating-header").offsetHeight;
    const above = innerWidth < NARROW ? personas.offsetHeight : 0; // they stay in sight there
    if (above) personas.style.top = `${header}px`;
    room.style.scrollPaddingTop = `${header + above + 8}px`;
    room.style.scrollPaddingBottom = `${barHeight(bar) + 16}px`;
    scrollTo({ top: 0, behavior: "instant" });
    const judged = article.querySelectorAll(".judged, .pair");
    if (judged.length === 1) judged[0].scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  const article = document.querySelector("#item-place > article");
  if (article) bringIntoView(article, document.getElementById("rating-form"));
  window.dialevalView = { bringIntoView };
})();
