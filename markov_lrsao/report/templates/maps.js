// Maps: a grid of values in colour, what is not exact hatched, borders as lines.
"use strict";

const Maps = (() => {
  const { Field, axes, colour, dashes, html, known, leftMargin, newId, number, pretty, scale, svg } = Marks;
  const RAMP = [[10, 34, 82], [60, 84, 128], [122, 128, 136], [186, 178, 110], [253, 231, 76]];

  function ramp(share) {
    const at = Math.max(0, Math.min(1, share)) * (RAMP.length - 1);
    const k = Math.min(RAMP.length - 2, Math.floor(at));
    const mix = RAMP[k].map((v, i) => Math.round(v + (RAMP[k + 1][i] - v) * (at - k)));
    return `rgb(${mix.join(" ")})`;
  }

  function borders(values, log) {
    const f = log ? Math.log : (v) => v;
    const back = log ? Math.exp : (v) => v;
    const at = values.map(f);
    if (at.length === 1) return [back(at[0] - 0.5), back(at[0] + 0.5)];
    const middle = at.slice(1).map((v, i) => (v + at[i]) / 2);
    return [2 * at[0] - middle[0], ...middle, 2 * at[at.length - 1] - middle[middle.length - 1]].map(back);
  }

  function map(host, data, width) {
    const grid = data.grid;
    const height = Math.max(300, Math.min(560, width * 0.7));
    const margin = { right: 14, top: 12, bottom: 46 };
    const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    const field = new Field(host, drawing, data.title);
    host.append(drawing);
    const log = { x: data.x.scale === "log", y: data.y.scale === "log" };
    const [bx, by] = [borders(grid.x, log.x), borders(grid.y, log.y)];
    const ends = (b) => [Math.min(...b), Math.max(...b)];
    const y = scale(data.y.scale, ...ends(by), height - margin.bottom, margin.top, 46);
    margin.left = leftMargin([y]);
    const x = scale(data.x.scale, ...ends(bx), margin.left, width - margin.right, 80);
    const flat = grid.values.flat().filter(known);
    const words = flat.some((v) => typeof v === "string") ? [...new Set(flat)] : null;
    const logColours = !words && grid.scale === "log";
    const f = logColours ? Math.log : (v) => v;
    const [low, high] = words ? [0, 1] : [Math.min(...flat), Math.max(...flat)];
    const tint = (v) => (words ? colour(words.indexOf(v)) : ramp((f(v) - f(low)) / (f(high) - f(low) || 1)));
    const hatch = newId("hatch");
    const pattern = svg("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)" }, svg("defs", {}, drawing));
    svg("path", { d: "M0 0V6", stroke: "#fff", "stroke-width": 1.6, "stroke-opacity": 0.75 }, pattern);
    const cells = svg("g", { class: "cells" }, drawing);
    grid.values.forEach((row, j) => row.forEach((value, i) => {
      if (!known(value)) return;
      const [x0, x1] = [x.at(bx[i]), x.at(bx[i + 1])].sort((a, b) => a - b);
      const [y0, y1] = [y.at(by[j]), y.at(by[j + 1])].sort((a, b) => a - b);
      const box = { x: x0, y: y0, width: Math.max(0.5, x1 - x0 + 0.3), height: Math.max(0.5, y1 - y0 + 0.3) };
      const mark = svg("g", { "data-index": `${i},${j}` }, cells);
      svg("rect", { ...box, fill: tint(value) }, mark);
      const exact = !grid.exact || grid.exact[j][i];
      if (!exact) svg("rect", { ...box, fill: `url(#${hatch})` }, mark);
      field.add({ element: mark, x: (x0 + x1) / 2, y: (y0 + y1) / 2, group: grid.y.length - j,
        inside: (px, py) => px >= x0 && px < x1 && py >= y0 && py < y1,
        lines: [`${grid.label || "value"}: ${number(value)}`, `${data.x.label}: ${number(grid.x[i])}`,
          `${data.y.label}: ${number(grid.y[j])}`, exact ? "exact" : "not exact"] });
    }));
    axes(drawing, data, x, y, { top: margin.top, each: height - margin.top - margin.bottom, width, margin,
      last: true });
    const clip = newId("clip");
    svg("rect", { x: margin.left, y: margin.top, width: width - margin.left - margin.right,
      height: height - margin.top - margin.bottom }, svg("clipPath", { id: clip }, drawing.querySelector("defs")));
    const lines = svg("g", { "clip-path": `url(#${clip})` }, drawing);
    const styles = Object.values(dashes);
    const keys = html("ul", { class: "keys", "aria-label": "Borders" });
    (grid.borders || []).forEach((border, k) => {
      let pen = "M";  // a missing point interrupts the line
      const d = border.x.map((a, i) => {
        const b = border.y[i];
        const drawn = known(a) && known(b) && (!log.x || a > 0) && (!log.y || b > 0);
        const part = drawn ? `${pen}${x.at(a).toFixed(2)} ${y.at(b).toFixed(2)}` : "";
        pen = drawn ? "L" : "M";
        return part;
      }).join("");
      svg("path", { class: "border", d, fill: "none", stroke: "#fff", "stroke-width": 4.5 }, lines);
      svg("path", { d, fill: "none", stroke: "#b3120a", "stroke-width": 2.4,
        "stroke-dasharray": styles[k % styles.length] }, lines);
      const icon = svg("svg", { width: 26, height: 12, "aria-hidden": "true" });
      svg("path", { d: "M0 6H26", stroke: "#d6301f", "stroke-width": 2.5,
        "stroke-dasharray": styles[k % styles.length] }, icon);
      keys.append(html("li", {}, html("span", { class: "key" }, icon, pretty(`${border.name}: ${border.condition}`))));
    });
    if (words) {
      for (const word of words) {
        const icon = svg("svg", { width: 14, height: 14, "aria-hidden": "true" });
        svg("rect", { width: 14, height: 14, fill: tint(word) }, icon);
        keys.append(html("li", {}, html("span", { class: "key" }, icon, word)));
      }
    } else if (flat.length) {
      const icon = svg("svg", { width: 120, height: 12, "aria-hidden": "true" });
      for (let k = 0; k < 40; k += 1) svg("rect", { x: 3 * k, y: 0, width: 3.2, height: 12, fill: ramp(k / 39) }, icon);
      keys.append(html("li", {}, html("span", { class: "key" }, number(low, 4), icon, number(high, 4),
        ` ${grid.label || ""}`)));
    }
    host.append(keys);
    field.marks.sort((a, b) => a.group - b.group || a.place - b.place);
    field.ready();
  }

  return { map };
})();
