// Shared by all drawings: elements, numbers, scales, and marks that can be pointed at, tapped and
// reached with the keyboard. A drawing is one stop of the Tab key; arrow keys go from mark to mark.
"use strict";

const Base = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const COLOURS = 7; // the palette --c0, --c1, ..
  const dashes = { solid: [], dashed: [7, 4], dotted: [2, 3], dashdot: [8, 3, 2, 3], dashes: [4, 2] };
  const colour = (k) => `var(--c${(k || 0) % COLOURS})`;
  const known = (v) => v !== null && v !== undefined;
  let ids = 0;
  const newId = (name) => `${name}-${(ids += 1)}`;
  const NEAR = 40; // pixels within which a mark answers to the pointer

  /** What a CSS variable is at an element, for canvases, which do not know variables. */
  const resolved = (element, name) => getComputedStyle(element).getPropertyValue(name).trim() || "#000";

  function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "tint") element.style.fill = value; // a style attribute would need a laxer content security policy
      else if (known(value) && value !== false) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  /** Make an element; functions become listeners, what is null or false is left out. */
  function html(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && known(value)) element.setAttribute(name, value);
    }
    element.append(...children.filter(known));
    return element;
  }

  // -- numbers ----------------------------------------------------------------------------------

  function number(value, digits = 8) {
    if (!known(value)) return "–";
    if (typeof value !== "number") return String(value);
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e12 || size < 1e-4)) {
      return value.toExponential(Math.min(digits, 6) - 1).replace("-", "−").replace("e+", "e");
    }
    return value.toLocaleString("en", { maximumSignificantDigits: digits }).replace("-", "−");
  }

  /** Formulas in names and labels, as far as plain text can show them. */
  function pretty(text) {
    return String(text).replaceAll("<=", "≤").replaceAll(">=", "≥").replaceAll("H_n", "Hₙ")
      .replace(/\^(\d)(?!\d)/g, (_, d) => SUPERSCRIPTS[d]).replaceAll("floor(n^(1/3))", "⌊∛n⌋")
      .replaceAll("floor(n^(1/2))", "⌊√n⌋").replaceAll("floor((n-5)/2)", "⌊(n−5)/2⌋");
  }

  /** A long fraction by its first and last digits, and how many there are. */
  function shorten(text, most = 110) {
    if (text.length <= most) return text;
    const parts = text.split("/");
    const keep = Math.max(3, Math.floor(most / (2 * parts.length)) - 4);
    return `${parts.map((p) => `${p.slice(0, keep)}…${p.slice(-keep)}`).join("/")} (${parts.map((p) => p.length).join("/")} digits)`;
  }

  function power(value) {
    const exponent = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
    const shown = String(Math.abs(exponent)).split("").map((d) => SUPERSCRIPTS[d]).join("");
    const ten = `10${exponent < 0 ? "⁻" : ""}${shown}`;
    const rounded = Number((value / 10 ** exponent).toPrecision(3));
    return rounded === 1 ? ten : `${rounded}·${ten}`;
  }

  /** Ticks of an axis in one notation: powers of ten if one of them is large or tiny. */
  function tickTexts(ticks, log) {
    const sizes = ticks.filter(known).map(Math.abs).filter((v) => v > 0);
    const powers = sizes.some((v) => v >= (log ? 1e5 : 1e7) || v <= 1e-4);
    return ticks.map((v) => (!known(v) ? "" : powers && v !== 0 ? power(v)
      : v.toLocaleString("en", { maximumSignificantDigits: log ? 3 : 6 }).replace("-", "−")));
  }

  // -- scales of drawings in SVG: data to pixels and back ---------------------------------------

  const MAPPED = {
    linear: [(v) => v, (u) => u],
    log: [Math.log10, (u) => 10 ** u],
    logit: [(v) => Math.log(v / (1 - v)), (u) => 1 / (1 + Math.exp(-u))],
  };

  function scale(kind, low, high, from, to, room = 70) {
    const [there, back] = MAPPED[kind] || MAPPED.linear;
    const [a, b] = [there(low), there(high)];
    const at = (v) => from + ((there(v) - a) / (b - a || 1)) * (to - from);
    const value = (pixel) => back(a + ((pixel - from) / (to - from)) * (b - a));
    const most = Math.max(2, Math.floor(Math.abs(to - from) / room));
    return { at, value, log: kind === "log", ticks: ticksOf(kind, low, high, most) };
  }

  function ticksOf(kind, low, high, most) {
    const inside = (v) => v >= low - 1e-12 && v <= high + 1e-12;
    if (kind === "logit") {
      const nice = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99].filter(inside);
      const stride = Math.ceil(nice.length / most);
      return nice.filter((_, k) => k % stride === 0);
    }
    if (kind === "log") {
      const decades = [];
      for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k += 1) decades.push(k);
      for (const parts of [[1, 2, 5], [1, 3], [1]]) {
        const ticks = decades.flatMap((k) => parts.map((m) => m * 10 ** k)).filter(inside);
        if (ticks.length <= most && ticks.length >= 2) return ticks;
      }
      const whole = decades.map((k) => 10 ** k).filter(inside), stride = Math.ceil(whole.length / most);
      return whole.length ? whole.filter((_, k) => k % stride === 0) : [low, high];
    }
    const raw = (high - low) / most || 1;
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * unit).find((s) => s >= raw * 0.999);
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) ticks.push(Number((k * step).toPrecision(12)));
    return ticks;
  }

  // -- marks ------------------------------------------------------------------------------------

  /** Marks of one drawing: {x, y, group, lines: [..], exact, inside, radius, choose}. */
  class Field {
    constructor(host, label) {
      this.host = host;
      this.marks = [];
      this.current = null;
      this.tip = html("div", { class: "tip", hidden: true });
      this.ring = html("div", { class: "ring", hidden: true });
      this.said = html("p", { class: "visually-hidden", role: "status" });
      this.stage = html("div", { class: "stage", tabindex: "0", role: "application", "aria-roledescription": "chart",
        "aria-label": `${pretty(label).replace(/\s+/g, " ")}. Arrow keys move between the values.`,
        onpointermove: (event) => this.point(event), onpointerdown: (event) => this.point(event), onpointerleave: () => this.hide(),
        onfocus: () => { if (!this.current && this.visible().length) this.show(this.last || this.visible()[0]); },
        onblur: () => this.hide(), onkeydown: (event) => this.key(event), onclick: () => this.pick() });
      this.stage.append(this.ring, this.tip, this.said);
      host.field = this;
      host.append(overflowing(this.stage));
    }

    add(mark) {
      this.marks.push({ ...mark, lines: mark.lines.map((line) => pretty(line).replace(/\s+/g, " ")) });
    }

    sort() {
      this.marks = this.marks.map((m, place) => ({ m, place })).sort((a, b) => a.m.group - b.m.group || a.place - b.place).map(({ m }) => m);
    }

    visible() {
      return this.marks.filter((m) => !m.hidden);
    }

    point(event) {
      const box = this.stage.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left + this.stage.scrollLeft, event.clientY - box.top + this.stage.scrollTop];
      let [best, least] = [null, NEAR * NEAR];
      for (const m of this.visible()) {
        const distance = m.inside ? (m.inside(x, y) ? 0 : Infinity) : (m.x - x) ** 2 + (m.y - y) ** 2;
        if (distance < least) [best, least] = [m, distance];
      }
      if (best) this.show(best, false);
      else this.hide();
    }

    show(mark, aloud = true) {
      if (this.current === mark) return;
      this.hide();
      this.current = this.last = mark;
      const size = 2 * (mark.radius || 8);
      Object.assign(this.ring.style, { left: `${mark.x - size / 2}px`, top: `${mark.y - size / 2}px`, width: `${size}px`, height: `${size}px` });
      this.ring.hidden = false;
      this.tip.replaceChildren(html("strong", {}, mark.lines[0]), ...mark.lines.slice(1).map((line) => html("span", {}, line)));
      if (mark.exact) this.tip.append(html("span", { class: "exact" }, shorten(mark.exact)));
      this.tip.hidden = false;
      if (aloud) {
        this.said.textContent = mark.lines.join(", ");
        this.reveal(mark);
      }
      const [w, h] = [this.tip.offsetWidth, this.tip.offsetHeight];
      const [left, right] = [this.stage.scrollLeft, this.stage.scrollLeft + this.stage.clientWidth];
      const above = mark.y - h - (mark.radius || 8) - 6;
      Object.assign(this.tip.style, { left: `${Math.max(left, Math.min(right - w, mark.x - w / 2))}px`,
        top: `${above < 0 ? mark.y + (mark.radius || 8) + 8 : above}px` });
    }

    /** A mark that was reached by the keyboard is scrolled into sight. */
    reveal(mark) {
      if (mark.x < this.stage.scrollLeft || mark.x > this.stage.scrollLeft + this.stage.clientWidth) this.stage.scrollLeft = mark.x - this.stage.clientWidth / 2;
    }

    hide() {
      this.current = null;
      this.ring.hidden = this.tip.hidden = true;
    }

    pick() {
      if (this.current && this.current.choose) this.current.choose();
    }

    key(event) {
      if (event.key === "Escape") { this.hide(); return; }
      if (event.key === "Enter" || event.key === " ") {
        if (this.current && this.current.choose) { event.preventDefault(); this.pick(); }
        return;
      }
      const next = this.neighbour(this.current || this.last || this.visible()[0], event.key);
      if (next === undefined) return;
      event.preventDefault();
      if (next) this.show(next);
    }

    neighbour(now, key) {
      if (!now) return undefined;
      const same = this.visible().filter((m) => m.group === now.group);
      const at = same.indexOf(now);
      if (key === "ArrowRight") return same[at + 1] || null;
      if (key === "ArrowLeft") return same[at - 1] || null;
      if (key === "Home") return same[0];
      if (key === "End") return same[same.length - 1];
      if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
      const groups = [...new Set(this.visible().map((m) => m.group))];
      const other = groups[groups.indexOf(now.group) + (key === "ArrowDown" ? 1 : -1)];
      if (other === undefined) return null;
      return this.visible().filter((m) => m.group === other).reduce((a, b) => (Math.abs(b.x - now.x) < Math.abs(a.x - now.x) ? b : a));
    }
  }

  // Boxes that are wider than their place say so: the style sheet draws shadows at their ends.
  const watching = new ResizeObserver((entries) => {
    for (const { target } of entries) target.toggleAttribute("data-more", target.scrollWidth > target.clientWidth + 2);
  });
  const overflowing = (box) => { watching.observe(box); return box; };

  /** Paint now, when the width has changed, and when the colours have. */
  function repainted(host, paint) {
    paint();
    new ResizeObserver(() => {
      if (Math.abs(host.clientWidth - Number(host.dataset.width)) > 2) paint();
    }).observe(host);
    addEventListener("theme", paint);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  }

  return { Field, colour, dashes, html, known, newId, number, overflowing, pretty, repainted, resolved, scale, shorten, svg, tickTexts, ticksOf };
})();
