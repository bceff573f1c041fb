// The explorer: settings in, questions to the engine, answers shown. Nothing is computed here.
"use strict";

const model = JSON.parse(document.getElementById("model").textContent);
const token = new URLSearchParams(location.search).get("token");
const form = document.getElementById("form");
const byId = (id) => document.getElementById(id);
const say = (text) => { byId("announcer").textContent = text; };

function settings() {
  const found = {};
  for (const name of ["landscape", "algorithm", "n", "ell", "alpha", "gamma", "r"]) {
    const text = form.elements[name].value.trim();
    if (text && !form.elements[name].disabled) found[name] = text;
  }
  return found;
}

async function ask(view, given, run, signal) {
  const response = await fetch("api/ask", { method: "POST", signal, headers: { "Content-Type": "application/json", "X-Token": token },
    body: JSON.stringify({ view, settings: given, run }) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** A part of the page with one question: its command, its state (at work, cancelled, failed), its answer. */
class View {
  constructor(name, show) {
    this.name = name;
    this.show = show;
    this.box = byId(`view-${name}`);
    this.body = this.box.querySelector(":scope > .body");
    this.clock = make("span");
    this.cancel = make("button", { type: "button", onclick: () => this.stop("Cancelled.") }, "Cancel");
    this.working = make("div", { className: "working", hidden: true }, this.clock, this.cancel);
    this.message = make("p", { className: "error", role: "alert", hidden: true });
    this.code = make("code", {}, "");
    this.copy = make("button", { type: "button", onclick: () => this.copied() }, "Copy");
    this.command = make("div", { className: "command", hidden: true }, this.code, this.copy);
    this.body.before(this.working, this.message);
    this.body.after(this.command);
    this.asked = null;
  }

  stop(reason) {
    if (this.controller) this.controller.abort();
    this.controller = null;
    clearInterval(this.timer);
    this.working.hidden = true;
    this.body.classList.remove("stale");
    if (reason) this.fail(reason);
    this.asked = null;
  }

  fail(text) {
    this.message.textContent = text;
    this.message.hidden = false;
    this.body.replaceChildren();
  }

  /** Ask, unless the same was asked before; earlier questions of this view are dropped. */
  async run(given) {
    const key = JSON.stringify(given);
    if (key === this.asked) return;
    this.stop();
    this.asked = key;
    const controller = new AbortController();
    this.controller = controller;
    this.message.hidden = true;
    this.body.classList.add("stale");
    this.working.hidden = false;
    const began = performance.now();
    const tick = () => { this.clock.textContent = `computing, ${((performance.now() - began) / 1000).toFixed(0)} s`; };
    tick();
    this.timer = setInterval(tick, 500);
    try {
      const first = await ask(this.name, given, false, controller.signal);
      this.code.textContent = first.command || "";
      this.command.hidden = !first.command;
      const found = first.error ? first : await ask(this.name, given, true, controller.signal);
      if (this.controller !== controller) return;
      this.stop();
      this.asked = key;
      if (found.error) this.fail(found.error.replace(/^markov-lrsao: /, ""));
      else this.show(found.answer, this.body, given, found.notes);
      if (this.name === "exact" && active === "law") refresh();
    } catch (error) {
      if (this.controller !== controller) return;
      this.stop(error.name === "AbortError" ? "" : `The server does not answer: ${error.message}. Is markov-lrsao explore still running?`);
    }
  }

  async copied() {
    try {
      await navigator.clipboard.writeText(this.code.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(this.code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
    say("Copied");
    this.copy.textContent = "Copied";
    setTimeout(() => { this.copy.textContent = "Copy"; }, 1500);
  }
}

// -- E[T] -------------------------------------------------------------------------------------

let expected = null; // E[T] as a float, for the range of the law
let hypothesis = null;

function amount(q) {
  if (q.infinite) return "infinite";
  if (q.upper === "inf") return Number(q.lower) > 0 ? `at least ${q.lower}` : "unknown";
  if (q.lower !== undefined) return `[${q.lower}, ${q.upper}]`;
  if (q.estimate !== undefined) return `≈ ${q.estimate} (${q.low} to ${q.high})`;
  return q.decimal;
}

function showExact(answer, body) {
  const total = answer.total;
  expected = total.decimal ? Number(total.decimal) : total.upper && total.upper !== "inf" ? Number(total.upper) : null;
  const phases = Object.keys(answer).filter((k) => /^phase\d+$/.test(k));
  const rows = phases.map((k, i) => make("tr", {}, make("th", { scope: "row" }, `E[T${i + 1}]`), make("td", {}, amount(answer[k])), make("td", { className: "fraction" }, short(answer[k].rational || "", 60))));
  const kind = { exact: "Exact: a fraction.", enclosure: "A rigorous enclosure: the truth lies between the two numbers.", infinite: "Runs can get stuck, so the expectation is infinite.",
    simulation: "A simulation, since nothing rigorous was found within the limits." }[answer.kind] || answer.kind || "";
  fill(body,
    make("p", { className: "big" }, `E[T] = ${amount(total)}`),
    total.rational ? make("p", { className: "fraction", id: "total-fraction" }, short(total.rational, 120)) : null,
    make("p", { className: "note" }, `${kind} ${answer.states ? `${answer.states} states, method ${answer.method}, ${answer.seconds.toFixed(2)} s.` : answer.reason || ""}`),
    make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Phases" }, make("table", {}, make("tbody", {}, ...rows,
      answer.variance ? make("tr", {}, make("th", { scope: "row" }, "Var[T]"), make("td", {}, amount(answer.variance)), make("td", { className: "fraction" }, short(answer.variance.rational || "", 60))) : null))),
    answer.trap ? make("p", { className: "note" }, `Trap: ${JSON.stringify(answer.trap)}`) : null);
  say(`E[T] = ${amount(total)}`);
}

// -- the law of T, and where the time goes ---------------------------------------------------------

function showLaw(answer, body) {
  const points = answer.cdf || [];
  const box = make("div");
  const quantiles = answer.quantiles.map((q) => make("tr", {}, make("th", { scope: "row" }, `${q.level}`), make("td", {}, q.infinite ? "infinite" : q.certain ? `${q.value}` : `${q.lower} to ${q.upper ?? "?"}`)));
  fill(body, box, make("p", { className: "note" }, `Every probability is within ${answer.error_bound.toExponential(1)} of the truth. Method: ${answer.method}.`),
    make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "level"), make("th", { scope: "col" }, "quantile of T"))), make("tbody", {}, ...quantiles)));
  chart(box, `P(T <= t): the median is ${answer.quantiles[2]?.value}`, [{ label: "P(T <= t)", stroke: "#0072b2", width: 2, points: { show: false } }],
    [points.map((p) => p.t), points.map((p) => p.probability)], { x: "t", y: "P(T <= t)", scales: { y: { range: [0, 1] } } });
}

function showSites(answer, body) {
  const number = (text) => (answer.exact ? float(text) : Number(text));
  const box = make("div");
  const steps = answer.positions.map((p) => number(p.steps)), visits = answer.positions.map((p) => number(p.visits));
  const most = steps.indexOf(Math.max(...steps));
  const rows = answer.positions.map((p, i) => make("tr", {}, make("th", { scope: "row" }, `${p.position}`), make("td", {}, steps[i].toPrecision(6)), make("td", {}, visits[i].toPrecision(6)), make("td", { className: "fraction" }, short(p.steps, 50))));
  fill(body, box, make("details", {}, make("summary", {}, "All positions"), make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "All positions" },
    make("table", {}, make("thead", {}, make("tr", {}, ...["position", "E[steps]", "E[visits]", "E[steps], exactly"].map((t) => make("th", { scope: "col" }, t)))), make("tbody", {}, ...rows)))));
  const bars = uPlot.paths.bars({ size: [0.8, 60] });
  chart(box, `Expected steps per position; most, ${steps[most].toPrecision(4)}, at position ${most}`, [
    { label: "E[steps]", stroke: "#0072b2", fill: "#0072b2aa", paths: bars, points: { show: false } },
    { label: "E[visits]", stroke: "#d55e00", width: 2 }], [answer.positions.map((p) => p.position), steps, visits], { x: "position", y: "expected number" });
}

// -- the map ---------------------------------------------------------------------------------------

function choose(alpha, r) {
  form.elements.alpha.value = alpha;
  form.elements.r.value = r;
  say(`alpha = ${alpha}, r = ${short(r)}`);
  changed();
}

function showMap(answer, body) {
  const place = () => {
    if (!hypothesis) return null;
    const [l, u, r] = [hypothesis.lower, hypothesis.upper, hypothesis.r].map(float);
    return [float(hypothesis.alpha), (r - l) / (u - l)];
  };
  const regimes = answer.regimes.map((g) => make("tr", {}, make("th", { scope: "row" }, `${g.regime}`), make("td", {}, `${g.points}`), make("td", {}, amount(g.value)), make("td", { className: "fraction" }, short(g.total || "", 40))));
  fill(body, drawMap(answer, place(), choose),
    make("p", { className: "note" }, "A number is a regime: one law of T. ≈ is enclosed, ∞ infinite. Choose a point (click, or arrow keys and Enter) to set alpha and r."),
    make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Regimes" }, make("table", {}, make("thead", {}, make("tr", {}, ...["regime", "points", "E[T]", "exactly"].map((t) => make("th", { scope: "col" }, t)))), make("tbody", {}, ...regimes))));
}

function startMap() {
  const [columns, rows] = byId("map-size").value.split("x");
  const { n, ell, gamma, landscape, algorithm } = settings();
  if (landscape !== "jump" || algorithm !== "lrsao") { views.map.stop("The map is there for LRSAO on jump."); return; }
  views.map.run({ n, ell, gamma: gamma || "", alphas: `0.05:0.99@${columns}`, places: `0.02:0.98@${rows}` });
}

// -- the walk, step by step -------------------------------------------------------------------------

let choices = [];

function rowTable(state, actions) {
  return make("table", {}, make("thead", {}, make("tr", {}, ...["objective", "Q", "exactly"].map((t) => make("th", { scope: "col" }, t)))),
    make("tbody", {}, ...actions.map((a) => make("tr", { className: state.greedy.includes(a) ? "greedy" : "" }, make("th", { scope: "row" }, a + (state.greedy.includes(a) ? " (largest)" : "")),
      make("td", {}, state.floats[a].toPrecision(6)), make("td", { className: "fraction" }, short(state.row[a]))))));
}

const sign = (p) => p.action + (p.direction === "up" ? "+" : "-");

function stepText(s) {
  return `step ${s.time}: at ${s.position} the row is ${s.pattern}; ${s.greedy.length > 1 ? `${s.greedy.join(", ")} tie, ` : ""}${s.action} is chosen, the flipped bit leads ${s.direction}: ${s.accepted ? `accepted, to ${s.next_position}` : "rejected"}; reward ${s.reward}, Q[${s.action}] becomes ${s.new_float.toPrecision(6)}`;
}

function walkOn(step) {
  if (views.walk.controller) return; // the row shown is no longer the present one
  choices.push(step);
  refresh();
}

function showWalk(answer, body) {
  const now = answer.now, actions = Object.keys(now.row);
  const options = now.proposals.map((p) => make("button", { type: "button", onclick: () => walkOn(sign(p)) },
    `${sign(p)} with probability ${p.probability}: ${p.accepted ? `accepted, to ${p.next_position}` : "rejected"}, reward ${p.reward}, Q[${p.action}] becomes ${p.new_float.toPrecision(6)}`));
  const random = () => {
    let u = Math.random();
    const taken = now.proposals.find((p) => (u -= float(p.probability)) < 0) || now.proposals.at(-1);
    if (taken) walkOn(sign(taken));
  };
  const history = answer.steps.slice(-8).reverse().map((s) => make("li", {}, stepText(s)));
  fill(body, drawLandscape(answer, now.position),
    make("p", {}, answer.finished ? `After ${now.time} steps the optimum is found.` : `After ${now.time} steps: position ${now.position}, phase ${now.phase}, row ${now.pattern}.`),
    make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Row of Q" }, rowTable(now, actions)),
    make("div", { className: "controls" },
      make("button", { type: "button", onclick: random, disabled: answer.finished, id: "walk-random" }, "A random step"),
      make("button", { type: "button", disabled: !choices.length, onclick: () => { choices.pop(); refresh(); } }, "Back"),
      make("button", { type: "button", disabled: !choices.length, onclick: () => { choices = []; refresh(); } }, "Start again")),
    make("div", { className: "proposals", role: "group", "aria-label": "What can happen next" }, ...options),
    history.length ? make("details", { open: true }, make("summary", {}, "What happened"), make("ol", { reversed: true, start: now.time }, ...history)) : null);
  views.row.pattern = now.pattern;
  const given = { ...settings(), row: `${now.position}` };
  if (answer.finished) views.row.stop();
  else if (views.row.last && views.row.asked === JSON.stringify(given)) showRow(views.row.last, views.row.body);
  else views.row.run(given);
}

function showRow(answer, body) {
  views.row.last = answer;
  fill(body, drawAutomaton(answer, views.row.pattern),
    make("p", { className: "note" }, "Boxes are patterns of the row shown at this position, the coloured one is shown now. Blue: up, orange and dashed: down, dotted: the position stays."));
}

// -- a run, played ----------------------------------------------------------------------------------

const player = { timer: 0, at: 0, answer: null };

function pause() {
  clearInterval(player.timer);
  player.timer = 0;
  const button = byId("play");
  if (button) button.textContent = "Play";
}

function showRun(answer, body) {
  pause();
  player.answer = answer;
  const last = answer.steps.length;
  const box = make("div"), words = make("p", { id: "run-words" }), table = make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Row of Q" });
  const slider = make("input", { type: "range", min: 0, max: last, value: 0, id: "run-time", "aria-label": "time" });
  const speed = make("input", { type: "range", min: 1, max: 60, value: 8, id: "run-speed", "aria-label": "steps per second" });
  const path = [...answer.steps.map((s) => s.position), answer.now.position];
  fill(body, box, make("div", { className: "controls" }, make("button", { type: "button", id: "play" }, "Play"), make("button", { type: "button", id: "one-step" }, "One step"), make("label", {}, "Speed ", speed)),
    make("label", {}, "Time ", slider), words, table,
    make("p", { className: "note" }, answer.finished ? `The run takes ${last} steps.` : `The run is not finished after ${last} steps.`));
  const times = path.map((_, t) => t);
  const plot = chart(box, `Positions of the run over ${last} steps`, [{ label: "position", stroke: "#0072b2", width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }],
    [times, path.map((p, t) => (t === 0 ? p : null))], { x: "step", y: "position", scales: { x: { time: false, range: [0, Math.max(last, 1)] }, y: { range: [0, answer.n] } } });
  const go = (t) => {
    player.at = Math.min(Math.max(t, 0), last);
    slider.value = player.at;
    plot.setData([times, path.map((p, k) => (k <= player.at ? p : null))], false);
    plot.redraw();
    const s = answer.steps[player.at];
    words.textContent = s ? stepText(s) : `after ${last} steps: position ${answer.now.position}${answer.finished ? ", the optimum" : ""}`;
    table.replaceChildren(rowTable(s || answer.now, Object.keys(answer.now.row)));
    if (player.at >= last) pause();
  };
  const tick = () => { player.timer = setInterval(() => go(player.at + 1), 1000 / Number(speed.value)); byId("play").textContent = "Pause"; };
  byId("play").addEventListener("click", () => { if (player.timer) pause(); else { if (player.at >= last) go(0); tick(); } });
  byId("one-step").addEventListener("click", () => { pause(); go(player.at + 1); });
  slider.addEventListener("input", () => { pause(); go(Number(slider.value)); });
  speed.addEventListener("input", () => { if (player.timer) { clearInterval(player.timer); tick(); } });
  go(0);
}

function startRun() {
  pause();
  views.run.run({ ...settings(), seed: byId("seed").value, steps: byId("run-steps").value });
}

// -- tabs -------------------------------------------------------------------------------------------

const views = { exact: new View("exact", showExact), law: new View("law", showLaw), sites: new View("sites", showSites), map: new View("map", showMap),
  walk: new View("walk", showWalk), row: new View("row", showRow), run: new View("run", showRun) };
const TABS = { walk: "Walk, step by step", run: "A run", sites: "Where the time goes", law: "The law of T", map: "Map of regimes" };
let active = "walk";

function open(name) {
  active = name;
  for (const key of Object.keys(TABS)) {
    views[key].box.hidden = key !== name;
    const tab = byId(`tab-${key}`);
    tab.setAttribute("aria-selected", key === name);
    tab.tabIndex = key === name ? 0 : -1;
    if (key !== name && key !== "map" && key !== "run" && views[key].controller) views[key].stop();
  }
  refresh();
}

/** Ask for what the open tab shows. */
function refresh() {
  const given = settings();
  if (active === "walk") views.walk.run({ ...given, choices: choices.join(","), steps: "5000" });
  if (active === "sites") views.sites.run(given);
  if (active === "law" && !views.exact.controller) { // E[T] tells how far the law reaches
    const n = Number(given.n) || 10, most = Math.ceil(4 * (expected || 3 * n * Math.log(n + 1)));
    views.law.run({ ...given, at: `0:${most}:${Math.max(1, Math.floor(most / 150))}` });
  }
}

// -- settings ---------------------------------------------------------------------------------------

async function showHypothesis() {
  const line = byId("hypothesis");
  try {
    const found = await ask("walk", { ...settings(), choices: "", steps: "0" }, true);
    const answer = found.answer;
    hypothesis = answer && answer.hypothesis_h ? { ...answer.hypothesis_h, alpha: answer.alpha, r: answer.r } : null;
    if (!hypothesis) { line.textContent = ""; return; }
    const { lower, upper, holds, r } = hypothesis;
    line.textContent = `(H) ${holds ? "holds" : "does not hold"}: ${short(lower, 20)} < r < ${short(upper, 20)}, r = ${short(r, 24)}`;
    const share = (float(r) - float(lower)) / (float(upper) - float(lower));
    if (Number.isFinite(share) && document.activeElement !== byId("r-slider")) byId("r-slider").value = Math.round(100 * share);
  } catch {
    line.textContent = "";
  }
}

let waiting = 0;

function changed() {
  const { n, ell } = form.elements;
  const ranges = model.landscapes[form.elements.landscape.value].ell, range = ranges[n.value] || [0, Math.max(2, Math.floor((Number(n.value) - 5) / 2))];
  const without = range[1] === 0 && ranges[n.value] !== undefined;
  ell.disabled = without;
  byId("ell-control").hidden = without;
  byId("ell-slider").min = Math.max(1, range[0]);
  byId("ell-slider").max = range[1];
  byId("n-slider").value = n.value;
  byId("ell-slider").value = ell.value;
  const lrsao = form.elements.algorithm.value === "lrsao", learns = lrsao || form.elements.algorithm.value === "earl";
  form.elements.alpha.disabled = form.elements.gamma.disabled = !learns;
  form.elements.r.disabled = !lrsao;
  byId("r-slider").disabled = !lrsao;
  byId("alpha-slider").disabled = !learns;
  try { byId("alpha-slider").value = Math.round(100 * (form.elements.alpha.value.includes("/") ? float(form.elements.alpha.value) : Number(form.elements.alpha.value || 0.8))); } catch { /* the engine will say */ }
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    choices = [];
    expected = null;
    pause();
    showHypothesis();
    views.exact.run(settings());
    refresh();
  }, 250);
}

function begin() {
  for (const [name, family] of Object.entries(model.landscapes)) form.elements.landscape.append(make("option", { value: name }, family.title ? `${name}: ${family.title}` : name));
  for (const name of model.algorithms) form.elements.algorithm.append(make("option", { value: name }, name));
  for (const [key, title] of Object.entries(TABS)) {
    byId("tabs").append(make("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": `view-${key}`, onclick: () => open(key),
      onkeydown: (event) => {
        const names = Object.keys(TABS), k = names.indexOf(key);
        const next = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: names.length - 1 }[event.key];
        if (next === undefined) return;
        event.preventDefault();
        const name = names[(next + names.length) % names.length];
        open(name);
        byId(`tab-${name}`).focus();
      } }, title));
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", changed);
  for (const name of ["n", "ell", "alpha", "gamma", "r"]) form.elements[name].addEventListener("input", changed);
  const slide = (id, write) => byId(id).addEventListener("input", (event) => { write(event.target.value); changed(); });
  slide("n-slider", (v) => {
    form.elements.n.value = v;
    const range = model.landscapes[form.elements.landscape.value].ell[v];
    if (range && range[1] > 0) form.elements.ell.value = Math.min(Math.max(Number(form.elements.ell.value), range[0]), range[1]);
  });
  slide("ell-slider", (v) => { form.elements.ell.value = v; });
  slide("alpha-slider", (v) => { form.elements.alpha.value = `${v}/100`; });
  slide("r-slider", (v) => { if (hypothesis) form.elements.r.value = between(hypothesis.lower, hypothesis.upper, v); });
  byId("paper").addEventListener("click", () => { for (const name of ["alpha", "gamma", "r"]) form.elements[name].value = ""; changed(); });
  byId("map-start").addEventListener("click", startMap);
  byId("run-start").addEventListener("click", startRun);
  views.map.body.append(make("p", { className: "note" }, "A map takes a while: a fraction of a second per point. It can be cancelled."));
  open("walk");
  changed();
  document.documentElement.dataset.ready = "yes";
}

begin();
