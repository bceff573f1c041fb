// Sliders over exact values that the engine computed; nothing is computed here but positions.
"use strict";

const Explorer = (() => {
  const { html } = Base;
  const byId = (id) => document.getElementById(id);
  const NAMES = ["left plateau", "slope", "right plateau"];

  function start(values) {
    const modes = [
      { name: "grid", text: `every l, n ≤ ${values.n_max}`, instances: values.grid },
      ...values.schedules.map((s) => ({ name: s.name, text: s.text, instances: s.instances })),
    ].filter((m) => m.instances.length);
    const state = { mode: modes[0] };
    const [nSlider, lSlider] = [byId("n-slider"), byId("l-slider")];

    for (const mode of modes) {
      const input = html("input", { type: "radio", name: "mode", value: mode.name });
      input.checked = mode === state.mode;
      input.addEventListener("change", () => {
        state.mode = mode;
        choose(nearest(sizes(), state.n), state.l);
      });
      byId("modes").append(html("label", {}, input, mode.text));
    }
    const sizes = () => [...new Set(state.mode.instances.map((r) => r.n))];
    const gaps = () => state.mode.instances.filter((r) => r.n === state.n).map((r) => r.l);
    nSlider.addEventListener("input", () => choose(sizes()[Number(nSlider.value)], state.l));
    lSlider.addEventListener("input", () => choose(state.n, gaps()[Number(lSlider.value)]));

    function nearest(list, value) {
      return list.reduce((a, b) => (Math.abs(b - value) < Math.abs(a - value) ? b : a));
    }

    function choose(n, l) {
      state.n = n;
      state.l = nearest(gaps(), l);
      slide(nSlider, byId("n-output"), sizes(), state.n, "n");
      slide(lSlider, byId("l-output"), gaps(), state.l, "l");
      byId("l-control").hidden = state.mode.name !== "grid";
      const row = state.mode.instances.find((r) => r.n === state.n && r.l === state.l);
      byId("results").replaceChildren(...results(row));
      // Read aloud when a control moved; the whole list would be too much.
      if (!byId("explorer").hidden) {
        byId("announcer").textContent = `n = ${row.n}, l = ${row.l}: E[T] = ${round(row.total[1])}`;
      }
      byId("instance-table").replaceChildren(table(row));
    }

    function slide(slider, output, list, value, name) {
      slider.min = 0;
      slider.max = list.length - 1;
      slider.step = 1;
      slider.value = list.indexOf(value);
      slider.disabled = list.length < 2;
      slider.setAttribute("aria-valuetext", `${name} = ${value}`);
      output.textContent = value.toLocaleString("en");
    }

    function table(row) {
      const grid = state.mode.name === "grid";
      const rows = grid ? state.mode.instances.filter((r) => r.n === state.n) : state.mode.instances;
      const caption = grid ? `All gaps at n = ${state.n}` : `${state.mode.text} at all sizes`;
      const head = ["instance", "n", "l", "E[T]", "E[T₁]", "E[T₂]", "E[T₃]", "deviation", "n·Hₙ", "E[T] / n·Hₙ"];
      const body = rows.map((r) => {
        const pick = html("button", { type: "button", "aria-label": `Show n = ${r.n}, l = ${r.l}` }, "show");
        pick.addEventListener("click", () => {
          choose(r.n, r.l);
          const again = byId("instance-table").querySelector('tr[aria-current="true"] button');
          if (again) again.focus();
        });
        const cells = [r.n.toLocaleString("en"), r.l.toLocaleString("en"), round(r.total[1]),
          ...r.phases.map((p) => round(p[1])), round(r.deviation), round(r.coupon[1]), r.ratio.toPrecision(6)];
        return html("tr", { "aria-current": r === row ? "true" : null }, html("td", {}, pick),
          ...cells.map((c) => html("td", { class: "number" }, c)));
      });
      return Base.overflowing(html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption },
        html("table", {}, html("caption", {}, caption),
          html("thead", {}, html("tr", {}, ...head.map((h, k) =>
            html("th", { scope: "col", class: k ? "number" : "" }, h)))),
          html("tbody", {}, ...body))));
    }

    choose(nearest(sizes(), 20), 4); // an instance with some choice of l
    byId("explorer").hidden = false;
  }

  // For the table only: ten significant digits of a decimal text, thousands separated.
  function round(text) {
    const value = Number(text);
    return value.toLocaleString("en", value >= 1e6 ? { maximumFractionDigits: 1 }
      : { minimumSignificantDigits: 8, maximumSignificantDigits: 8 });
  }

  function quantity(name, decimal, fraction, extra = "") {
    const value = html("dd", {}, html("span", { class: "decimal" }, decimal));
    if (fraction) {
      const long = fraction.length > 200;
      value.append(html("code", { class: "fraction", tabindex: long ? "0" : null,
        role: long ? "region" : null, "aria-label": long ? "Exact fraction" : null }, fraction));
    }
    const term = html("dt", {});
    term.innerHTML = name; // our own constant markup, see results()
    return html("div", { class: `quantity ${extra}` }, term, value);
  }

  function results(row) {
    const parts = html("div", { class: "split", role: "img", "aria-label": row.shares
      .map((s, k) => `${NAMES[k]} ${(100 * s).toFixed(1)} percent`).join(", ") });
    row.shares.forEach((s, k) => {
      parts.append(html("span", { class: `s${k + 1}`, style: `flex:${s} 1 0` }));
    });
    const key = html("ul", { class: "split-key", "aria-hidden": "true" }, ...row.shares.map((s, k) =>
      html("li", {}, html("i", { style: `background:var(--phase-${k + 1})` }), `${NAMES[k]} ${(100 * s).toFixed(1)}%`)));
    const list = html("dl", { class: "quantities", "data-n": row.n, "data-l": row.l },
      quantity("E[T]", row.total[1], row.total[0], "total"),
      ...row.phases.map((p, k) => quantity(`E[T<sub>${k + 1}</sub>], ${NAMES[k]}`, p[1], p[0])),
      quantity("standard deviation", row.deviation, ""),
      quantity("variance", row.variance[1], row.variance[0]),
      quantity("n·H<sub>n</sub>, lower bound", row.coupon[1], row.coupon[0]),
      quantity("E[T] / n·H<sub>n</sub>", row.ratio.toPrecision(8), ""));
    const command = `markov-lrsao exact --n ${row.n} --ell ${row.l}`;
    const copy = html("button", { type: "button", class: "copy", "data-copy": command,
      "aria-label": `Copy the command ${command}` }, "Copy");
    return [html("h3", {}, `n = ${row.n.toLocaleString("en")}, l = ${row.l.toLocaleString("en")}`), parts, key, list,
      html("div", { class: "command" }, html("code", {}, command), copy)];
  }

  return { start };
})();
