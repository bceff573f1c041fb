// Shared by all drawings: elements, numbers, scales, and marks that can be pointed at, tapped and
// reached with the keyboard. A drawing is one stop of the Tab key; arrow keys go from mark to mark.
"use strict";

const Marks = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const COLOURS = 7; // the palette --c0, --c1, ..
  const dashes = { solid: "", dashed: "7 5", dotted: "2 4", dashdot: "8 4 2 4" };
  const colour = (k) => `var(--c${(k || 0) % COLOURS})`;
  const known = (v) => v !== null && v !== undefined;
  let ids = 0;
  const newId = (name) => `${name}-${(ids += 1)}`;
  const NEAR = 48; // pixels within which a mark answers to the pointer

  function svg(tag, attributes = {}, parent = null) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (parent) parent.append(element);
    return element;
  }

  function html(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  function number(value, digits = 8) {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e12 || size < 1e-4)) {
      return value.toExponential(Math.min(digits, 6) - 1).replace("-", "−").replace("e+", "e");
    }
    return value.toLocaleString("en", { maximumSignificantDigits: digits }).replace("-", "−");
  }

  // Formulas in names and labels, as far as plain text can show them.
  function pretty(text) {
    const up = (d) => SUPERSCRIPTS[d];
    return String(text).replace(/\s+/g, " ").replaceAll("<=", "≤").replaceAll(">=", "≥").replaceAll("H_n", "Hₙ")
      .replace(/\^(\d)(?!\d)/g, (_, d) => up(d)).replaceAll("floor(n^(1/3))", "⌊∛n⌋")
      .replaceAll("floor(n^(1/2))", "⌊√n⌋").replaceAll("floor((n-5)/2)", "⌊(n−5)/2⌋");
  }

  // One notation per axis: powers of ten if its largest tick is large or its smallest tiny.
  function tickText(value, { log, ticks }) {
    const sizes = (log ? [value] : ticks).map(Math.abs).filter((v) => v > 0);
    const powers = sizes.some((v) => v >= (log ? 1e5 : 1e7) || v <= 1e-4);
    if (value !== 0 && powers) {
      const exponent = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
      const mantissa = value / 10 ** exponent;
      const shown = String(Math.abs(exponent)).split("").map((d) => SUPERSCRIPTS[d]).join("");
      const ten = `10${exponent < 0 ? "⁻" : ""}${shown}`;
      const rounded = Number(mantissa.toPrecision(3));
      return rounded === 1 ? ten : `${rounded}·${ten}`;
    }
    return value.toLocaleString("en", { maximumSignificantDigits: log ? 3 : 6 }).replace("-", "−");
  }

  // A scale maps data to pixels; it knows its ticks.
  function scale(kind, low, high, from, to, room = 70) {
    const log = kind === "log";
    let [a, b] = [low, high];
    if (a === b) [a, b] = log ? [a / 2, b * 2] : [a - (Math.abs(a) || 1) / 2, b + (Math.abs(b) || 1) / 2];
    const f = log ? Math.log10 : (v) => v;
    const [fa, fb] = [f(a), f(b)];
    const at = (v) => from + ((f(v) - fa) / (fb - fa)) * (to - from);
    const most = Math.max(2, Math.floor(Math.abs(to - from) / room));
    return { at, log, low: a, high: b, ticks: log ? logTicks(a, b, most) : linearTicks(a, b, most) };
  }

  function linearTicks(low, high, most) {
    const raw = (high - low) / most;
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * unit).find((s) => s >= raw * 0.999);
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
      ticks.push(Number((k * step).toPrecision(12)));
    }
    return ticks;
  }

  function logTicks(low, high, most) {
    const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
    const inside = (v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9);
    const decades = [];
    for (let k = first; k <= last; k += 1) decades.push(k);
    for (const parts of [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5], [1, 2, 5], [1, 3]]) {
      const ticks = decades.flatMap((k) => parts.map((m) => m * 10 ** k)).filter(inside);
      if (ticks.length <= most && ticks.length >= 2) return ticks;
    }
    const stride = Math.ceil(decades.length / most);
    const ticks = decades.filter((k) => k % stride === 0).map((k) => 10 ** k).filter(inside);
    return ticks.length ? ticks : [low];
  }

  function axes(drawing, data, x, y, { top, each, width, margin, last }) {
    const grid = svg("g", { class: "grid", "aria-hidden": "true" }, drawing);
    const axis = svg("g", { class: "axis", "aria-hidden": "true" }, drawing);
    const bottom = top + each;
    for (const t of y.ticks) {
      svg("line", { x1: margin.left, x2: width - margin.right, y1: y.at(t), y2: y.at(t) }, grid);
      const text = svg("text", { x: margin.left - 8, y: y.at(t) + 4, "text-anchor": "end" }, axis);
      text.textContent = tickText(t, y);
    }
    for (const t of x.ticks) {
      svg("line", { x1: x.at(t), x2: x.at(t), y1: top, y2: bottom }, grid);
      svg("line", { x1: x.at(t), x2: x.at(t), y1: bottom, y2: bottom + 5 }, axis);
      if (last) {
        const text = svg("text", { x: x.at(t), y: bottom + 19, "text-anchor": "middle" }, axis);
        text.textContent = tickText(t, x);
      }
    }
    svg("path", { d: `M${margin.left} ${top}V${bottom}H${width - margin.right}` }, axis);
    if (last) {
      const text = svg("text", { x: (margin.left + width - margin.right) / 2, y: bottom + 39,
        "text-anchor": "middle" }, axis);
      text.textContent = pretty(data.x.label);
    }
    const label = svg("text", { transform: `translate(14 ${top + each / 2}) rotate(-90)`,
      "text-anchor": "middle" }, axis);
    label.textContent = pretty(data.y.label);
  }

  // Room for the tick texts of all panels, and the label beside them.
  function leftMargin(scales) {
    return 32 + 6.8 * Math.max(3, ...scales.flatMap((y) => y.ticks.map((t) => tickText(t, y).length)));
  }

  // Marks of one drawing. `marks` are {element, x, y, group, lines: [..], exact}.
  class Field {
    constructor(host, drawing, label) {
      this.host = host;
      this.drawing = drawing;
      this.marks = [];
      this.current = null;
      this.tip = html("div", { class: "tip", role: "status", hidden: true });
      host.append(this.tip);
      drawing.setAttribute("role", "group");
      drawing.setAttribute("aria-roledescription", "chart");
      drawing.setAttribute("aria-label", `${pretty(label)}. Arrow keys move between the values.`);
      drawing.addEventListener("pointermove", (event) => this.point(event));
      drawing.addEventListener("pointerdown", (event) => this.point(event));
      drawing.addEventListener("pointerleave", () => this.hide());
      drawing.addEventListener("focusin", (event) => {
        const mark = this.marks.find((m) => m.element === event.target);
        if (mark) this.show(mark);
      });
      drawing.addEventListener("focusout", () => this.hide());
      drawing.addEventListener("keydown", (event) => this.key(event));
    }

    add(mark) {
      mark.lines = mark.lines.map(pretty);
      mark.element.classList.add("mark");
      mark.element.setAttribute("tabindex", "-1");
      mark.element.setAttribute("role", "img");
      mark.element.setAttribute("aria-label", mark.lines.join(", "));
      mark.place = this.marks.length;
      this.marks.push(mark);
    }

    // One stop of the Tab key: the mark that was used last, or the first one.
    ready() {
      const first = this.visible()[0];
      if (first) this.stop(first);
    }

    stop(mark) {
      for (const m of this.marks) {
        if (m.element.getAttribute("tabindex") === "0") m.element.setAttribute("tabindex", "-1");
      }
      mark.element.setAttribute("tabindex", "0");
    }

    visible() {
      return this.marks.filter((m) => !m.hidden);
    }

    point(event) {
      const box = this.drawing.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      let best = null;
      let least = NEAR * NEAR;
      for (const m of this.marks) {
        if (m.hidden) continue;
        const distance = m.inside ? (m.inside(x, y) ? 0 : Infinity) : (m.x - x) ** 2 + (m.y - y) ** 2;
        if (distance < least) [best, least] = [m, distance];
      }
      if (best) this.show(best);
      else this.hide();
    }

    show(mark) {
      if (this.current === mark) return;
      this.hide();
      this.current = mark;
      mark.element.classList.add("on");
      this.ring = svg("circle", { class: "ring", cx: mark.x, cy: mark.y, r: mark.radius || 7 }, this.drawing);
      this.tip.replaceChildren(html("strong", {}, mark.lines[0]),
        ...mark.lines.slice(1).map((line) => html("span", {}, line)));
      if (mark.exact) this.tip.append(html("span", { class: "exact" }, shorten(mark.exact)));
      this.tip.hidden = false;
      const [outer, inner] = [this.host.getBoundingClientRect(), this.drawing.getBoundingClientRect()];
      const x = mark.x + inner.left - outer.left;
      const y = mark.y + inner.top - outer.top;
      const [w, h] = [this.tip.offsetWidth, this.tip.offsetHeight];
      this.tip.style.left = `${Math.max(0, Math.min(outer.width - w, x - w / 2))}px`;
      this.tip.style.top = `${y - h - 14 < 0 ? y + 16 : y - h - 14}px`;
    }

    hide() {
      if (!this.current) return;
      this.current.element.classList.remove("on");
      this.ring.remove();
      this.tip.hidden = true;
      this.current = null;
    }

    key(event) {
      const now = this.marks.find((m) => m.element === event.target);
      if (!now) return;
      if (event.key === "Escape") {
        this.hide();
        return;
      }
      const next = this.neighbour(now, event.key);
      if (!next) return;
      event.preventDefault();
      this.stop(next);
      next.element.focus();
    }

    neighbour(now, key) {
      const same = this.visible().filter((m) => m.group === now.group);
      const at = same.indexOf(now);
      if (key === "ArrowRight") return same[at + 1];
      if (key === "ArrowLeft") return same[at - 1];
      if (key === "Home") return same[0];
      if (key === "End") return same[same.length - 1];
      if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
      const groups = [...new Set(this.visible().map((m) => m.group))];
      const other = groups[groups.indexOf(now.group) + (key === "ArrowDown" ? 1 : -1)];
      if (other === undefined) return undefined;
      return this.visible().filter((m) => m.group === other)
        .reduce((a, b) => (Math.abs(b.x - now.x) < Math.abs(a.x - now.x) ? b : a));
    }
  }

  function shorten(text, most = 110) {
    if (text.length <= most) return text;
    const parts = text.split("/");
    const keep = Math.floor(most / (2 * parts.length)) - 4;
    const digits = parts.map((p) => p.length).join("/");
    return `${parts.map((p) => `${p.slice(0, keep)}…${p.slice(-keep)}`).join("/")} (${digits} digits)`;
  }

  function shape(kind, x, y, size, parent, attributes) {
    const s = size;
    const paths = {
      s: `M${x - s} ${y - s}h${2 * s}v${2 * s}h${-2 * s}z`,
      "^": `M${x} ${y - 1.2 * s}L${x + 1.1 * s} ${y + 0.8 * s}H${x - 1.1 * s}z`,
      v: `M${x} ${y + 1.2 * s}L${x + 1.1 * s} ${y - 0.8 * s}H${x - 1.1 * s}z`,
      D: `M${x} ${y - 1.3 * s}L${x + 1.3 * s} ${y}L${x} ${y + 1.3 * s}L${x - 1.3 * s} ${y}z`,
    };
    paths.d = paths.D;
    if (paths[kind]) return svg("path", { d: paths[kind], ...attributes }, parent);
    return svg("circle", { cx: x, cy: y, r: s, ...attributes }, parent);
  }

  return { Field, axes, colour, dashes, html, known, leftMargin, newId, number, pretty, scale, shape, shorten, svg };
})();
