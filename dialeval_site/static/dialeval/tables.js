// Sorting and column choice without a new page. Without this script the links and forms ask the server instead.
(function () {
  "use strict";

  function value(row, index) {
    return row.cells[index].dataset.v || "";
  }

  function compare(left, right) {
    const leftNumber = Number(left);
    const rightNumber = Number(right);
    const leftIsNumber = !Number.isNaN(leftNumber);
    const rightIsNumber = !Number.isNaN(rightNumber);
    if (leftIsNumber && rightIsNumber) return leftNumber - rightNumber;
    if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1;
    return left.toLowerCase().localeCompare(right.toLowerCase());
  }

  function headers(figure) {
    return Array.from(figure.querySelectorAll("thead tr:last-child > th"));
  }

  function header(figure, key) {
    return headers(figure).find((cell) => cell.querySelector(`[data-sort="${CSS.escape(key)}"]`));
  }

  // Undefined (an empty value) stays last in both directions; equal rows keep their order.
  function sort(figure, key, descending) {
    const cell = header(figure, key);
    const body = figure.querySelector("tbody");
    if (!cell || !body) return;
    const index = cell.cellIndex;
    const rows = Array.from(body.rows);
    const defined = rows.filter((row) => value(row, index) !== "");
    const undefinedRows = rows.filter((row) => value(row, index) === "");
    defined.sort((a, b) => (descending ? -1 : 1) * compare(value(a, index), value(b, index)));
    body.append(...defined, ...undefinedRows);
    for (const other of headers(figure)) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const wish = (descending ? "-" : "") + key;
    const select = figure.querySelector("[data-sort-form] select");
    if (select) select.value = wish;
    rememberInAddress(figure.dataset.sortName, wish);
    const label = cell.querySelector("a").textContent;
    figure.querySelector("[data-table-status]").textContent =
      `Sorted by ${label}, ${descending ? "falling" : "rising"}`;
  }

  function rememberInAddress(name, wish) {
    const address = new URL(location.href);
    address.searchParams.delete(name);
    if (wish) address.searchParams.set(name, wish);
    history.replaceState(history.state, "", address);
    for (const input of document.querySelectorAll(`input[type="hidden"][name="${CSS.escape(name)}"]`)) {
      input.value = wish;
    }
  }

  function showColumns(figure, shown) {
    const cells = headers(figure);
    const visible = cells.map((cell, index) => index === 0 || shown.has(cell.querySelector("[data-sort]").dataset.sort));
    cells.forEach((cell, index) => { cell.hidden = !visible[index]; });
    for (const row of figure.querySelectorAll("tbody > tr")) {
      Array.from(row.cells).forEach((cell, index) => { cell.hidden = !visible[index]; });
    }
    for (const group of figure.querySelectorAll("thead .groups > *")) {
      const keys = group.dataset.keys.split(",");
      const count = keys.filter((key) => shown.has(key) || key === figure.dataset.nameColumn).length;
      group.hidden = count === 0;
      group.colSpan = Math.max(count, 1);
    }
  }

  function columnsChanged(figure, form) {
    const boxes = Array.from(form.querySelectorAll('input[type="checkbox"]'));
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    const all = chosen.length === boxes.length || chosen.length === 0;
    showColumns(figure, new Set(all ? boxes.map((box) => box.value) : chosen));
    rememberInAddress(figure.dataset.columnsName, all ? boxes.map((box) => box.value).join(",") : chosen.join(","));
  }

  document.addEventListener("click", function (event) {
    const link = event.target.closest("[data-sort]");
    const figure = link && link.closest("[data-table]");
    if (!figure || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const now = link.closest("th").getAttribute("aria-sort");
    const descending = now ? now === "ascending" : link.dataset.first === "descending";
    sort(figure, link.dataset.sort, descending);
  });

  document.addEventListener("change", function (event) {
    const figure = event.target.closest("[data-table]");
    if (!figure) return;
    const columns = event.target.closest("[data-columns-form]");
    if (columns) columnsChanged(figure, columns);
    if (event.target.closest("[data-sort-form]")) {
      const wish = event.target.value;
      if (wish) sort(figure, wish.replace(/^-/, ""), wish.startsWith("-"));
    }
  });
})();
