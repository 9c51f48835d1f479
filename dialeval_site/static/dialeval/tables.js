// Sorting and column choice without leaving the page. Without this script the links and forms ask the server instead.
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
    if (figure.querySelector('[data-rows="all"]')) return sortAll(figure, cell, key, descending);
    const index = cell.cellIndex;
    const rows = Array.from(body.rows);
    const defined = rows.filter((row) => value(row, index) !== "");
    const undefinedRows = rows.filter((row) => value(row, index) === "");
    defined.sort((a, b) => (descending ? -1 : 1) * compare(value(a, index), value(b, index)));
    body.append(...defined, ...undefinedRows);
    for (const other of headers(figure)) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
    rememberOrder(figure, (descending ? "-" : "") + key);
    figure.querySelector("[data-table-status]").textContent = saidOfOrder(cell.querySelector("a").textContent, descending);
  }

  // Of a long table only the first rows are on the page: which these are, the server knows.
  function sortAll(figure, cell, key, descending) {
    const link = cell.querySelector("a");
    rememberOrder(figure, (descending ? "-" : "") + key);
    writeAnew(figure, saidOfOrder(link.textContent, descending), () => location.reload());
  }

  function rememberOrder(figure, wish) {
    const select = figure.querySelector("[data-sort-form] select");
    if (select) select.value = wish;
    rememberInAddress(figure.dataset.sortName, wish);
  }

  function saidOfOrder(label, descending) {
    return `Sorted by ${label}, ${descending ? "descending" : "ascending"}`;
  }

  function orderBy(figure, wish, form) {
    const key = wish.replace(/^-/, "");
    if (header(figure, key)) return sort(figure, key, wish.startsWith("-"));
    rememberInAddress(figure.dataset.sortName, wish);
    writeAnew(figure, "", () => form.submit());
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

  // Columns and rows that do not show are not on the page, and the server writes the table anew. Where it cannot be
  // asked, the form or link does what it does without this script.
  async function writeAnew(figure, said, otherwise) {
    const wanted = addressOf(figure);
    figure.dataset.asked = wanted;
    figure.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(wanted, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (figure.dataset.asked !== wanted) return; // another wish came after this one
      put(figure, page.getElementById(figure.id));
      figure.querySelector("[data-table-status]").textContent = said || `${headers(figure).length} columns shown`;
    } catch {
      if (figure.dataset.asked === wanted) otherwise();
    } finally {
      if (figure.dataset.asked === wanted) figure.removeAttribute("aria-busy");
    }
  }

  // The address that the table comes from (a part of a page has another one than the page), with what is asked of it now.
  function addressOf(figure) {
    const address = new URL(figure.dataset.source, location.href);
    const here = new URL(location.href);
    for (const name of [figure.dataset.sortName, figure.dataset.columnsName, figure.dataset.rowsName]) {
      address.searchParams.delete(name);
      if (here.searchParams.has(name)) address.searchParams.set(name, here.searchParams.get(name));
    }
    return address.href;
  }

  function put(figure, written) {
    const ticked = Array.from(figure.querySelectorAll("input.pick:checked"));
    for (const part of [".table-scroll", ".downloads", ".table-rows"]) {
      const [old, fresh] = [figure, written].map((one) => one.querySelector(part));
      if (old && fresh) old.replaceChildren(...fresh.childNodes);
    }
    const shown = Array.from(figure.querySelectorAll("tbody input.pick"));
    for (const box of shown) box.checked = ticked.some((one) => one.value === box.value);
    keepTicks(figure, ticked.filter((one) => !shown.some((box) => box.value === one.value)));
    watchTables(figure);
  }

  // What was ticked stays ticked, and can be unticked, while its row is not among those shown.
  function keepTicks(figure, ticked) {
    const line = figure.querySelector("[data-picked]");
    if (!line) return;
    for (const old of line.querySelectorAll("label")) old.remove();
    for (const box of ticked) {
      const label = document.createElement("label");
      label.className = "choice";
      box.removeAttribute("aria-label"); // its name stands beside it here
      label.append(box, ` ${box.value}`);
      line.append(label);
    }
    line.hidden = !ticked.length;
  }

  function columnsChanged(figure, form) {
    const boxes = Array.from(form.querySelectorAll('input[type="checkbox"]'));
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    rememberInAddress(figure.dataset.columnsName, (chosen.length ? chosen : boxes.map((box) => box.value)).join(","));
    writeAnew(figure, "", () => form.submit());
  }

  // All rows of a long table, or the first of them again. The link is another one then, and keeps the focus.
  async function rowsChanged(figure, link) {
    rememberInAddress(figure.dataset.rowsName, link.dataset.rows);
    await writeAnew(figure, "", () => location.assign(link.href));
    const said = figure.querySelector(".table-rows");
    figure.querySelector("[data-table-status]").textContent = said.querySelector("span").textContent;
    said.querySelector("a").focus();
  }

  // Which edges of a table have more beyond them; the style sheet shades those.
  function markEdges(scroll) {
    const left = Math.abs(scroll.scrollLeft) > 1;
    const right = scroll.scrollWidth - scroll.clientWidth - Math.abs(scroll.scrollLeft) > 1;
    scroll.dataset.more = [left && "left", right && "right"].filter(Boolean).join(" ");
  }

  const sizes = new ResizeObserver(function (changes) {
    for (const { target } of changes) {
      const scroll = target.closest(".table-scroll");
      if (scroll) markEdges(scroll);
      else sizes.unobserve(target); // a table whose place another took
    }
  });

  function watchTables(root) {
    for (const scroll of root.querySelectorAll(".table-scroll")) {
      sizes.observe(scroll);
      if (scroll.firstElementChild) sizes.observe(scroll.firstElementChild);
    }
  }

  // A part that renews itself brings its tables in the order, and with the columns, that were chosen since it came.
  document.addEventListener("htmx:configRequest", function (event) {
    const figures = event.target.querySelectorAll("[data-table]");
    if (event.detail.verb !== "get" || !figures.length) return;
    const address = new URL(event.detail.path, location.href);
    const here = new URL(location.href).searchParams;
    for (const figure of figures) {
      for (const name of [figure.dataset.sortName, figure.dataset.columnsName, figure.dataset.rowsName]) {
        address.searchParams.delete(name);
        if (here.has(name)) address.searchParams.set(name, here.get(name));
      }
    }
    event.detail.path = address.pathname + address.search;
  });

  // An update that did not come: the table still shows what was chosen before.
  function updateFailed(event) {
    const notice = document.getElementById("board-notice");
    if (!notice || !notice.dataset.failed || event.detail.target.id !== "board") return;
    if (event.detail.xhr.status === 401) return; // logged-out.js says it
    const words = document.createElement("p");
    words.textContent = notice.dataset.failed;
    notice.className = "notice error";
    notice.replaceChildren(words);
  }
  document.addEventListener("htmx:responseError", updateFailed);
  document.addEventListener("htmx:sendError", updateFailed);

  document.addEventListener("scroll", function (event) {
    if (event.target instanceof Element && event.target.matches(".table-scroll")) markEdges(event.target);
  }, { capture: true, passive: true });
  document.addEventListener("htmx:load", (event) => watchTables(event.target));
  watchTables(document);

  document.addEventListener("click", function (event) {
    const link = event.target.closest("[data-sort], [data-rows]");
    const figure = link && link.closest("[data-table]");
    if (!figure || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    if ("rows" in link.dataset) return rowsChanged(figure, link);
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
      if (wish) orderBy(figure, wish, event.target.form);
    }
  });
})();
