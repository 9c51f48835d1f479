"""What plotly has drawn, read back from the SVG into the data's units."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator

READ = """figure => {
  const {xaxis, yaxis} = figure.querySelector('.js-plotly-plot')._fullLayout;
  const data = (axis, pixel, upside) => {
    const [from, to] = axis.range.map(Number);
    const share = pixel / axis._length;
    return from + (to - from) * (upside ? 1 - share : share);
  };
  const numbers = path => (path.getAttribute('d').match(/-?[\\d.]+(e-?\\d+)?/g) || []).map(Number);
  const across = pixel => data(xaxis, pixel, false);
  const up = pixel => data(yaxis, pixel, true);
  return [...figure.querySelectorAll('.scatterlayer .trace')].map(trace => {
    const whiskers = [...trace.querySelectorAll('path.xerror, path.yerror')].map(path => {
      const box = path.getBBox();
      return {axis: path.classList.contains('xerror') ? 'x' : 'y',
              x: [across(box.x), across(box.x + box.width)], y: [up(box.y + box.height), up(box.y)]};
    });
    const points = [...trace.querySelectorAll('path.point')].map(path => {
      const [, x, y] = path.getAttribute('transform').match(/translate\\(([-\\d.e]+),\\s*([-\\d.e]+)\\)/);
      return [across(Number(x)), up(Number(y))];
    });
    const corners = selector => [...trace.querySelectorAll(selector)].map(path => {
      const found = numbers(path);
      const pairs = [];
      for (let n = 0; n + 1 < found.length; n += 2) pairs.push([across(found[n]), up(found[n + 1])]);
      return pairs;
    });
    return {points, whiskers, lines: corners('.lines path.js-line'), areas: corners('.fills path.js-fill')};
  });
}"""
"""Only straight lines are read: commands M and L with two numbers each."""


def drawn(figure: Locator) -> list[dict[str, Any]]:
    """For each trace its ``points`` (across, up), ``whiskers``, ``lines`` and ``areas``
    (corners)."""
    figure.locator(".main-svg").first.wait_for(state="attached")
    return list(figure.evaluate(READ))


def upright_lines(figure: Locator) -> list[float]:
    """Where the labelled lines across the whole height stand."""
    return list(
        figure.evaluate(
            """figure => {
              const {xaxis} = figure.querySelector('.js-plotly-plot')._fullLayout;
              const [from, to] = xaxis.range.map(Number);
              return [...figure.querySelectorAll('.layer-above .shapelayer path')].map(path => {
                const pixel = Number(path.getAttribute('d').match(/M([-\\d.]+)/)[1]) - xaxis._offset;
                return from + (to - from) * pixel / xaxis._length;
              });
            }"""
        )
    )
