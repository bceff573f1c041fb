// Drawing: elements, numbers, charts (uPlot), the map and the graph of an automaton (SVG).
"use strict";

/** Make an element; properties with a dash or on SVG become attributes. */
function make(tag, properties = {}, ...children) {
  const svg = ["svg", "g", "rect", "path", "text", "line", "circle", "polyline", "title", "polygon"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (svg || name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((c) => c !== null && c !== undefined));
  return element;
}

/** Put children into an element in place of what it has; what is missing is left out. */
function fill(element, ...children) {
  element.replaceChildren(...children.filter((c) => c !== null && c !== undefined));
}

/** A fraction "p/q" as two integers. */
function fraction(text) {
  const [p, q = "1"] = text.split("/");
  return [BigInt(p), BigInt(q)];
}

function reduced(p, q) {
  let [a, b] = [p < 0n ? -p : p, q];
  while (b) [a, b] = [b, a % b];
  return q === a ? `${p / a}` : `${p / a}/${q / a}`;
}

/** lower + (hundredths/100) (upper - lower), exactly, as text; never below zero. */
function between(lower, upper, hundredths) {
  const [a, b] = fraction(lower), [c, d] = fraction(upper), k = BigInt(hundredths);
  const top = a * d * 100n + k * (c * b - a * d);
  return top <= 0n ? "0" : reduced(top, b * d * 100n);
}

/** A fraction as a float, also where its parts have hundreds of digits. */
function float(text) {
  const [p, q] = fraction(text);
  const shift = BigInt(Math.max(0, Math.max(p.toString().length, q.toString().length) - 300));
  if (shift === 0n) return Number(p) / Number(q);
  return Number((p * 10n ** 17n) / q) / 1e17;
}

function short(text, most = 40) {
  if (text.length <= most) return text;
  const [p, q = ""] = text.split("/");
  return `${p.slice(0, 8)}…/${q.slice(0, 8)}… (${p.length}/${q.length} digits)`;
}

/** A chart of uPlot's in a box; the box is a picture with a text for those who do not see it. */
function chart(box, label, series, data, options = {}) {
  box.replaceChildren();
  const holder = make("div", { className: "chart", role: "img", "aria-label": label });
  box.append(holder);
  const size = () => ({ width: Math.max(260, holder.clientWidth - 4), height: 300 });
  const plot = new uPlot({
    ...size(),
    scales: { x: { time: false }, ...(options.scales || {}) },
    axes: [{ label: options.x || "" }, { label: options.y || "", size: 70 }],
    cursor: { drag: { x: false, y: false } },
    series: [{ label: options.x || "x" }, ...series],
  }, data, holder);
  new ResizeObserver(() => plot.setSize(size())).observe(holder);
  return plot;
}

// Colours of cividis, from low to high.
const CIVIDIS = [[0, 34, 78], [53, 69, 107], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];
function colour(share) {
  const x = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1), k = Math.min(Math.floor(x), CIVIDIS.length - 2);
  const mix = CIVIDIS[k].map((a, i) => Math.round(a + (x - k) * (CIVIDIS[k + 1][i] - a)));
  return { fill: `rgb(${mix.join(",")})`, dark: 0.3 * mix[0] + 0.6 * mix[1] + 0.1 * mix[2] < 128 };
}

const LINES = ["#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#0072b2"];

/** The map: a rectangle per point, its regime in it, borders across it; choose(alpha, r). */
function drawMap(answer, here, choose) {
  const alphas = [...new Set(answer.table.map((p) => p.alpha))], places = [...new Set(answer.table.map((p) => p.r_relative))];
  const [left, top, width, height] = [60, 10, 620, 360];
  const numbers = answer.table.map((p) => Number(p.decimal)).filter((v) => Number.isFinite(v) && v > 0);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const ends = (list) => {
    const at = list.map(float), middle = at.slice(1).map((v, i) => (v + at[i]) / 2);
    return at.length < 2 ? [at[0] - 0.05, at[0] + 0.05] : [2 * at[0] - middle[0], ...middle, 2 * at.at(-1) - middle.at(-1)];
  };
  const xs = ends(alphas), ys = ends(places);
  const X = (v) => left + (width * (v - xs[0])) / (xs.at(-1) - xs[0]);
  const Y = (v) => top + height - (height * (v - ys[0])) / (ys.at(-1) - ys[0]);
  const picture = make("svg", { viewBox: "0 0 700 430", role: "group", "aria-label": "Map of E[T] over alpha and the place of r in (H)" });
  answer.table.forEach((point, k) => {
    const i = alphas.indexOf(point.alpha), j = places.indexOf(point.r_relative);
    const known = Number.isFinite(Number(point.decimal)) && Number(point.decimal) > 0;
    const paint = known ? colour(high > low ? (Number(point.decimal) - low) / (high - low) : 0.5) : { fill: "#ddd", dark: false };
    const value = point.kind === "exact" ? `E[T] = ${point.decimal}` : point.kind === "enclosure" ? `E[T] in [${point.lower}, ${point.upper}]` : point.kind;
    const text = `alpha = ${point.alpha}, r = ${short(point.r)}: ${value}, regime ${point.regime}`;
    const [x, y, w, h] = [X(xs[i]), Y(ys[j + 1]), X(xs[i + 1]) - X(xs[i]), Y(ys[j]) - Y(ys[j + 1])];
    const go = () => choose(point.alpha, point.r);
    picture.append(make("rect", { class: "cell", x, y, width: w, height: h, fill: paint.fill, role: "button", "aria-label": text,
      tabindex: k === 0 ? 0 : -1, "data-column": i, "data-row": j, onclick: go,
      onkeydown: (event) => {
        const [di, dj] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] || [0, 0];
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(); return; }
        const next = picture.querySelector(`[data-column="${i + di}"][data-row="${j + dj}"]`);
        if ((di || dj) && next) {
          event.preventDefault();
          picture.querySelectorAll(".cell").forEach((c) => c.setAttribute("tabindex", -1));
          next.setAttribute("tabindex", 0);
          next.focus();
        }
      } }, make("title", {}, text)));
    if (w > 18 && h > 14) picture.append(make("text", { x: x + w / 2, y: y + h / 2 + 4, "text-anchor": "middle",
      class: paint.dark ? "light" : "", "pointer-events": "none", "aria-hidden": "true" },
      point.kind === "exact" ? point.regime : point.kind === "enclosure" ? "≈" : "∞"));
  });
  picture.querySelectorAll("text.light").forEach((t) => { t.style.fill = "#fff"; });
  (answer.borders || []).forEach((border, k) => {
    let line = "", open = false;
    border.x.forEach((x, i) => {
      const y = border.y[i];
      if (y === null || x === null) { open = false; return; }
      line += `${open ? "L" : "M"}${X(x).toFixed(1)} ${Math.min(Math.max(Y(y), top), top + height).toFixed(1)}`;
      open = true;
    });
    picture.append(make("path", { d: line, stroke: LINES[k % LINES.length], "stroke-dasharray": ["", "7 3", "2 3"][k % 3], "pointer-events": "none" }));
  });
  if (here) picture.append(make("circle", { class: "here", cx: X(here[0]), cy: Y(here[1]), r: 7, "pointer-events": "none" }));
  alphas.forEach((a, i) => { if (i % Math.ceil(alphas.length / 9) === 0) picture.append(make("text", { x: X(float(a)), y: top + height + 18, "text-anchor": "middle" }, float(a).toFixed(2))); });
  places.forEach((p) => picture.append(make("text", { x: left - 6, y: Y(float(p)) + 4, "text-anchor": "end" }, float(p).toFixed(2))));
  picture.append(make("text", { x: left + width / 2, y: 420, "text-anchor": "middle" }, "alpha; upwards: place of r in (H), 0 and 1 are its ends"));
  const keys = (answer.borders || []).map((b, k) => {
    const swatch = make("svg", { viewBox: "0 0 34 10", width: 34, height: 10, "aria-hidden": "true" },
      make("path", { d: "M1 5 H33", stroke: LINES[k % LINES.length], "stroke-dasharray": ["", "7 3", "2 3"][k % 3] }));
    return make("li", {}, swatch, ` ${b.name}: ${b.condition}`);
  });
  return make("div", {}, picture, make("ul", { className: "note" }, ...keys));
}

/** The automaton of a row: patterns in columns by their distance from a fresh row. */
function drawAutomaton(answer, now) {
  const nodes = new Map(answer.patterns.map((p) => [p.index, p]));
  for (const p of answer.patterns) for (const t of p.transitions) if (!nodes.has(t.to)) nodes.set(t.to, { index: t.to, label: t.label, transitions: [], end: true });
  const depth = new Map();
  const starts = [...nodes.values()].filter((p) => p.fresh).map((p) => p.index);
  if (!starts.length && nodes.size) starts.push(nodes.keys().next().value);
  const visit = (queue) => {
    for (const k of queue) for (const t of nodes.get(k).transitions) if (!depth.has(t.to)) { depth.set(t.to, depth.get(k) + 1); queue.push(t.to); }
  };
  starts.forEach((k) => depth.set(k, 0));
  visit([...starts]);
  for (const k of nodes.keys()) if (!depth.has(k)) { depth.set(k, 0); visit([k]); }
  const columns = [];
  for (const [k, d] of depth) (columns[d] = columns[d] || []).push(k);
  const tall = Math.max(...columns.map((c) => c.length)), W = 250, H = 104;
  const at = new Map();
  columns.forEach((column, d) => column.forEach((k, i) => at.set(k, [90 + d * W, 70 + (i + (tall - column.length) / 2) * H])));
  const picture = make("svg", { viewBox: `0 0 ${columns.length * W} ${tall * H + 40}`, width: columns.length * W, height: tall * H + 40, role: "img",
    "aria-label": `Automaton of the row at position ${answer.position}: ${nodes.size} patterns; the row now shows ${now}` });
  for (const p of nodes.values()) p.transitions.forEach((t, i) => {
    const [x1, y1] = at.get(p.index), [x2, y2] = at.get(t.to), kind = t.moved > 0 ? "up" : t.moved < 0 ? "down" : "stay";
    let d, lx, ly;
    if (p.index === t.to) {
      const side = t.moved > 0 ? 1 : -1;
      d = `M${x1 - 18} ${y1 + 16 * side} C${x1 - 30} ${y1 + 50 * side} ${x1 + 30} ${y1 + 50 * side} ${x1 + 18} ${y1 + 19 * side}`;
      [lx, ly] = [x1, y1 + (side > 0 ? 54 : -44)];
    } else {
      const right = x2 > x1, bend = (i - (p.transitions.length - 1) / 2) * 26 + (right ? 0 : -50);
      const [a, b] = x1 === x2 ? [x1 + 40, x2 + 44] : right ? [x1 + 58, x2 - 62] : [x1 - 58, x2 + 62];
      const [mx, my] = [(a + b) / 2 + (x1 === x2 ? 50 : 0), (y1 + y2) / 2 + bend];
      d = `M${a} ${y1} Q${mx} ${my} ${b} ${y2}`;
      [lx, ly] = [0.25 * a + 0.5 * mx + 0.25 * b, 0.25 * y1 + 0.5 * my + 0.25 * y2 - 4];
    }
    const path = make("path", { d, class: kind });
    picture.append(path);
    const length = path.getTotalLength ? path.getTotalLength() : 0;
    if (length) {
      const tip = path.getPointAtLength(length), before = path.getPointAtLength(length - 7), [ux, uy] = [(tip.x - before.x) / 7, (tip.y - before.y) / 7];
      picture.append(make("polygon", { class: "head", points: `${tip.x},${tip.y} ${before.x - 4 * uy},${before.y + 4 * ux} ${before.x + 4 * uy},${before.y - 4 * ux}` }));
    }
    picture.append(make("text", { x: lx, y: ly, "text-anchor": "middle" }, `${t.events.join(" ")}  ${t.probability}`));
  });
  for (const p of nodes.values()) {
    const [x, y] = at.get(p.index);
    picture.append(make("g", { class: `node${p.label === now ? " now" : ""}` },
      make("rect", { x: x - 58, y: y - 16, width: 116, height: 32, rx: 8, "stroke-dasharray": p.end ? "4 3" : null }),
      make("text", { x, y: y + 5, "text-anchor": "middle" }, p.label)));
  }
  return make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Automaton" }, picture);
}

/** The objectives over the positions, and where the walk is. */
function drawLandscape(answer, position) {
  const names = Object.keys(answer.objectives), n = answer.n, [left, width, each] = [60, 600, 56];
  const picture = make("svg", { viewBox: `0 0 680 ${names.length * each + 30}`, role: "img",
    "aria-label": `Objectives ${names.join(", ")} over the positions 0 to ${n}; the walk is at position ${position}` });
  const X = (p) => left + (width * p) / n;
  picture.append(make("line", { x1: X(position), x2: X(position), y1: 4, y2: names.length * each + 6, stroke: "#d55e00", "stroke-width": 2 }));
  names.forEach((name, k) => {
    const values = answer.objectives[name], low = Math.min(...values), span = Math.max(...values) - low || 1, base = (k + 1) * each;
    const Y = (v) => base - ((each - 14) * (v - low)) / span;
    picture.append(make("polyline", { points: values.map((v, p) => `${X(p)},${Y(v)}`).join(" "), fill: "none", stroke: LINES[(k + 6) % 7], "stroke-width": 2 }));
    picture.append(make("circle", { cx: X(position), cy: Y(values[position]), r: 5, fill: "#d55e00" }));
    picture.append(make("text", { x: left - 10, y: base, "text-anchor": "end" }, name));
  });
  for (const p of [0, ...answer.milestones]) picture.append(make("text", { x: X(p), y: names.length * each + 24, "text-anchor": "middle" }, `${p}`));
  return picture;
}
