// What is folded out over the page (details with data-menu, the choice of columns) folds in again by Escape, by a click
// beside it, and when the focus leaves it. Without this script a click on its summary does.
(function () {
  "use strict";
  const open = "details[data-menu][open], details.column-choice[open]";

  function foldIn(menu, focusBack) {
    menu.open = false;
    if (focusBack) menu.querySelector("summary").focus();
  }

  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll(open)) foldIn(menu, menu.contains(document.activeElement));
  });
  document.addEventListener("pointerdown", function (event) {
    for (const menu of document.querySelectorAll(open)) if (!menu.contains(event.target)) foldIn(menu, false);
  });
  // A tick that has the table written anew takes no focus away: what is removed has none to give.
  document.addEventListener("focusout", function (event) {
    const menu = event.target.closest(open);
    if (menu && event.relatedTarget && !menu.contains(event.relatedTarget)) foldIn(menu, false);
  });
})();
