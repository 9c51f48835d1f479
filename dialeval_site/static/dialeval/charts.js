// Charts: plotly is fetched when the first chart comes into view, and drawn in the page's own type and colours.
(function () {
  "use strict";
  let library = null;

  function plotly(address) {
    library ||= new Promise(function (resolve, reject) {
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

  function token(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function coloured(trace) {
    const copy = structuredClone(trace);
    const meta = copy.meta || {};
    if (Number.isInteger(meta.series)) {
      const colour = token(`--series-${meta.series}`);
      copy.marker = { ...copy.marker, color: colour, line: { color: token("--marker-edge"), width: 0.5 } };
      for (const axis of ["error_x", "error_y"]) if (copy[axis]) copy[axis].color = colour;
    }
    if (meta.role && copy.line) copy.line.color = token("--muted");
    if (copy.mode && copy.mode.includes("text")) {
      copy.textfont = { color: token(meta.role ? "--muted" : "--text"), size: 12 };
    }
    return copy;
  }

  function styledLayout(layout, width) {
    const copy = structuredClone(layout);
    const grid = { gridcolor: token("--line"), linecolor: token("--line-strong"), zerolinecolor: token("--line-strong") };
    copy.font = { family: token("--sans"), size: 12, color: token("--text") };
    copy.paper_bgcolor = copy.plot_bgcolor = "rgba(0,0,0,0)";
    copy.hoverlabel = {
      align: "left",
      bgcolor: token("--floating"),
      bordercolor: token("--line-strong"),
      font: { family: token("--sans"), size: 12, color: token("--text") },
    };
    for (const name of Object.keys(copy)) {
      if (/^[xy]axis\d*$/.test(name)) copy[name] = { ...grid, ...copy[name], fixedrange: width < 600 };
    }
    for (const shape of copy.shapes || []) shape.line = { ...shape.line, color: token("--muted") };
    for (const label of copy.annotations || []) label.font = { size: 12, color: token("--muted") };
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

  function watch(root) {
    for (const figure of root.querySelectorAll("[data-chart]:not([data-watched])")) {
      figure.dataset.watched = "yes";
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
