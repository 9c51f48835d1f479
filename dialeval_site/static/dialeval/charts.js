// Charts: plotly is fetched when the first chart comes into view, and drawn in the page's own type and colours.
(function () {
  "use strict";
  // Plotly carries a map library that writes its style sheet into the page as it loads, unless an element with this
  // id is there. The content security policy would refuse it, and there are no maps. The id belongs to the pinned
  // version of plotly; tests/leaderboard/test_look.py notices when it changes.
  const MAP_STYLE_ID = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";
  let library = null;

  function withoutMapStyle() {
    if (document.getElementById(MAP_STYLE_ID)) return;
    const placeholder = document.createElement("span");
    placeholder.id = MAP_STYLE_ID;
    placeholder.hidden = true;
    document.body.append(placeholder);
  }

  function plotly(address) {
    if (window.Plotly) return Promise.resolve(window.Plotly);
    library ||= new Promise(function (resolve, reject) {
      withoutMapStyle();
      const script = document.createElement("script");
      script.src = address;
      script.onload = () => resolve(window.Plotly);
      script.onerror = function () {
        library = null;
        reject(new Error("the chart library could not be loaded"));
      };
      document.head.append(script);
    });
    return library;
  }

  // Colours are light-dark() pairs; only the computed colour of an element says which of the two holds now. What goes on
  // paper or into a file takes the light ones, whatever the page shows.
  function probe(scheme) {
    const element = document.createElement("span");
    element.hidden = true;
    element.className = scheme;
    document.body.append(element);
    return function (name) {
      element.style.color = `var(${name})`;
      return getComputedStyle(element).color;
    };
  }

  const onScreen = probe("");
  const onPaper = probe("on-paper");

  function faded(colour, share) {
    return colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${share})`);
  }

  function typeface() {
    return getComputedStyle(document.body).fontFamily;
  }

  function coloured(trace, colour) {
    const copy = structuredClone(trace);
    const meta = copy.meta || {};
    if (Number.isInteger(meta.series)) {
      const series = colour(`--s${meta.series}`);
      copy.marker = { ...copy.marker, color: series, line: { color: colour("--marker-edge"), width: 0.5 } };
      if (copy.line) copy.line.color = series;
      if (copy.fill) copy.fillcolor = faded(series, 0.25);
      for (const axis of ["error_x", "error_y"]) if (copy[axis]) copy[axis].color = series;
    }
    if (meta.role && copy.line) copy.line.color = colour("--ink-2");
    if (meta.role && copy.fill) copy.fillcolor = faded(colour("--ink-2"), 0.18);
    if (meta.role && copy.marker) {
      copy.marker = { ...copy.marker, color: colour(meta.role === "behind" ? "--ink-2" : "--ink"), line: { width: 1.5 } };
    }
    if (copy.mode && copy.mode.includes("text")) {
      copy.textfont = { color: colour(meta.role ? "--ink-2" : "--ink"), size: 12 };
    }
    return copy;
  }

  // In a narrow window the names of rows stand above their rows instead of beside them.
  const NARROW = 560;
  const HIGH_ROW = 34;

  function heightOf(rows, height, width) {
    return rows && width < NARROW ? 96 + HIGH_ROW * rows : height;
  }

  function namesAbove(layout) {
    const axis = layout.yaxis;
    const rows = axis.tickvals || axis.categoryarray;
    const names = axis.ticktext || axis.categoryarray;
    const labels = rows.map((row, place) => ({
      name: "row", text: names[place], x: 0, xref: "paper", xanchor: "left", y: row, yref: "y", yanchor: "bottom", yshift: 4,
      showarrow: false,
    }));
    layout.annotations = [...(layout.annotations || []), ...labels];
    Object.assign(axis, { showticklabels: false, automargin: false });
    if (axis.range) axis.range = [axis.range[0], axis.range[1] + 0.2];
    layout.margin = { ...layout.margin, l: 8 };
  }

  // Plotly cuts off a title that is longer than its chart.
  const LETTER = 7;

  function wrapTitle(layout, width) {
    const title = layout.xaxis && layout.xaxis.title;
    if (!title || !title.text) return;
    const { l = 0, r = 0 } = layout.margin || {};
    const middle = l + (width - l - r) / 2;
    const letters = Math.floor((2 * Math.min(middle, width - middle)) / LETTER);
    const lines = [""];
    for (const word of title.text.split(" ")) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (longer.length <= letters || !lines.at(-1)) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    title.text = lines.join("<br>");
  }

  function styledLayout(layout, width, colour) {
    const copy = structuredClone(layout);
    const rows = copy.meta && copy.meta.rows;
    copy.height = heightOf(rows, copy.height, width);
    if (rows && width < NARROW) namesAbove(copy);
    wrapTitle(copy, width);
    const grid = { gridcolor: colour("--rule"), linecolor: colour("--rule-2"), zerolinecolor: colour("--rule-2") };
    copy.font = { family: typeface(), size: 12, color: colour("--ink") };
    copy.paper_bgcolor = copy.plot_bgcolor = colour === onPaper ? "#fff" : "rgba(0,0,0,0)";
    copy.hoverlabel = {
      align: "left",
      bgcolor: colour("--floating"),
      bordercolor: colour("--rule-2"),
      font: { family: typeface(), size: 12, color: colour("--ink") },
    };
    for (const name of Object.keys(copy)) {
      if (/^[xy]axis\d*$/.test(name)) copy[name] = { ...grid, ...copy[name], fixedrange: width < 600 };
    }
    for (const shape of copy.shapes || []) {
      shape.line = { ...shape.line, color: colour("--ink-2") };
    }
    for (const label of copy.annotations || []) {
      label.font = { size: 12, color: colour(label.name === "row" ? "--ink" : "--ink-2") };
    }
    copy.autosize = true;
    copy.dragmode = width < NARROW ? false : "zoom";
    return copy;
  }

  function say(figure, words) {
    const state = figure.querySelector("[data-chart-state]");
    if (!state) return;
    state.textContent = words;
    state.hidden = words === "";
  }

  function specOf(figure) {
    return JSON.parse(document.getElementById(figure.dataset.source).textContent);
  }

  // A dot leads to its metric, system or dialogue: customdata holds the address below that of the corpus, or the values
  // that the layout's link takes.
  const CORPUS = /^.*\/corpora\/[^/]+\//;

  function addressOf(point, layout) {
    const root = CORPUS.exec(location.pathname);
    const value = point.customdata;
    if (!root || value === undefined || value === null) return "";
    const link = layout.meta && layout.meta.link;
    const path = Array.isArray(value) && link
      ? link.replace(/\{(\d+)\}/g, (_, place) => encodeURIComponent(value[place]))
      : value;
    return typeof path === "string" ? root[0] + path : "";
  }

  function follow(figure, canvas) {
    canvas.on("plotly_click", function (event) {
      const address = addressOf(event.points[0], canvas.layout);
      if (address) location.assign(address);
    });
    canvas.on("plotly_hover", (event) => canvas.classList.toggle("leads", Boolean(addressOf(event.points[0], canvas.layout))));
    canvas.on("plotly_unhover", () => canvas.classList.remove("leads"));
  }

  // A4 less the margins of print.css, in pixels of 1/96 inch.
  const SHEET = 680;

  async function draw(figure, colour = onScreen) {
    const canvas = figure.querySelector("[data-chart-canvas]");
    const source = document.getElementById(figure.dataset.source);
    if (!canvas || !source) return;
    if (!figure.dataset.drawn) say(figure, "Drawing the chart.");
    try {
      const spec = specOf(figure);
      const Plotly = window.Plotly || (await plotly(figure.dataset.plotly));
      const traces = spec.data.map((trace) => coloured(trace, colour));
      const width = colour === onPaper ? Math.min(canvas.clientWidth, SHEET) : canvas.clientWidth;
      const layout = styledLayout(spec.layout, width, colour);
      if (colour === onPaper) layout.width = width;
      await Plotly.react(canvas, traces, layout, {
        displaylogo: false,
        displayModeBar: false,
        responsive: true,
      });
      if (!figure.dataset.drawn) follow(figure, canvas);
      figure.dataset.drawn = "yes";
      say(figure, "");
    } catch (error) {
      say(figure, `The chart could not be drawn (${error.message}). The data beneath is complete. Reload to try again.`);
    }
  }

  // --- files: the drawing in the light theme's colours on white, at a size that a column of a paper takes ---

  const FILE_WIDTHS = [640, 960];

  function escaped(text) {
    return text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
  }

  function described(svg, figure) {
    const said = figure.querySelectorAll(":scope > figcaption p, .chart-about p, .chart-folds > .signature code");
    const caption = [...said].map((part) => part.textContent.trim()).join(" ");
    const title = `<title>${escaped(figure.dataset.title || "")}</title>`;
    return svg.replace(/^<svg[^>]*>/, (start) => `${start}${title}<desc>${escaped(caption)}</desc>`);
  }

  // On the page the legend stands beneath the drawing; in a file it has to be in it.
  const LEGEND_ENTRY = 160;
  const LEGEND_LINE = 22;

  function withLegend(data, layout, width, figure) {
    const names = [...figure.querySelectorAll(".chart-legend li")].map((entry) => entry.textContent.trim());
    if (!names.length) return;
    const open = new Set(names.flatMap((name) => [name, escaped(name)]));
    for (const trace of data) trace.showlegend = open.delete(trace.name);
    const room = LEGEND_LINE * Math.ceil(names.length / Math.floor(width / LEGEND_ENTRY)) + 8;
    layout.showlegend = true;
    layout.legend = { orientation: "h", x: 0, xanchor: "left", xref: "container", y: 0, yanchor: "bottom", yref: "container" };
    layout.height += room;
    layout.margin = { ...layout.margin, b: ((layout.margin || {}).b || 48) + room };
  }

  async function fileOf(figure, format) {
    const Plotly = await plotly(figure.dataset.plotly);
    const spec = specOf(figure);
    const shown = figure.querySelector("[data-chart-canvas]").clientWidth;
    const width = Math.min(Math.max(shown, FILE_WIDTHS[0]), FILE_WIDTHS[1]);
    const layout = styledLayout(spec.layout, width, onPaper);
    const data = spec.data.map((trace) => coloured(trace, onPaper));
    withLegend(data, layout, width, figure);
    const drawing = { data, layout, config: { staticPlot: true } };
    const address = await Plotly.toImage(drawing, { format, width, height: layout.height, scale: format === "png" ? 2 : 1 });
    const body = address.slice(address.indexOf(",") + 1);
    if (format === "svg") return new Blob([described(decodeURIComponent(body), figure)], { type: "image/svg+xml" });
    const bytes = Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0));
    return new Blob([bytes], { type: "image/png" });
  }

  async function download(figure, format) {
    try {
      const address = URL.createObjectURL(await fileOf(figure, format));
      const link = document.createElement("a");
      link.href = address;
      link.download = `${figure.dataset.file}.${format}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch (error) {
      say(figure, `The file could not be made (${error.message}). Download the data instead, or reload and try again.`);
    }
  }

  document.addEventListener("click", function (event) {
    const button = event.target.closest("[data-chart-file]");
    if (button) download(button.closest("[data-chart]"), button.dataset.chartFile);
  });

  const seen = new IntersectionObserver(function (entries) {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "200px" });

  // The page must not jump when a chart appears above what is being read.
  function reserve(figure) {
    const canvas = figure.querySelector("[data-chart-canvas]");
    if (!canvas || !figure.dataset.height) return;
    const height = heightOf(Number(figure.dataset.rows), Number(figure.dataset.height), canvas.clientWidth);
    canvas.parentElement.style.minHeight = `${height}px`;
  }

  function watch(root) {
    for (const figure of root.querySelectorAll("[data-chart]:not([data-watched])")) {
      figure.dataset.watched = "yes";
      reserve(figure);
      for (const tool of figure.querySelectorAll("[data-chart-file], [data-chart-zoom]")) tool.hidden = false;
      seen.observe(figure);
    }
  }

  watch(document);
  document.addEventListener("htmx:afterSettle", () => watch(document));
  document.addEventListener("dialeval:theme", function () {
    document.querySelectorAll("[data-chart][data-drawn]").forEach((figure) => draw(figure));
  });
  // A sheet shows what is folded on the screen, too.
  const unfolded = [];
  addEventListener("beforeprint", function () {
    for (const fold of document.querySelectorAll("details:has([data-chart]):not([open])")) {
      fold.open = true;
      unfolded.push(fold);
    }
    document.querySelectorAll("[data-chart]").forEach((figure) => draw(figure, onPaper));
  });
  addEventListener("afterprint", function () {
    for (const fold of unfolded.splice(0)) fold.open = false;
    document.querySelectorAll("[data-chart]").forEach((figure) => draw(figure));
  });
})();
