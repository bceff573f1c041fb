// Maps: areas between borders, filled and with their values in them; points that lie in no area as
// rectangles. What is not exact is hatched. Colours follow the order of the values.
"use strict";

const Maps = (() => {
  const { Field, colour, dashes, html, known, newId, number, pretty, repainted, scale, svg, tickTexts } = Base;
  const RAMP = [[0, 34, 78], [53, 69, 107], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]]; // cividis

  function ramp(share) {
    const at = Math.max(0, Math.min(1, share)) * (RAMP.length - 1), k = Math.min(RAMP.length - 2, Math.floor(at));
    const mix = RAMP[k].map((v, i) => Math.round(v + (RAMP[k + 1][i] - v) * (at - k)));
    return { fill: `rgb(${mix.join(" ")})`, ink: 0.3 * mix[0] + 0.59 * mix[1] + 0.11 * mix[2] < 128 ? "#fff" : "#111" };
  }

  /** Draw a map; `options.here` [x, y] is marked, `options.choose(x, y)` is told where somebody pointed. */
  function map(host, data, options = {}) {
    repainted(host, () => {
      const width = Math.floor(host.clientWidth);
      if (width < 40) return;
      host.dataset.width = width;
      host.replaceChildren();
      const field = new Field(host, data.title);
      const hatches = draw(field, data, width, options);
      host.append(keys(data.grid, hatches));
    });
  }

  function edges(values, log) {
    const [f, back] = log ? [Math.log, Math.exp] : [(v) => v, (v) => v], at = values.map(f);
    if (at.length === 1) return [back(at[0] - 0.5), back(at[0] + 0.5)];
    const middle = at.slice(1).map((v, i) => (v + at[i]) / 2);
    return [2 * at[0] - middle[0], ...middle, 2 * at.at(-1) - middle.at(-1)].map(back);
  }

  function draw(field, data, width, options) {
    const { grid } = data, areas = grid.areas || [], tall = Math.max(300, Math.min(520, width * 0.62));
    const [bx, by] = [edges(grid.x, data.x.scale === "log"), edges(grid.y, data.y.scale === "log")];
    const far = grid.ends || { x: [Math.min(...bx), Math.max(...bx)], y: [Math.min(...by), Math.max(...by)] };
    const box = { left: 64, right: width - 14, top: 12, bottom: tall - 44 };
    const x = scale(data.x.scale, ...far.x, box.left, box.right, 60), y = scale(data.y.scale, ...far.y, box.bottom, box.top, 46);
    const values = [...new Set([...grid.values.flat(), ...areas.map((a) => a.value)].filter(known))].sort((a, b) => a - b);
    const paint = (v) => (known(v) ? ramp(values.length > 1 ? values.indexOf(v) / (values.length - 1) : 0.5) : { fill: "#e6e6e6", ink: "#111" });
    const drawing = svg("svg", { width, height: tall, viewBox: `0 0 ${width} ${tall}`, "aria-hidden": "true" });
    const [open, unsure, infinite, clip] = ["open", "unsure", "infinite", "clip"].map(newId);
    drawing.append(svg("defs", {}, hatch(open, "#555", 8), hatch(unsure, "#fff", 6), hatch(infinite, "#000", 5),
      svg("clipPath", { id: clip }, svg("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }))));
    const inner = svg("g", { "clip-path": `url(#${clip})` }), used = new Set();
    drawing.append(inner);
    areas.forEach((area, k) => {
      const d = outline(area, x, y), { fill, ink } = paint(area.value);
      inner.append(svg("path", { d, fill, "data-area": k }));
      if (!area.decided) { inner.append(svg("path", { d, fill: `url(#${open})` })); used.add("open"); }
      else if (!known(area.value)) used.add("unsolved");
      if (area.label && fits(area, x, y, box)) inner.append(label(area.label, x, y, ink));
    });
    cells(inner, field, data, { x, y, bx, by, box, paint, unsure, infinite, used, options });
    areas.forEach((area) => area.label && field.add(markOf(area, data, x, y, options)));
    (grid.borders || []).forEach((b) => inner.append(border(b, x, y)));
    if (options.here) inner.append(svg("circle", { class: "here", cx: x.at(options.here[0]), cy: y.at(options.here[1]), r: 7 }));
    drawing.append(axes(data, x, y, box, width, tall));
    field.sort();
    field.stage.append(drawing);
    if (options.choose) {
      field.stage.classList.add("choosable");
      drawing.addEventListener("click", (event) => {
        const at = drawing.getBoundingClientRect(), [px, py] = [event.clientX - at.left, event.clientY - at.top];
        if (px < box.left || px > box.right || py < box.top || py > box.bottom) return;
        event.stopPropagation();
        options.choose(x.value(px), y.value(py));
      });
    }
    return used;
  }

  function hatch(id, ink, step) {
    return svg("pattern", { id, width: step, height: step, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("path", { d: `M0 0V${step}`, stroke: ink, "stroke-width": 1.4, "stroke-opacity": 0.75 }));
  }

  function outline(area, x, y) {
    let d = "", from = -1;
    const piece = (to) => {
      const at = (i, v) => `${x.at(area.x[i]).toFixed(2)} ${y.at(v).toFixed(2)}`, up = [], down = [];
      for (let i = from; i < to; i += 1) { up.push(at(i, area.high[i])); down.unshift(at(i, area.low[i])); }
      d += `M${[...up, ...down].join("L")}Z`;
    };
    area.x.forEach((_, i) => {
      if (known(area.low[i]) && from < 0) from = i;
      if (!known(area.low[i]) && from >= 0) { piece(i); from = -1; }
    });
    if (from >= 0) piece(area.x.length);
    return d;
  }

  /** Whether a label has room on a screen of this width: the data place it for a wide picture. */
  function fits(area, x, y, box) {
    const { text, at, to, rotation } = area.label, wide = 6.4 * Math.max(...text.split("\n").map((t) => t.length)), px = x.at(at[0]);
    if (to) return px - wide / 2 > box.left && px + wide / 2 < box.right;
    const inside = area.x.filter((_, i) => known(area.low[i]) && area.low[i] <= at[1] && at[1] <= area.high[i]).map(x.at);
    return Math.max(...inside) - Math.min(...inside) >= (rotation ? 11 : wide);
  }

  function label(given, x, y, ink) {
    const [px, py] = [x.at(given.at[0]), y.at(given.at[1])], lines = given.text.split("\n"), group = svg("g", { "pointer-events": "none" });
    const words = svg("text", { x: px, y: py, "text-anchor": "middle", "font-size": 11, tint: given.to ? "#111" : ink, transform: given.rotation ? `rotate(${-given.rotation} ${px} ${py})` : null },
      ...lines.map((line, k) => { const t = svg("tspan", { x: px, y: py + 4 + 13 * (k - (lines.length - 1) / 2) }); t.textContent = pretty(line); return t; }));
    if (given.to) {
      const wide = 6.2 * given.text.length;
      group.append(svg("path", { d: `M${px} ${py}L${x.at(given.to[0])} ${y.at(given.to[1])}`, stroke: "#111", "stroke-width": 1.2 }),
        svg("circle", { cx: x.at(given.to[0]), cy: y.at(given.to[1]), r: 2.5, fill: "#111" }), svg("rect", { x: px - wide / 2, y: py - 9, width: wide, height: 18, rx: 4, fill: "#fff" }));
    }
    group.append(words);
    return group;
  }

  function markOf(area, data, x, y, options) {
    const [cx, cy] = area.label.to || area.label.at;
    return { x: x.at(cx), y: y.at(cy), group: 0, radius: 9, exact: area.exact, choose: options.choose && (() => options.choose(cx, cy)),
      lines: [area.name, `${data.grid.label || "value"}: ${number(area.value)}`, "exact, in the whole area", options.choose ? "choose: Enter" : ""].filter(Boolean) };
  }

  /** Points in areas are small dots, others are rectangles; all answer to pointer and keys. */
  function cells(inner, field, data, { x, y, bx, by, paint, unsure, infinite, used, options }) {
    const { grid } = data;
    grid.values.forEach((row, j) => row.forEach((value, i) => {
      const exact = !grid.exact || grid.exact[j][i], endless = grid.infinite && grid.infinite[j][i], covered = grid.inside && grid.inside[j][i];
      if (!known(value) && !endless) return;
      const [x0, x1] = [x.at(bx[i]), x.at(bx[i + 1])].sort((a, b) => a - b), [y0, y1] = [y.at(by[j]), y.at(by[j + 1])].sort((a, b) => a - b);
      if (covered) inner.append(svg("circle", { class: "dot", cx: x.at(grid.x[i]), cy: y.at(grid.y[j]), r: 1.6, fill: paint(value).ink, "fill-opacity": 0.6 }));
      else {
        const box = { x: x0, y: y0, width: Math.max(0.5, x1 - x0 + 0.3), height: Math.max(0.5, y1 - y0 + 0.3) };
        inner.append(svg("rect", { ...box, fill: paint(value).fill }));
        for (const [chosen, id, name] of [[endless, infinite, "infinite"], [!exact, unsure, "unsure"]]) if (chosen) { inner.append(svg("rect", { ...box, fill: `url(#${id})` })); used.add(name); }
      }
      const lines = [endless ? "infinite" : `${grid.label || "value"}: ${number(value)}`, `${data.x.label}: ${number(grid.x[i])}`, `${data.y.label}: ${number(grid.y[j])}`, exact ? "exact" : "not exact"];
      field.add({ x: x.at(grid.x[i]), y: y.at(grid.y[j]), group: grid.y.length - j, lines: options.choose ? [...lines, "choose: Enter or click"] : lines,
        choose: options.choose && (() => options.choose(grid.x[i], grid.y[j], i, j)), inside: covered ? null : (px, py) => px >= x0 && px < x1 && py >= y0 && py < y1 });
    }));
  }

  function border(given, x, y) {
    let pen = "M"; // a missing point interrupts the line
    const d = given.x.map((a, i) => {
      const drawn = known(a) && known(given.y[i]), part = drawn ? `${pen}${x.at(a).toFixed(2)} ${y.at(given.y[i]).toFixed(2)}` : "";
      pen = drawn ? "L" : "M";
      return part;
    }).join("");
    return svg("path", { class: "border", d, fill: "none", stroke: stroke(given), "stroke-width": given.width || 1.6, "stroke-dasharray": (dashes[given.style] || []).join(" "), "pointer-events": "none" });
  }

  // Borders lie on coloured areas: black stays black in dark colours, too.
  const stroke = (given) => ((given.colour ?? 1) === 6 ? "#111" : colour(given.colour ?? 1));

  function axes(data, x, y, box, width, tall) {
    const group = svg("g", { class: "axis" });
    const write = (attributes, words) => { const t = svg("text", attributes); t.textContent = words; group.append(t); };
    tickTexts(y.ticks, y.log).forEach((words, k) => {
      const py = y.at(y.ticks[k]);
      group.append(svg("line", { x1: box.left - 5, x2: box.left, y1: py, y2: py }));
      write({ x: box.left - 8, y: py + 4, "text-anchor": "end" }, words);
    });
    tickTexts(x.ticks, x.log).forEach((words, k) => {
      const px = x.at(x.ticks[k]);
      group.append(svg("line", { x1: px, x2: px, y1: box.bottom, y2: box.bottom + 5 }));
      write({ x: px, y: box.bottom + 18, "text-anchor": "middle" }, words);
    });
    group.append(svg("path", { d: `M${box.left} ${box.top}V${box.bottom}H${box.right}`, fill: "none" }));
    write({ x: (box.left + box.right) / 2, y: tall - 8, "text-anchor": "middle" }, pretty(data.x.label));
    write({ transform: `translate(14 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, pretty(data.y.label));
    return group;
  }

  function keys(grid, used) {
    const list = html("ul", { class: "keys", "aria-label": "Borders and hatches" });
    const add = (icon, words) => list.append(html("li", {}, html("span", { class: "key" }, icon, words)));
    for (const b of grid.borders || []) {
      add(svg("svg", { width: 34, height: 12, "aria-hidden": "true", class: "paper" }, svg("path", { d: "M0 6H34", stroke: stroke(b), "stroke-width": 2.5, "stroke-dasharray": (dashes[b.style] || []).join(" ") })), pretty(`${b.name}: ${b.condition}`));
    }
    for (const [name, ink, back, words] of [["open", "#555", "#e6e6e6", "the borders leave it open"], ["unsolved", "#e6e6e6", "#e6e6e6", "one value, but no point was solved here"], ["unsure", "#fff", "#777", "enclosed: the colour is that of the middle"], ["infinite", "#000", "#fff", "infinite"]]) {
      if (!used.has(name)) continue;
      const id = newId("key");
      add(svg("svg", { width: 26, height: 14, "aria-hidden": "true" }, svg("defs", {}, hatch(id, ink, 6)), svg("rect", { width: 26, height: 14, fill: back }), svg("rect", { width: 26, height: 14, fill: `url(#${id})` })), words);
    }
    return list;
  }

  return { map };
})();
