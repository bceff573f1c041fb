// Graphs: nodes as boxes, steps as arrows; up, down and staying differ in colour and in line.
"use strict";

const Graphs = (() => {
  const { Field, html, known, newId, svg } = Marks;
  const MOVES = { 1: ["var(--c0)", "", "up"], "-1": ["var(--c1)", "7 4", "down"], 0: ["var(--c6)", "2 3", "position stays"] };
  const MOST_LABELS = 45;

  function graph(host, data, width) {
    const xs = data.nodes.map((n) => n.x);
    const ys = data.nodes.map((n) => n.y);
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const margin = 0.75;
    const across = right - left + 2 * margin;
    const unit = Math.max(78, Math.min(150, width / across)); // narrower screens scroll inside
    const labelled = data.edges.length <= MOST_LABELS;
    const size = [Math.max(Math.min(width, 300), across * unit), (high - low + 2 * margin) * unit];
    const shift = Math.max(0, (width - size[0]) / 2);
    const wide = html("div", { class: "wide" });
    const drawing = svg("svg", { width: size[0] + shift, height: size[1], viewBox: `${-shift} 0 ${size[0] + shift} ${size[1]}` });
    const field = new Field(host, drawing, data.title);
    wide.append(drawing);
    host.append(wide);
    const offset = (size[0] - across * unit) / 2;
    const where = (n) => [offset + (n.x - left + margin) * unit, (high - n.y + margin) * unit];
    const place = new Map(data.nodes.map((n) => [n.id, where(n)]));
    const pairs = new Set(data.edges.map((e) => JSON.stringify([e.source, e.target])));
    const names = new Map(data.nodes.map((n) => [n.id, n.label]));
    const tips = arrowTips(drawing);
    const nodes = [];
    const edgeLayer = svg("g", { class: "edges" }, drawing);
    const labelLayer = svg("g", { class: "labels" }, drawing);
    const nodeLayer = svg("g", { class: "nodes" }, drawing);
    for (const n of data.nodes) {
      const [x, y] = place.get(n.id);
      const mark = svg("g", { class: `node${n.end ? " end" : ""}`, "data-node": n.id }, nodeLayer);
      const text = svg("text", { x, y: y + 4, "text-anchor": "middle" }, mark);
      String(n.label).split("\n").forEach((line, k, all) => {
        svg("tspan", { x, y: y + 4 + 14 * (k - (all.length - 1) / 2) }, text).textContent = line;
      });
      const box = text.getBBox();
      const rect = svg("rect", { x: box.x - 7, y: box.y - 4, width: box.width + 14, height: box.height + 8, rx: 6 });
      mark.prepend(rect);
      nodes.push({ x, y, w: box.width / 2 + 9, h: box.height / 2 + 6, id: n.id });
      const out = data.edges.filter((e) => e.source === n.id).length;
      field.add({ element: mark, x: shift + x, y, group: 0, radius: Math.max(box.width, box.height) / 2 + 10,
        inside: (px, py) => Math.abs(px - shift - x) < box.width / 2 + 8 && Math.abs(py - y) < box.height / 2 + 6,
        lines: [String(n.label).replaceAll("\n", " "), n.end ? "an end" : `${out} ways on`] });
    }
    const placed = nodes.map((n) => [n.x - n.w, n.y - n.h, 2 * n.w, 2 * n.h]);
    const boxes = new Map(nodes.map((n) => [n.id, n]));
    const twins = new Map(); // how often an arrow between the same two nodes was drawn already
    data.edges.forEach((e, k) => {
      const [tint, dash, word] = MOVES[e.moved || 0];
      const [from, to] = [boxes.get(e.source), boxes.get(e.target)];
      const pair = JSON.stringify([e.source, e.target]);
      const turn = twins.get(pair) || 0;
      twins.set(pair, turn + 1);
      const returns = pairs.has(JSON.stringify([e.target, e.source]));
      const curve = from === to ? loop(from, turn) : arrow(from, to, returns, turn, nodes, unit);
      const mark = svg("g", { class: "edge", "data-edge": k }, edgeLayer);
      svg("path", { d: curve.d, fill: "none", stroke: tint, "stroke-width": 1.6, "stroke-dasharray": dash,
        "marker-end": `url(#${tips[e.moved || 0]})` }, mark);
      const at = labelled ? label(labelLayer, e.label, tint, curve, placed) : curve.at(0.5);
      const probability = known(e.probability) ? `probability ${e.probability}` : "";
      field.add({ element: mark, x: shift + at[0], y: at[1], group: 1, lines: [
        `${names.get(e.source)} → ${names.get(e.target)}`.replaceAll("\n", " "),
        ...[e.label, probability, word].filter((t, i, all) => t && all.indexOf(t) === i)] });
    });
    const keys = html("ul", { class: "keys", "aria-label": "Kinds of steps" });
    for (const moved of [1, -1, 0].filter((m) => data.edges.some((e) => (e.moved || 0) === m))) {
      const icon = svg("svg", { width: 26, height: 12, "aria-hidden": "true" });
      svg("path", { d: "M0 6H26", stroke: MOVES[moved][0], "stroke-width": 2.5,
        "stroke-dasharray": MOVES[moved][1] }, icon);
      keys.append(html("li", {}, html("span", { class: "key" }, icon, MOVES[moved][2])));
    }
    host.append(keys);
    field.ready();
  }

  function arrowTips(drawing) {
    const defs = svg("defs", {}, drawing);
    const tips = {};
    for (const moved of [1, 0, -1]) {
      const id = newId("tip");
      const tip = svg("marker", { id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 9, markerHeight: 9,
        markerUnits: "userSpaceOnUse", orient: "auto" }, defs);
      svg("path", { d: "M0 0L10 5L0 10z", fill: MOVES[moved][0] }, tip);
      tips[moved] = id;
    }
    return tips;
  }

  function loop(n, turn) {
    const top = n.y - n.h;
    const [half, rise] = [12 + 7 * turn, 40 + 26 * turn];
    const d = `M${n.x - half} ${top}C${n.x - half - 18} ${top - rise} ${n.x + half + 18} ${top - rise} ${n.x + half} ${top - 1}`;
    return { d, at: () => [n.x, top - 0.78 * rise - 2] };
  }

  // Put a label on its curve where it covers no node and no other label, if there is such a place.
  function label(layer, words, tint, curve, placed) {
    const group = svg("g", { class: "label" }, layer);
    const text = svg("text", { "text-anchor": "middle", style: `fill:${tint}` }, group);
    text.textContent = words;
    const [w, h] = [text.getComputedTextLength() + 6, 14];
    const overlap = ([x, y]) => placed.reduce((sum, [a, b, c, d]) => sum
      + Math.max(0, Math.min(x + w / 2, a + c) - Math.max(x - w / 2, a))
      * Math.max(0, Math.min(y + h / 2, b + d) - Math.max(y - h / 2, b)), 0);
    const places = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74].map(curve.at);
    const [x, y] = places.reduce((a, b) => (overlap(b) < overlap(a) - 1 ? b : a));
    placed.push([x - w / 2, y - h / 2, w, h]);
    text.setAttribute("x", x);
    text.setAttribute("y", y + 4);
    group.prepend(svg("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 3 }));
    return [x, y];
  }

  function border(n, dx, dy) {
    // Where the ray from the node's centre leaves its box.
    const share = Math.min(n.w / Math.abs(dx || 1e-9), n.h / Math.abs(dy || 1e-9));
    return [n.x + dx * share, n.y + dy * share];
  }

  function arrow(a, b, returns, turn, nodes, unit) {
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const length = Math.hypot(dx, dy);
    const blocked = nodes.some((n) => {
      const share = ((n.x - a.x) * dx + (n.y - a.y) * dy) / length ** 2;
      const away = Math.abs((n.x - a.x) * dy - (n.y - a.y) * dx) / length;
      return share > 0.05 && share < 0.95 && away < 0.2 * unit;
    });
    const bend = (returns || blocked ? 0.22 : 0) + 0.26 * turn;
    const [cx, cy] = [(a.x + b.x) / 2 + bend * dy, (a.y + b.y) / 2 - bend * dx];
    const [x0, y0] = border(a, cx - a.x, cy - a.y);
    const [x1, y1] = border(b, cx - b.x, cy - b.y);
    const at = (t) => [[x0, cx, x1], [y0, cy, y1]].map(([p, q, r]) =>
      (1 - t) ** 2 * p + 2 * t * (1 - t) * q + t * t * r);
    return { d: `M${x0} ${y0}Q${cx} ${cy} ${x1} ${y1}`, at };
  }

  return { graph };
})();
