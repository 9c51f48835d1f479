// A part of a page that comes anew keeps unfolded what somebody unfolded in it, and folded what somebody folded. An answer
// to what was sent is as it came: it may unfold where something is wrong. What the address points to (#…) is unfolded, which
// not every browser does by itself.
(function () {
  "use strict";
  const folds = new Map(); // the part's id → each of its details, open or not

  function named(part) {
    const seen = {};
    return Array.from(part.querySelectorAll("details"), function (fold) {
      seen[fold.className] = (seen[fold.className] ?? 0) + 1;
      return [`${fold.className} ${seen[fold.className]}`, fold];
    });
  }

  function unfoldTarget() {
    const target = document.querySelector(":target");
    let fold = target?.closest("details:not([open])");
    if (!fold) return;
    for (; fold; fold = fold.closest("details:not([open])")) fold.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfoldTarget);
  addEventListener("load", unfoldTarget);

  document.addEventListener("htmx:beforeSwap", function (event) {
    const { target: part, requestConfig } = event.detail;
    if (requestConfig.verb !== "get") folds.delete(part.id);
    else if (part.id) folds.set(part.id, new Map(named(part).map(([name, fold]) => [name, fold.open])));
  });
  document.addEventListener("htmx:afterSwap", function (event) {
    const id = event.detail.target?.id; // a script's own swap names no target
    const part = id && document.getElementById(id); // the one that took its place
    if (!part || !folds.has(id)) return;
    for (const [name, fold] of named(part)) if (folds.get(id).has(name)) fold.open = folds.get(id).get(name);
    folds.delete(id);
  });
})();
