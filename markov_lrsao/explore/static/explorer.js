// The explorer: settings in, questions to the engine, answers shown.
"use strict";

const { html } = Base;
const { between, float } = Numbers;
const byId = (id) => document.getElementById(id);
const model = JSON.parse(byId("model").textContent);
const token = new URLSearchParams(location.search).get("token");
const form = byId("form");
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
  const response = await fetch("api/ask", { method: "POST", signal, headers: { "Content-Type": "application/json", "X-Token": token }, body: JSON.stringify({ view, settings: given, run }) });
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
    this.clock = html("span");
    this.working = html("div", { class: "working", hidden: true }, this.clock, html("button", { type: "button", onclick: () => this.stop("Cancelled.") }, "Cancel"));
    this.message = html("p", { class: "error", role: "alert", hidden: true });
    this.code = html("code");
    this.copy = html("button", { type: "button", onclick: () => this.copied() }, "Copy");
    this.command = html("div", { class: "command", hidden: true }, this.code, this.copy);
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
    this.message.hidden = !text;
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
      else this.show(found.answer, this.body);
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

// -- what the views need to know of each other --------------------------------------------------

let expected = null; // E[T] as a float, for the range of the law
let hypothesis = null; // what (H) says at the present setting
let choices = []; // the steps of the walk
const player = { timer: 0, at: 0, shown: null };

function showExact(answer, body) {
  const { total } = answer;
  expected = total.decimal ? Number(total.decimal) : total.upper && total.upper !== "inf" ? Number(total.upper) : null;
  Shown.exact(answer, body);
  say(`E[T] = ${Numbers.amount(total)}`);
}

// -- the map ---------------------------------------------------------------------------------------

/** Set alpha and the place of r in (H); the engine says where (H) begins and ends at that alpha. */
async function choose(alpha, place) {
  const hundredths = Math.min(Math.max(Math.round(1000 * alpha), 1), 999), text = Numbers.reduced(BigInt(hundredths), 1000n);
  form.elements.alpha.value = text;
  form.elements.r.value = "";
  const found = await ask("walk", { ...settings(), choices: "", steps: "0" }, true);
  const h = found.answer && found.answer.hypothesis_h;
  if (h) form.elements.r.value = between(h.lower, h.upper, 1e6 * Math.round(1000 * place) / 1000);
  say(`alpha = ${text}, r = ${Base.shorten(form.elements.r.value, 40)}`);
  changed();
}

function showMap(answer, body) {
  let here = null;
  if (hypothesis) {
    const [l, u, r] = [hypothesis.lower, hypothesis.upper, hypothesis.r].map(float);
    here = [float(hypothesis.alpha), (r - l) / (u - l)];
  }
  Shown.map(answer, body, here, choose);
}

function startMap() {
  const [columns, rows] = byId("map-size").value.split("x");
  const { n, ell, gamma, landscape, algorithm } = settings();
  if (landscape !== "jump" || algorithm !== "lrsao") { views.map.stop("The map is there for LRSAO on jump."); return; }
  views.map.run({ n, ell, gamma: gamma || "", alphas: `${byId("map-from").value}:0.99@${columns}`, places: `0.02:0.98@${rows}` });
}

// -- walks and runs -----------------------------------------------------------------------------------

function step(change) {
  if (views.walk.controller) return; // the row shown is no longer the present one
  change();
  refresh();
}

function showWalk(answer, body) {
  const { now } = answer;
  Shown.walk(answer, body, choices.length > 0, { go: (s) => step(() => choices.push(s)), back: () => step(() => choices.pop()), again: () => step(() => { choices = []; }) });
  views.row.now = now;
  const given = { ...settings(), row: `${now.position}` };
  if (answer.finished) views.row.stop();
  else if (views.row.last && views.row.asked === JSON.stringify(given)) Shown.row(views.row.last, views.row.body, now);
  else views.row.run(given);
}

function showRow(answer, body) {
  views.row.last = answer;
  Shown.row(answer, body, views.row.now);
}

function pause() {
  clearInterval(player.timer);
  player.timer = 0;
  if (byId("play")) byId("play").textContent = "Play";
}

function showRun(answer, body) {
  pause();
  const shown = Shown.run(answer, body);
  const go = (t) => {
    player.at = Math.min(Math.max(t, 0), shown.last);
    shown.go(player.at);
    if (player.at >= shown.last) pause();
  };
  const tick = () => { player.timer = setInterval(() => go(player.at + 1), 1000 / Number(shown.speed.value)); byId("play").textContent = "Pause"; };
  byId("play").addEventListener("click", () => { if (player.timer) pause(); else { if (player.at >= shown.last) go(0); tick(); } });
  byId("one-step").addEventListener("click", () => { pause(); go(player.at + 1); });
  shown.slider.addEventListener("input", () => { pause(); go(Number(shown.slider.value)); });
  shown.speed.addEventListener("input", () => { if (player.timer) { clearInterval(player.timer); tick(); } });
  go(0);
}

// -- tabs -------------------------------------------------------------------------------------------

const views = { exact: new View("exact", showExact), regime: new View("regime", Shown.regime), law: new View("law", Shown.law), sites: new View("sites", Shown.sites), map: new View("map", showMap),
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
  if (name !== "run") pause();
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
    const { answer } = found;
    hypothesis = answer && answer.hypothesis_h ? { ...answer.hypothesis_h, alpha: answer.alpha, gamma: answer.gamma, r: answer.r } : null;
    if (!hypothesis) { line.textContent = ""; return; }
    const { lower, upper, holds, r, alpha, gamma } = hypothesis;
    line.textContent = `(H) ${holds ? "holds" : "does not hold"}: ${Base.shorten(lower, 30)} < r < ${Base.shorten(upper, 30)}, r = ${Base.shorten(r, 30)}`;
    const share = (float(r) - float(lower)) / (float(upper) - float(lower));
    if (Number.isFinite(share) && document.activeElement !== byId("r-slider")) byId("r-slider").value = Math.round(100 * share);
    byId("gamma-slider").value = Math.round(100 * float(gamma));
    const { landscape, n, ell } = settings();
    if (landscape === "jump" && n && ell && hypothesis) views.regime.run({ n, ell, gamma, alpha, r });
    else views.regime.stop();
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
  for (const name of ["alpha", "gamma"]) form.elements[name].disabled = byId(`${name}-slider`).disabled = !learns;
  form.elements.r.disabled = byId("r-slider").disabled = !lrsao;
  byId("view-regime").hidden = !lrsao || form.elements.landscape.value !== "jump";
  const alpha = float(form.elements.alpha.value || "4/5");
  if (Number.isFinite(alpha)) byId("alpha-slider").value = Math.round(100 * alpha);
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
  for (const [name, family] of Object.entries(model.landscapes)) form.elements.landscape.append(html("option", { value: name }, family.title ? `${name}: ${family.title}` : name));
  for (const name of model.algorithms) form.elements.algorithm.append(html("option", { value: name }, name));
  const names = Object.keys(TABS);
  names.forEach((key, k) => byId("tabs").append(html("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": `view-${key}`, onclick: () => open(key),
    onkeydown: (event) => {
      const next = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: names.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      const name = names[(next + names.length) % names.length];
      open(name);
      byId(`tab-${name}`).focus();
    } }, TABS[key])));
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
  slide("gamma-slider", (v) => { form.elements.gamma.value = `${v}/100`; });
  slide("r-slider", (v) => { if (hypothesis) form.elements.r.value = between(hypothesis.lower, hypothesis.upper, 1e4 * v); });
  byId("paper").addEventListener("click", () => { for (const name of ["alpha", "gamma", "r"]) form.elements[name].value = ""; changed(); });
  byId("map-start").addEventListener("click", startMap);
  byId("run-start").addEventListener("click", () => { pause(); views.run.run({ ...settings(), seed: byId("seed").value, steps: byId("run-steps").value }); });
  views.map.body.append(html("p", { class: "note" }, "A map takes a while: a fraction of a second per point and area. It can be cancelled."));
  open("walk");
  changed();
  document.documentElement.dataset.ready = "yes";
}

begin();
