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

  // Colours are light-dark() pairs; only the computed colour of an element says which of the two holds now.
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);

  function colour(name) {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  }

  function typeface() {
    return getComputedStyle(document.body).fontFamily;
  }

  function coloured(trace) {
    const copy = structuredClone(trace);
    const meta = copy.meta || {};
    if (Number.isInteger(meta.series)) {
      const series = colour(`--series-${meta.series}`);
      copy.marker = { ...copy.marker, color: series, line: { color: colour("--marker-edge"), width: 0.5 } };
      if (copy.line) copy.line.color = series;
      for (const axis of ["error_x", "error_y"]) if (copy[axis]) copy[axis].color = series;
    }
    if (meta.role && copy.line) copy.line.color = colour("--muted");
    if (copy.mode && copy.mode.includes("text")) {
      copy.textfont = { color: colour(meta.role ? "--muted" : "--text"), size: 12 };
    }
    return copy;
  }

  function styledLayout(layout, width) {
    const copy = structuredClone(layout);
    const grid = { gridcolor: colour("--line"), linecolor: colour("--line-strong"), zerolinecolor: colour("--line-strong") };
    copy.font = { family: typeface(), size: 12, color: colour("--text") };
    copy.paper_bgcolor = copy.plot_bgcolor = "rgba(0,0,0,0)";
    copy.hoverlabel = {
      align: "left",
      bgcolor: colour("--floating"),
      bordercolor: colour("--line-strong"),
      font: { family: typeface(), size: 12, color: colour("--text") },
    };
    for (const name of Object.keys(copy)) {
      if (/^[xy]axis\d*$/.test(name)) copy[name] = { ...grid, ...copy[name], fixedrange: width < 600 };
    }
    for (const shape of copy.shapes || []) shape.line = { ...shape.line, color: colour("--muted") };
    for (const label of copy.annotations || []) label.font = { size: 12, color: colour("--muted") };
    copy.autosize = true;
    copy.dragmode = false;
    return copy;
  }

  function say(figure, words) {
    const state = figure.querySelector("[data-chart-state]");
    if (!state) return;
    state.textContent = words;
    state.hidden = words === "";
  }

  async function draw(figure) {
    const canvas = figure.querySelector("[data-chart-canvas]");
    const source = document.getElementById(figure.dataset.source);
    if (!canvas || !source) return;
    if (!figure.dataset.drawn) say(figure, "Drawing the chart.");
    try {
      const spec = JSON.parse(source.textContent);
      const Plotly = await plotly(figure.dataset.plotly);
      await Plotly.react(canvas, spec.data.map(coloured), styledLayout(spec.layout, canvas.clientWidth), {
        displaylogo: false,
        displayModeBar: false,
        responsive: true,
      });
      figure.dataset.drawn = "yes";
      say(figure, "");
    } catch (error) {
      say(figure, `The chart could not be drawn (${error.message}). The data beneath is complete. Reload to try again.`);
    }
  }

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
    if (canvas && figure.dataset.height) canvas.parentElement.style.minHeight = `${figure.dataset.height}px`;
  }

  function watch(root) {
    for (const figure of root.querySelectorAll("[data-chart]:not([data-watched])")) {
      figure.dataset.watched = "yes";
      reserve(figure);
      seen.observe(figure);
    }
  }

  watch(document);
  document.addEventListener("htmx:afterSettle", () => watch(document));
  document.addEventListener("dialeval:theme", function () {
    document.querySelectorAll("[data-chart][data-drawn]").forEach(draw);
  });
  addEventListener("beforeprint", () => document.querySelectorAll("[data-chart]:not([data-drawn])").forEach(draw));
})();
