// What is folded out over the page (the choice of columns) folds in again by Escape, by a click
// beside it, and when the focus leaves it. Without this script a click on its summary does.
(function () {
  "use strict";
  const open = "details.column-choice[open]";

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
  // News may bring a table anew while its choice is folded out, or while somebody stands on its tools: both stay so.
  document.addEventListener("htmx:oobBeforeSwap", function (event) {
    const { target, fragment } = event.detail;
    for (const tools of target.querySelectorAll("[data-table] .table-tools")) {
      const fresh = fragment.querySelector(`#${CSS.escape(tools.parentElement.id)} .table-tools`);
      if (!fresh) continue;
      const choice = fresh.querySelector("details.column-choice"); // one column has none
      if (choice && tools.querySelector("details.column-choice[open]")) choice.open = true;
      const place = stops(tools).indexOf(document.activeElement);
      if (place >= 0) queueMicrotask(() => stops(fresh)[place]?.focus());
    }
  });

  function stops(tools) {
    return Array.from(tools.querySelectorAll("summary, input:not([type=hidden]), select, button, a[href]"));
  }

  // A tick that has the table written anew takes no focus away: what is removed has none to give.
  document.addEventListener("focusout", function (event) {
    const menu = event.target.closest(open);
    if (menu && event.relatedTarget && !menu.contains(event.relatedTarget)) foldIn(menu, false);
  });
})();
