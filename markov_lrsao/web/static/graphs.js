// Graphs, as they were laid out: nodes as boxes, steps as arrows; up, down and staying differ in
// colour and in line. Lengths in the data are in units of the font size.
"use strict";

const Graphs = (() => {
  const { Field, html, known, newId, repainted, svg } = Base;
  const LOOKS = { 1: ["var(--c0)", "", "up"], "-1": ["var(--c1)", "7 4", "down"], 0: ["var(--c6)", "2 3", "the position stays"], none: ["var(--c6)", "", ""] };
  const EM = 12, MARGIN = 14;

  const lookOf = (edge) => LOOKS[known(edge.moved) ? edge.moved : "none"];

  /** Draw a graph; `options.now`: id of a node to point out, `options.choose(edge)`: arrows can be chosen. */
  function graph(host, data, options = {}) {
    repainted(host, () => {
      host.dataset.width = host.clientWidth;
      host.replaceChildren();
      const field = new Field(host, data.title);
      draw(field, data, options);
      host.append(keys(data, options));
    });
  }

  function bounds(data) {
    const xs = data.nodes.flatMap((n) => [n.x - n.width / 2, n.x + n.width / 2]);
    const ys = data.nodes.flatMap((n) => [n.y - n.height / 2, n.y + n.height / 2]);
    for (const e of data.edges) {
      const lines = String(e.label).split("\n"), [wide, high] = [3.5 * Math.max(...lines.map((t) => t.length)) / EM, 0.65 * lines.length];
      for (const [x, y] of [...e.path, [e.at[0] - wide, e.at[1] - high], [e.at[0] + wide, e.at[1] + high]]) { xs.push(x); ys.push(y); }
    }
    return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  }

  function draw(field, data, options) {
    const [left, right, low, high] = bounds(data);
    const [width, height] = [EM * (right - left) + 2 * MARGIN, EM * (high - low) + 2 * MARGIN];
    const at = ([x, y]) => [MARGIN + EM * (x - left), MARGIN + EM * (high - y)];
    const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const tips = arrowTips(drawing);
    const names = new Map(data.nodes.map((n) => [n.id, String(n.label).replaceAll("\n", " ")]));
    const [edges, nodes] = [svg("g"), svg("g")];
    for (const n of data.nodes) {
      const [x, y] = at([n.x, n.y]), [w, h] = [EM * n.width, EM * n.height], here = n.id === options.now;
      nodes.append(svg("g", { class: `node${n.end ? " end" : ""}${n.start ? " start" : ""}${here ? " now" : ""}`, "data-node": n.id },
        svg("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 6 }), text(n.label, x, y, "var(--ink)")));
      const out = data.edges.filter((e) => e.source === n.id).length;
      field.add({ x, y, group: 0, radius: Math.min(w, h) / 2 + 4, inside: (px, py) => Math.abs(px - x) < w / 2 && Math.abs(py - y) < h / 2,
        lines: [names.get(n.id), here ? "now" : n.end ? "an end" : `${out} ${out === 1 ? "way" : "ways"} on`] });
    }
    data.edges.forEach((e, k) => {
      const [tint, dash, word] = lookOf(e), points = e.path.map(at), [x, y] = at(e.at);
      const d = `M${points[0].join(" ")}` + points.slice(1).map((p, i) => `${i % 3 === 0 ? "C" : " "}${p.map((v) => v.toFixed(1)).join(" ")}`).join("");
      const lines = String(e.label).split("\n"), wide = 7 * Math.max(...lines.map((t) => t.length)) + 4, tall = 15 * lines.length;
      edges.append(svg("g", { class: "edge", "data-edge": k },
        svg("path", { d, fill: "none", stroke: tint, "stroke-width": 1.6, "stroke-dasharray": dash, "marker-end": `url(#${tips[known(e.moved) ? e.moved : "none"]})` }),
        svg("rect", { class: "behind", x: x - wide / 2, y: y - tall / 2, width: wide, height: tall }), text(e.label, x, y, tint)));
      const choose = options.choose && options.can(e) ? () => options.choose(e) : null;
      field.add({ x, y, group: 1, radius: 14, choose, inside: (px, py) => Math.abs(px - x) < wide / 2 + 4 && Math.abs(py - y) < tall / 2 + 3,
        lines: [`${names.get(e.source)} → ${names.get(e.target)}`, ...lines, `probability ${e.probability}`, word, choose ? "choose: Enter or click" : ""].filter((t, i, all) => t && all.indexOf(t) === i) });
    });
    drawing.append(edges, nodes);
    field.stage.append(drawing);
  }

  function text(label, x, y, tint) {
    const lines = String(label).split("\n");
    return svg("text", { x, y, "text-anchor": "middle", tint },
      ...lines.map((line, k) => { const t = svg("tspan", { x, y: y + 4 + 15 * (k - (lines.length - 1) / 2) }); t.textContent = line; return t; }));
  }

  function arrowTips(drawing) {
    const defs = svg("defs"), tips = {};
    for (const [moved, [tint]] of Object.entries(LOOKS)) {
      tips[moved] = newId("tip");
      defs.append(svg("marker", { id: tips[moved], viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto" },
        svg("path", { d: "M0 0L10 5L0 10z", fill: tint })));
    }
    drawing.append(defs);
    return tips;
  }

  function keys(data, options) {
    const list = html("ul", { class: "keys", "aria-label": "Kinds of steps" });
    for (const moved of [1, -1, 0].filter((m) => data.edges.some((e) => e.moved === m))) {
      list.append(html("li", {}, html("span", { class: "key" }, svg("svg", { width: 34, height: 12, "aria-hidden": "true" },
        svg("path", { d: "M0 6H34", stroke: LOOKS[moved][0], "stroke-width": 2.5, "stroke-dasharray": LOOKS[moved][1] })), LOOKS[moved][2])));
    }
    const box = (style, word) => list.append(html("li", {}, html("span", { class: "key" }, svg("svg", { width: 26, height: 14, "aria-hidden": "true", class: `node ${style}` }, svg("rect", { x: 2, y: 2, width: 22, height: 10, rx: 3 })), word)));
    if (data.nodes.some((n) => n.start)) box("start", "begins here");
    if (data.nodes.some((n) => n.end)) box("end", "ends here");
    if (options.now && data.nodes.some((n) => n.id === options.now)) box("now", "shown now");
    return list;
  }

  return { graph };
})();
