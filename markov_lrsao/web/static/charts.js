// Charts, drawn by uPlot from the data of a figure: lines, points with bars, bands, steps, bars.
"use strict";

const Charts = (() => {
  const { Field, colour, dashes, html, known, number, pretty, repainted, resolved, svg, tickTexts, ticksOf } = Base;
  const MANY = 60; // lines with more points than this show markers at a few of them only
  const FEW = 9;

  /** Draw a chart; `options.height` of a panel, `options.legend` false: without one. */
  function chart(host, data, options = {}) {
    const state = { hidden: new Set(), y: data.y.scale || "linear", plots: [] };
    const panels = 1 + Math.max(0, ...data.series.map((s) => s.panel || 0));
    const paint = () => {
      const width = Math.floor(host.clientWidth);
      if (width < 40) return;
      host.dataset.width = width;
      for (const plot of state.plots) plot.destroy();
      host.replaceChildren();
      const field = new Field(host, data.title);
      const height = options.height || (panels === 1 ? Math.max(260, Math.min(430, width * 0.56)) : 210);
      state.plots = Array.from({ length: panels }, (_, panel) => draw(field, data, panel, panels, { width, height }, state));
      if (options.legend !== false) legend(host, data, state, paint);
      if (panels === 1 && options.legend !== false) scaleButton(host, data, state, paint);
    };
    repainted(host, paint);
    return { state, paint };
  }

  const usable = (value, log) => known(value) && (!log || value > 0);

  function draw(field, data, panel, panels, size, state) {
    const log = { x: data.x.scale === "log", y: state.y === "log" };
    const members = data.series.map((s, k) => ({ ...s, y: s.y || [], k })).filter((s) => (s.panel || 0) === panel);
    const tables = [], series = [{}], bands = [];
    for (const s of members) {
      const clean = (values) => s.x.map((_, i) => (usable(values[i], log.y) ? values[i] : null));
      const good = s.x.map((x, i) => i).filter((i) => usable(s.x[i], log.x));
      const order = good.sort((a, b) => s.x[a] - s.x[b]);
      const columns = s.kind === "band" ? [clean(s.high), clean(s.low)] : [clean(s.y)];
      tables.push([order.map((i) => s.x[i]), ...columns.map((c) => order.map((i) => c[i]))]);
      const shown = !state.hidden.has(s.k);
      if (s.kind === "band") bands.push({ series: [series.length, series.length + 1], fill: tint(field.host, s, "38") });
      for (const _ of columns) series.push({ show: shown, scale: "y", ...look(field.host, s) });
    }
    const joined = tables.some((t) => t[0].length) ? uPlot.join(tables, tables.map((t) => t.slice(1).map(() => 1))) : [[], ...series.slice(1).map(() => [])];
    const box = html("div");
    field.stage.append(box);
    const plot = new uPlot({
      ...size, series, bands, legend: { show: false }, cursor: { show: false }, pxAlign: false,
      padding: [12, 24, 0, 0],
      scales: { x: { time: false, distr: log.x ? 3 : 1, range: ends(members, log.x) },
        y: { distr: log.y ? 3 : 1, range: data.y.ends ? () => data.y.ends : heights(members, state, log.y) } },
      axes: [axis(field.host, panel === panels - 1 ? data.x.label : "", log.x, size.width / 70, { whole: !log.x && members.every((s) => s.x.every((v) => !known(v) || Number.isInteger(v))) }), axis(field.host, data.y.label, log.y, size.height / 40, { size: 70 })],
      hooks: { draw: [(u) => extras(u, field.host, members, state, log)],
        ready: [(u) => { // its scales are known only then
          for (const s of members) marks(field, u, box, data, s, state, log);
          field.sort();
        }] },
    }, joined, box);
    return plot;
  }

  const tint = (host, s, alpha = "") => `${resolved(host, `--c${(s.colour || 0) % 7}`)}${alpha}`;

  function look(host, s) {
    const stroke = tint(host, s);
    const common = { stroke, points: { show: false } };
    if (s.kind === "points") return { ...common, paths: () => null };
    if (s.kind === "bars") return { ...common, fill: `${stroke}aa`, paths: uPlot.paths.bars({ size: [0.8, 60] }) };
    if (s.kind === "band") return { ...common, width: 0.6, dash: dashes[s.style] || [] };
    if (s.kind === "step") return { ...common, width: 1.8, dash: dashes[s.style] || [], paths: uPlot.paths.stepped({ align: 1 }) };
    return { ...common, width: 2, dash: dashes[s.style] || [] };
  }

  function axis(host, label, log, most, more) {
    const whole = { incrs: [1, 2, 5, 10, 20, 50].flatMap((k) => [1, 100, 1e4, 1e6, 1e8].map((m) => k * m)).sort((a, b) => a - b) };
    const own = more.whole ? whole : log ? { splits: (u, k, low, high) => ticksOf("log", low, high, Math.max(2, most)), filter: (u, ticks) => ticks } : {};
    return { ...own, label: pretty(label), stroke: resolved(host, "--quiet"), grid: { stroke: resolved(host, "--line"), width: 1 }, ticks: { stroke: resolved(host, "--line") },
      font: "12px system-ui, sans-serif", labelFont: "13px system-ui, sans-serif", labelSize: 22, values: (_, ticks) => tickTexts(ticks, log), ...more };
  }

  // -- ranges ---------------------------------------------------------------------------------

  function ends(members, log) {
    const xs = members.flatMap((s) => s.x).filter((v) => usable(v, log));
    const [low, high] = xs.length ? [Math.min(...xs), Math.max(...xs)] : [1, 10];
    if (low === high) return () => (log ? [low / 2, high * 2] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2]);
    const bars = members.some((s) => s.kind === "bars") ? 0.03 : 0;
    return () => (log ? [low / (high / low) ** 0.03, high * (high / low) ** 0.03] : [low - (high - low) * (0.03 + bars), high + (high - low) * (0.03 + bars)]);
  }

  function heights(members, state, log) {
    const seen = members.filter((s) => !state.hidden.has(s.k));
    const values = (seen.length ? seen : members).flatMap((s) => [...s.y, ...(s.low || []), ...(s.high || [])]).filter((v) => usable(v, log));
    const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [log ? 1 : 0, log ? 10 : 1];
    if (log) return () => [low / ((high / low) ** 0.04 || 1.1), high * ((high / low) ** 0.04 || 1.1)];
    const pad = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
    const zero = members.some((s) => s.kind === "bars") || (low >= 0 && low < 0.35 * high);
    return () => [zero ? Math.min(0, low) : low - pad, high + pad];
  }

  // -- what uPlot does not draw: markers of different shapes, and error bars ------------------------

  function extras(u, host, members, state, log) {
    const { ctx } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    const ratio = devicePixelRatio || 1;
    for (const s of members) {
      if (state.hidden.has(s.k) || !["points", "line"].includes(s.kind)) continue;
      ctx.strokeStyle = ctx.fillStyle = tint(host, s);
      ctx.lineWidth = 1.4 * ratio;
      ctx.setLineDash([]);
      const stride = s.kind === "line" && s.x.length > MANY ? Math.floor(s.x.length / FEW) : 1;
      s.x.forEach((x, i) => {
        if (!usable(x, log.x) || !usable(s.y[i], log.y)) return;
        const [px, py] = [u.valToPos(x, "x", true), u.valToPos(s.y[i], "y", true)];
        if (s.kind === "points" && s.low && usable(s.low[i], log.y) && usable(s.high[i], log.y)) {
          ctx.beginPath();
          ctx.moveTo(px, u.valToPos(s.low[i], "y", true));
          ctx.lineTo(px, u.valToPos(s.high[i], "y", true));
          ctx.stroke();
        }
        if (s.kind === "points" || (s.marker && i % stride === 0)) shape(ctx, s.marker, px, py, (s.kind === "points" ? 3.8 : 3) * ratio, s.kind !== "points");
      });
    }
    ctx.restore();
  }

  function shape(ctx, kind, x, y, s, filled) {
    const corners = { s: [[-1, -1], [1, -1], [1, 1], [-1, 1]], "^": [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]], v: [[0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
      D: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]] };
    ctx.beginPath();
    if (corners[kind]) corners[kind].forEach(([a, b], k) => (k ? ctx.lineTo(x + s * a, y + s * b) : ctx.moveTo(x + s * a, y + s * b)));
    else ctx.arc(x, y, s, 0, 2 * Math.PI);
    ctx.closePath();
    if (filled) ctx.fill();
    else ctx.stroke();
  }

  // -- marks for pointer and keys ---------------------------------------------------------------

  function marks(field, u, box, data, s, state, log) {
    const [left, top] = [u.over.offsetLeft + box.offsetLeft, u.over.offsetTop + box.offsetTop];
    s.x.forEach((x, i) => {
      const [low, high] = [s.low && s.low[i], s.high && s.high[i]];
      const middle = s.kind === "band" ? (log.y ? Math.sqrt(low * high) : (low + high) / 2) : s.y[i];
      const values = s.kind === "band" ? [low, high] : [s.y[i]];
      if (!usable(x, log.x) || !values.every((v) => usable(v, log.y))) return;
      const lines = [s.name, `${data.x.label || "x"}: ${number(x)}`];
      if (known(s.y[i])) lines.push(`${data.y.label || "y"}: ${number(s.y[i])}`);
      if (known(low) && known(high)) lines.push(`from ${number(low)} to ${number(high)}`);
      field.add({ x: left + u.valToPos(x, "x"), y: top + u.valToPos(middle, "y"), group: s.k, hidden: state.hidden.has(s.k), lines, exact: s.exact && s.exact[i] });
    });
  }

  // -- legend -----------------------------------------------------------------------------------

  function sample(s) {
    const c = colour(s.colour), icon = svg("svg", { width: 34, height: 12, "aria-hidden": "true" });
    if (s.kind === "band") icon.append(svg("rect", { x: 0, y: 1, width: 34, height: 10, fill: c, "fill-opacity": 0.3 }));
    else if (s.kind === "bars") icon.append(svg("path", { d: "M17 1V11", stroke: c, "stroke-width": 8 }));
    else if (s.kind !== "points") icon.append(svg("path", { d: "M0 6H34", stroke: c, "stroke-width": 2.5, "stroke-dasharray": (dashes[s.style] || []).join(" ") }));
    const d = { s: "M13 2h8v8h-8z", "^": "M17 1l5 9h-10z", v: "M17 11l5 -9h-10z", D: "M17 1l5 5l-5 5l-5 -5z" }[s.marker] || "M13 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z";
    if (s.kind === "points" || (s.marker && s.kind === "line")) icon.append(svg("path", { d, stroke: c, "stroke-width": 1.6, fill: s.kind === "points" ? "none" : c }));
    return icon;
  }

  function legend(host, data, state, paint) {
    const list = html("ul", { class: "keys", "aria-label": "Series" });
    data.series.forEach((s, k) => {
      const button = html("button", { type: "button", "aria-pressed": String(!state.hidden.has(k)), onclick: () => {
        if (!state.hidden.delete(k)) state.hidden.add(k);
        paint();
        host.querySelectorAll(".keys button")[k].focus();
      } }, sample(s), pretty(s.name));
      list.append(html("li", {}, button));
    });
    host.append(list);
  }

  /** A second look at the same data: logarithmic where all values are positive. */
  function scaleButton(host, data, state, paint) {
    const values = data.series.flatMap((s) => [...(s.y || []), ...(s.low || []), ...(s.high || [])]).filter(known);
    if (!values.length || values.some((v) => v <= 0)) return;
    const other = state.y === "log" ? "linear" : "log";
    host.append(html("div", { class: "tools" }, html("button", { type: "button", class: "rescale", onclick: () => {
      state.y = other;
      paint();
      host.querySelector(".rescale").focus();
    } }, `Show a ${other} y-axis`)));
  }

  return { chart };
})();
