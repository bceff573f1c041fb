// What the views show of the engine's answers. Nothing is computed here but places on the screen.
"use strict";

const Shown = (() => {
  const { html, overflowing, shorten, svg } = Base;
  const { amount, float } = Numbers;
  const fill = (element, ...children) => element.replaceChildren(...children.filter((c) => c !== null && c !== undefined));
  const head = (...texts) => html("thead", {}, html("tr", {}, ...texts.map((t) => html("th", { scope: "col" }, t))));
  const line = (first, ...cells) => html("tr", {}, html("th", { scope: "row" }, first), ...cells.map((c) => (c instanceof Node ? c : html("td", {}, c))));
  const exactly = (text, most = 60) => html("td", { class: "fraction" }, shorten(text || "", most));
  const boxed = (label, ...children) => overflowing(html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children));
  const note = (text) => html("p", { class: "note" }, text);
  const drawn = (draw) => { const host = html("div", { class: "canvas" }); requestAnimationFrame(() => draw(host)); return host; };
  const sign = (p) => p.action + (p.direction === "up" ? "+" : "-");

  const KINDS = { exact: "Exact: a fraction.", enclosure: "A rigorous enclosure: the truth lies between the two numbers.",
    infinite: "Runs can get stuck, so the expectation is infinite.", simulation: "A simulation, since nothing rigorous was found within the limits." };

  function exact(answer, body) {
    const { total } = answer, phases = Object.keys(answer).filter((k) => /^phase\d+$/.test(k));
    const shares = phases.map((k) => Number(answer[k].decimal)), sum = shares.reduce((a, b) => a + b, 0);
    const parts = Number.isFinite(sum) && sum > 0 ? html("div", { class: "split", role: "img", "aria-label": shares.map((s, i) => `phase ${i + 1}: ${(100 * s / sum).toFixed(1)}%`).join(", ") },
      ...shares.map((s, i) => { const e = html("span", { class: `s${i % 7}` }); e.style.flex = `${s} 1 0`; return e; })) : null;
    const states = answer.states ? `${answer.states} states, method ${answer.method}, ${answer.seconds.toFixed(2)} s.` : answer.reason || "";
    fill(body, html("p", { class: "big" }, `E[T] = ${amount(total)}`),
      total.rational ? html("p", { class: "fraction", id: "total-fraction" }, shorten(total.rational, 400)) : null,
      note(`${KINDS[answer.kind] || answer.kind || ""} ${states}`), parts,
      boxed("Phases", html("table", {}, head("quantity", "value", "share", "exactly"), html("tbody", {},
        ...phases.map((k, i) => line(`phase ${i + 1}: E[T${i + 1}]`, amount(answer[k]), sum > 0 ? `${(100 * shares[i] / sum).toFixed(1)}%` : "", exactly(answer[k].rational))),
        answer.variance ? line("Var[T]", amount(answer.variance), "", exactly(answer.variance.rational)) : ""))),
      answer.trap ? note(`Runs get stuck in ${answer.trap.state}, with probability ${answer.trap.probability ? answer.trap.probability.decimal || amount(answer.trap.probability) : `between ${answer.trap.lower} and ${answer.trap.upper}`}.`) : null);
  }

  /** Which area of the map the setting lies in, and the borders around it. */
  function regime(answer, body) {
    const at = answer.alphas[0], point = at.points[0];
    if (!point) { fill(body); return; }
    const words = point.area === null ? (point.inside_h ? "On a border between regimes: ties occur here." : "Outside (H).")
      : `${point.area}: the same for ${point.interval[0]} < r < ${point.interval[1]} at this alpha. ${point.decided ? "One law of T in the whole area." : "The borders leave the law open here: it may depend on values."}`;
    fill(body, html("p", { id: "regime-words" }, words), html("details", {}, html("summary", {}, "Borders at this alpha"),
      boxed("Borders", html("table", {}, head("border", "r", "condition"), html("tbody", {}, ...at.borders.map((b) => line(b.name, b.r, b.condition)))))));
  }

  function law(answer, body) {
    const points = answer.cdf || [], quantile = (q) => (q.infinite ? "infinite" : q.certain ? `${q.value}` : `${q.lower} to ${q.upper ?? "?"}`);
    const data = { title: `P(T <= t): the median is ${answer.quantiles[2] ? quantile(answer.quantiles[2]) : "unknown"}`, x: { label: "t, steps", scale: "linear" }, y: { label: "P(T <= t)", scale: "linear", ends: [0, 1.02] },
      series: [{ name: "P(T <= t)", kind: "line", x: points.map((p) => p.t), y: points.map((p) => p.probability), colour: 0 },
        { name: "quantiles", kind: "points", x: answer.quantiles.filter((q) => q.certain).map((q) => q.value), y: answer.quantiles.filter((q) => q.certain).map((q) => q.level), colour: 1, marker: "D" }] };
    fill(body, drawn((host) => Charts.chart(host, data)), note(`Every probability is within ${answer.error_bound.toExponential(1)} of the truth. Method: ${answer.method}.`),
      boxed("Quantiles", html("table", {}, head("level", "quantile of T"), html("tbody", {}, ...answer.quantiles.map((q) => line(`${q.level}`, quantile(q)))))));
  }

  function sites(answer, body) {
    const number = (text) => (answer.exact ? float(text) : Number(text));
    const [at, steps, visits] = [answer.positions.map((p) => p.position), answer.positions.map((p) => number(p.steps)), answer.positions.map((p) => number(p.visits))];
    const most = steps.indexOf(Math.max(...steps));
    const data = { title: `Expected steps per position; most, ${steps[most].toPrecision(4)}, at position ${most}`, x: { label: "position", scale: "linear" }, y: { label: "expected number", scale: "linear" },
      series: [{ name: "E[steps begun there]", kind: "bars", x: at, y: steps, colour: 0, exact: answer.exact ? answer.positions.map((p) => p.steps) : null }, { name: "E[visits]", kind: "line", x: at, y: visits, colour: 1, marker: "s" }] };
    fill(body, drawn((host) => Charts.chart(host, data)), html("details", {}, html("summary", {}, "All positions"), boxed("All positions", html("table", {}, head("position", "E[steps]", "E[visits]", "E[steps], exactly"),
      html("tbody", {}, ...answer.positions.map((p, i) => line(`${p.position}`, steps[i].toPrecision(6), visits[i].toPrecision(6), exactly(p.steps, 50))))))));
  }

  /** The map; `choose(alpha, place)` is told where somebody pointed, `here` is where the settings are. */
  function map(answer, body, here, choose) {
    fill(body, drawn((host) => Maps.map(host, answer.figure, { here, choose })),
      note("A colour is a value of E[T]; within an area it is one and the same. Click anywhere, or choose a point with arrow keys and Enter: alpha and r are set."),
      boxed("Regimes", html("table", {}, head("area", "E[T]", "exactly"), html("tbody", {}, ...answer.figure.grid.areas.filter((a) => a.value !== null).map((a) => line(a.name, a.value.toPrecision(10), exactly(a.exact)))))));
  }

  // -- walks --------------------------------------------------------------------------------------

  function rowTable(state, actions) {
    return html("table", {}, head("objective", "Q", "exactly"), html("tbody", {}, ...actions.map((a) => {
      const row = line(a + (state.greedy.includes(a) ? " (largest)" : ""), state.floats[a].toPrecision(6), exactly(state.row[a], 40));
      if (state.greedy.includes(a)) row.className = "greedy";
      return row;
    })));
  }

  const stepText = (s) => `step ${s.time}: at ${s.position} the row is ${s.pattern}; ${s.greedy.length > 1 ? `${s.greedy.join(", ")} tie, ` : ""}${s.action} is chosen, the flipped bit leads ${s.direction}: `
    + `${s.accepted ? `accepted, to ${s.next_position}` : "rejected"}; reward ${s.reward}, Q[${s.action}] becomes ${s.new_float.toPrecision(6)}`;

  /** One state of the walk; `go(step)`, `back()`, `again()` make it go on. */
  function walk(answer, body, begun, { go, back, again }) {
    const { now } = answer, actions = Object.keys(now.row);
    const options = now.proposals.map((p) => html("button", { type: "button", onclick: () => go(sign(p)) },
      `${sign(p)} with probability ${p.probability}: ${p.accepted ? `accepted, to ${p.next_position}` : "rejected"}, reward ${p.reward}, Q[${p.action}] becomes ${p.new_float.toPrecision(6)}`));
    const random = () => {
      let u = Math.random();
      const taken = now.proposals.find((p) => (u -= float(p.probability)) < 0) || now.proposals.at(-1);
      if (taken) go(sign(taken));
    };
    const graph = { title: `The chain at position ${now.position}, row ${now.pattern}: what can happen next`, nodes: answer.graph.nodes, edges: answer.graph.edges };
    fill(body, landscape(answer, now.position),
      html("p", {}, answer.finished ? `After ${now.time} steps the optimum is found.` : `After ${now.time} steps: position ${now.position}, phase ${now.phase}, row ${now.pattern}.`),
      boxed("Row of Q", rowTable(now, actions)),
      html("div", { class: "controls" }, html("button", { type: "button", onclick: random, disabled: answer.finished, id: "walk-random" }, "A random step"),
        html("button", { type: "button", disabled: !begun, onclick: back, id: "walk-back" }, "Back"), html("button", { type: "button", disabled: !begun, onclick: again, id: "walk-again" }, "Start again")),
      answer.finished ? null : html("h3", {}, "The chain from here: choose an arrow, or a line below"),
      answer.finished ? null : drawn((host) => Graphs.graph(host, graph, { now: graph.nodes[0].id, can: () => true, choose: (e) => go(e.step) })),
      html("div", { class: "proposals", role: "group", "aria-label": "What can happen next" }, ...options),
      answer.steps.length ? html("details", { open: true }, html("summary", {}, "What happened"), html("ol", { reversed: true, start: now.time - 1 }, ...answer.steps.slice(-8).reverse().map((s) => html("li", {}, stepText(s))))) : null);
  }

  /** The automaton of the row shown, with the pattern that the row shows now. */
  function row(answer, body, now) {
    const matches = (p) => [[p.signs, now.signs], [p.order, now.order]].every(([a, b]) => a.every((v, i) => v === null || v === b[i]));
    const shown = answer.patterns.filter(matches).sort((a, b) => [...a.signs, ...a.order].filter((v) => v === null).length - [...b.signs, ...b.order].filter((v) => v === null).length)[0];
    if (!answer.graph.nodes.length) { fill(body, note(`This automaton has ${answer.patterns.length} patterns, too many to be drawn.`)); return; }
    const data = { title: `Automaton of the row at position ${answer.position}: ${answer.patterns.length} patterns; the row now shows ${now.pattern}`, ...answer.graph };
    fill(body, drawn((host) => Graphs.graph(host, data, { now: shown ? String(shown.index) : null })),
      note("Boxes are orders of the entries of the row shown at this position; entries in parentheses are below the others, in whatever order."));
  }

  /** The objectives over the positions, and where the walk is. */
  function landscape(answer, position) {
    const names = Object.keys(answer.objectives), { n } = answer, [left, width, each] = [60, 600, 56], X = (p) => left + (width * p) / n;
    const words = (attributes, text) => { const t = svg("text", attributes); t.textContent = text; return t; };
    const picture = svg("svg", { class: "landscape", viewBox: `0 0 680 ${names.length * each + 30}`, role: "img", "aria-label": `Objectives ${names.join(", ")} over the positions 0 to ${n}; the walk is at position ${position}` },
      svg("line", { class: "where", x1: X(position), x2: X(position), y1: 4, y2: names.length * each + 6 }));
    names.forEach((name, k) => {
      const values = answer.objectives[name], low = Math.min(...values), span = Math.max(...values) - low || 1, base = (k + 1) * each;
      const Y = (v) => base - ((each - 14) * (v - low)) / span;
      picture.append(svg("polyline", { points: values.map((v, p) => `${X(p)},${Y(v)}`).join(" "), fill: "none", stroke: `var(--c${k % 3})`, "stroke-width": 2 }),
        svg("circle", { class: "where", cx: X(position), cy: Y(values[position]), r: 5 }), words({ x: left - 10, y: base, "text-anchor": "end" }, name));
    });
    for (const p of [0, ...answer.milestones]) picture.append(words({ x: X(p), y: names.length * each + 24, "text-anchor": "middle" }, `${p}`));
    return picture;
  }

  /** A run to be played: the chart of its positions; returns how to show step t. */
  function run(answer, body) {
    const last = answer.steps.length, path = [...answer.steps.map((s) => s.position), answer.now.position];
    const words = html("p", { id: "run-words" }), table = boxed("Row of Q"), scene = html("div");
    const slider = html("input", { type: "range", min: 0, max: last, value: 0, id: "run-time", "aria-label": "time" });
    const speed = html("input", { type: "range", min: 1, max: 60, value: 8, id: "run-speed", "aria-label": "steps per second" });
    const data = { title: `Positions of the run over ${last} steps`, x: { label: "step", scale: "linear" }, y: { label: "position", scale: "linear", ends: [0, answer.n] },
      series: [{ name: "position", kind: "step", x: path.map((_, t) => t), y: path, colour: 0 }] };
    const host = html("div", { class: "canvas" });
    fill(body, scene, host, html("div", { class: "controls" }, html("button", { type: "button", id: "play" }, "Play"), html("button", { type: "button", id: "one-step" }, "One step"), html("label", {}, "Speed ", speed)),
      html("label", {}, "Time ", slider), words, table, note(answer.finished ? `The run takes ${last} steps.` : `The run is not finished after ${last} steps.`));
    Charts.chart(host, data, { legend: false, height: 260 });
    const go = (t) => {
      slider.value = t;
      const s = answer.steps[t], mark = host.field.marks[t];
      if (mark) host.field.show(mark, false);
      words.textContent = s ? stepText(s) : `after ${last} steps: position ${answer.now.position}${answer.finished ? ", the optimum" : ""}`;
      fill(scene, landscape(answer, path[t]));
      table.replaceChildren(rowTable(s || answer.now, Object.keys(answer.now.row)));
    };
    return { go, last, slider, speed };
  }

  return { exact, law, map, regime, row, run, sites, walk };
})();
