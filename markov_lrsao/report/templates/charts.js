// Figures from their data: what a figure shows is its JSON and nothing else, and every datum has
// one mark. Charts (line, points, band, step, bars) are drawn here, with the table behind each.
"use strict";

const Charts = (() => {
  const { Field, axes, colour, dashes, html, known, leftMargin, number, pretty, scale, shape, svg } = Marks;
  const MANY = 60; // lines with more points than this show a dot only where one looks

  function draw(figure, data) {
    const host = figure.querySelector(".canvas");
    const state = { hidden: new Set(), y: data.y ? data.y.scale : "linear" };
    const paint = () => {
      const width = Math.floor(host.clientWidth);
      if (width < 40) return;
      host.replaceChildren();
      if (data.kind === "graph") Graphs.graph(host, data, width);
      else if (data.kind === "map") Maps.map(host, data, width);
      else chart(host, data, width, state, paint);
      host.dataset.width = width;
    };
    paint();
    extras(figure, data);
    new ResizeObserver(() => {
      if (Math.abs(host.clientWidth - Number(host.dataset.width)) > 2) paint();
    }).observe(host);
  }

  // -- charts ---------------------------------------------------------------------------------

  function usable(series, i, log) {
    if (!known(series.x[i])) return false;
    const values = series.kind === "band" ? [series.low[i], series.high[i]] : [series.y[i]];
    return values.every((v) => known(v) && (!log.y || v > 0)) && (!log.x || series.x[i] > 0);
  }

  function extent(values, kind, zero) {
    let [low, high] = [Math.min(...values), Math.max(...values)];
    if (kind === "log") {
      const pad = (high / low) ** 0.04 || 1.1;
      return [low / pad, high * pad];
    }
    const pad = (high - low) * 0.04;
    if (zero || (low >= 0 && low < 0.35 * high)) return [Math.min(0, low), high + pad];
    return [low - pad, high + pad];
  }

  function chart(host, data, width, state, paint) {
    const series = data.series.map((s, k) => ({ ...s, y: s.y || [], k, panel: s.panel || 0 }));
    const log = { x: data.x.scale === "log", y: state.y === "log" };
    const panels = 1 + Math.max(0, ...series.map((s) => s.panel));
    const each = panels === 1 ? Math.max(260, Math.min(430, width * 0.56)) : 190;
    const margin = { right: 14, top: 12, bottom: 46 };
    const gap = 26;
    const height = margin.top + panels * each + (panels - 1) * gap + margin.bottom;
    const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    const field = new Field(host, drawing, data.title);
    host.append(drawing);
    const of = (list, f) => list.flatMap((s) => s.x.flatMap((_, i) => (usable(s, i, log) ? f(s, i) : [])));
    const areas = Array.from({ length: panels }, (_, panel) => {
      const inside = series.filter((s) => s.panel === panel);
      const seen = inside.filter((s) => !state.hidden.has(s.k));
      const values = of(seen.length ? seen : inside, (s, i) =>
        [s.y[i], s.low && s.low[i], s.high && s.high[i]].filter((v) => known(v) && (!log.y || v > 0)));
      const top = margin.top + panel * (each + gap);
      const bars = inside.some((s) => s.kind === "bars");
      const range = values.length ? extent(values, state.y, bars) : [log.y ? 1 : 0, log.y ? 10 : 1];
      return { inside, top, y: scale(state.y, ...range, top + each, top, 46) };
    });
    margin.left = leftMargin(areas.map((a) => a.y));
    const xs = of(series, (s, i) => [s.x[i]]);
    const x = scale(data.x.scale, ...pad(xs, data.x.scale), margin.left, width - margin.right, 80);
    areas.forEach(({ inside, top, y }, panel) => {
      axes(drawing, data, x, y, { top, each, width, margin, last: panel === panels - 1 });
      const order = { band: 0, bars: 1, line: 2, step: 2, points: 3 };
      for (const s of [...inside].sort((a, b) => order[a.kind] - order[b.kind])) {
        plot(drawing, field, data, s, x, y, log, state.hidden.has(s.k));
      }
    });
    field.marks.sort((a, b) => a.group - b.group || a.place - b.place);
    field.ready();
    legend(host, series, state, paint);
    if (panels === 1) scaleButton(host, series, state, paint);
  }

  function pad(values, kind) {
    const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [1, 10];
    if (low === high) return [low, high];
    if (kind === "log") return [low / (high / low) ** 0.03, high * (high / low) ** 0.03];
    return [low - (high - low) * 0.03, high + (high - low) * 0.03];
  }

  function plot(drawing, field, data, s, x, y, log, hidden) {
    const group = svg("g", { class: `series ${s.kind}`, "data-series": s.k }, drawing);
    if (hidden) group.setAttribute("display", "none");
    const paintColour = colour(s.colour);
    const stroke = { stroke: paintColour, "stroke-width": 2, fill: "none",
      "stroke-dasharray": dashes[s.style] || "", "stroke-linejoin": "round" };
    const good = s.x.map((_, i) => usable(s, i, log));
    if (s.kind === "line" || s.kind === "step") svg("path", { d: path(s, good, x, y), ...stroke }, group);
    if (s.kind === "band") {
      svg("path", { d: bandPath(s, good, x, y), fill: paintColour, "fill-opacity": 0.2, stroke: paintColour,
        "stroke-opacity": 0.5, "stroke-dasharray": dashes[s.style] || "" }, group);
    }
    s.x.forEach((value, i) => {
      if (!good[i]) return;
      const mark = svg("g", { "data-index": i }, group);
      const px = x.at(value);
      const middle = s.kind === "band" ? middleOf(s.low[i], s.high[i], log.y) : s.y[i];
      const py = y.at(middle);
      const ghost = (s.kind === "line" && !s.marker && s.x.length > MANY) || s.kind === "step"
        || (s.kind === "line" && s.x.length > MANY);
      if (s.kind === "band") {
        svg("path", { class: "ghost", d: `M${px} ${y.at(s.low[i])}V${y.at(s.high[i])}`, stroke: paintColour,
          "stroke-width": 3 }, mark);
      } else if (s.kind === "bars") {
        const base = y.log ? y.low : 0;
        svg("path", { d: `M${px} ${y.at(base)}V${py}`, stroke: paintColour, "stroke-width": barWidth(s, x),
          "stroke-dasharray": dashes[s.style] || "" }, mark);
      } else {
        const errors = s.kind === "points" && s.low && s.high && known(s.low[i]) && known(s.high[i]);
        if (errors && (!log.y || s.low[i] > 0)) {
          svg("path", { d: `M${px} ${y.at(s.low[i])}V${y.at(s.high[i])}`, stroke: paintColour,
            "stroke-width": 1.4 }, mark);
        }
        const size = s.kind === "points" ? 3.6 : 2.6;
        shape(s.marker, px, py, size, mark, { fill: s.kind === "points" ? "var(--raised)" : paintColour,
          stroke: paintColour, "stroke-width": 1.5, class: ghost ? "ghost" : "" });
      }
      field.add({ element: mark, x: px, y: py, group: s.k, hidden, lines: texts(data, s, i),
        exact: s.exact && s.exact[i] });
    });
  }

  const middleOf = (a, b, log) => (log ? Math.sqrt(a * b) : (a + b) / 2);

  function barWidth(s, x) {
    const at = s.x.filter(known).map((v) => x.at(v));
    const steps = at.slice(1).map((v, i) => Math.abs(v - at[i])).filter((d) => d > 0);
    return Math.max(1.5, Math.min(14, 0.7 * Math.min(...steps, 20)));
  }

  function path(s, good, x, y) {
    let d = "";
    let before = null;
    s.x.forEach((value, i) => {
      if (!good[i]) {
        before = null;
        return;
      }
      const [px, py] = [x.at(value).toFixed(2), y.at(s.y[i]).toFixed(2)];
      if (before === null) d += `M${px} ${py}`;
      else d += s.kind === "step" ? `H${px}V${py}` : `L${px} ${py}`;
      before = py;
    });
    return d;
  }

  function bandPath(s, good, x, y) {
    const at = s.x.map((_, i) => i).filter((i) => good[i]);
    const up = at.map((i) => `${x.at(s.x[i]).toFixed(2)} ${y.at(s.high[i]).toFixed(2)}`);
    const down = at.reverse().map((i) => `${x.at(s.x[i]).toFixed(2)} ${y.at(s.low[i]).toFixed(2)}`);
    return at.length ? `M${[...up, ...down].join("L")}Z` : "";
  }

  function texts(data, s, i) {
    const lines = [s.name, `${data.x.label || "x"}: ${number(s.x[i])}`];
    if (known(s.y[i])) lines.push(`${data.y.label || "y"}: ${number(s.y[i])}`);
    if (s.low && s.high && known(s.low[i]) && known(s.high[i])) {
      lines.push(`from ${number(s.low[i])} to ${number(s.high[i])}`);
    }
    return lines;
  }

  function sample(s) {
    const icon = svg("svg", { width: 26, height: 12, "aria-hidden": "true" });
    const c = colour(s.colour);
    if (s.kind === "band") svg("rect", { x: 0, y: 1, width: 26, height: 10, fill: c, "fill-opacity": 0.3 }, icon);
    else if (s.kind === "bars") svg("path", { d: "M13 1V11", stroke: c, "stroke-width": 8 }, icon);
    else if (s.kind !== "points") {
      svg("path", { d: "M0 6H26", stroke: c, "stroke-width": 2.5, "stroke-dasharray": dashes[s.style] || "" }, icon);
    }
    if (s.kind === "points" || (s.marker && s.kind === "line" && s.x.length <= MANY)) {
      shape(s.marker, 13, 6, 3.6, icon, { stroke: c, "stroke-width": 1.6,
        fill: s.kind === "points" ? "var(--raised)" : c });
    }
    return icon;
  }

  function legend(host, series, state, paint) {
    const list = html("ul", { class: "keys", "aria-label": "Series" });
    for (const s of series) {
      const button = html("button", { type: "button", "aria-pressed": String(!state.hidden.has(s.k)) },
        sample(s), pretty(s.name));
      button.addEventListener("click", () => {
        if (!state.hidden.delete(s.k)) state.hidden.add(s.k);
        paint();
        host.querySelectorAll(".keys button")[s.k].focus();
      });
      list.append(html("li", {}, button));
    }
    host.append(list);
  }

  // A second look at the same data: logarithmic where all values are positive.
  function scaleButton(host, series, state, paint) {
    const values = series.flatMap((s) => [...s.y, ...(s.low || []), ...(s.high || [])]).filter(known);
    if (!values.length || values.some((v) => v <= 0)) return;
    const other = state.y === "log" ? "linear" : "log";
    const button = html("button", { type: "button", class: "rescale" }, `Show a ${other} y-axis`);
    button.addEventListener("click", () => {
      state.y = other;
      paint();
      host.querySelector(".rescale").focus();
    });
    host.append(html("div", { class: "tools" }, button));
  }

  // -- data behind the figure -------------------------------------------------------------------

  function rows(data) {
    if (data.kind === "graph") {
      const names = new Map(data.nodes.map((n) => [n.id, n.label]));
      return [["from", "to", "step", "probability"],
        ...data.edges.map((e) => [names.get(e.source), names.get(e.target), e.label, e.probability])];
    }
    if (data.kind === "map") {
      const g = data.grid;
      return [[data.x.label || "x", data.y.label || "y", g.label || "value", "exact"],
        ...g.y.flatMap((y, j) => g.x.map((x, i) => [x, y, g.values[j][i], g.exact ? g.exact[j][i] : ""]))];
    }
    return [["series", data.x.label || "x", data.y.label || "y", "low", "high", "exact"],
      ...data.series.flatMap((s) => s.x.map((x, i) => [s.name, x, ...[s.y, s.low, s.high, s.exact]
        .map((column) => (column && known(column[i]) ? column[i] : ""))]))];
  }

  function csv(table) {
    const cell = (v) => (/[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v ?? ""));
    return `${table.map((row) => row.map(cell).join(",")).join("\n")}\n`;
  }

  function extras(figure, data) {
    const table = rows(data);
    const fold = html("details", { class: "data" },
      html("summary", {}, `Data table (${(table.length - 1).toLocaleString("en")} rows)`));
    fold.addEventListener("toggle", () => {
      if (fold.open && !fold.querySelector("table")) fold.append(dataTable(data, table));
    });
    figure.append(fold);
    const notes = Object.entries(data.notes || {});
    if (notes.length) {
      const list = html("dl", { class: "notes" });
      for (const [name, value] of notes) {
        const shown = typeof value === "object" ? JSON.stringify(value) : typeof value === "number" ? number(value) : String(value);
        list.append(html("dt", {}, name), html("dd", {}, shown));
      }
      figure.append(html("details", { class: "more" }, html("summary", {}, "Notes"), list));
    }
  }

  function dataTable(data, table) {
    const save = html("button", { type: "button" }, "Save as CSV");
    save.addEventListener("click", () => {
      const link = html("a", { download: `${data.name}.csv`,
        href: URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" })) });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000); // the browser may still be reading
    });
    const box = html("div", { class: "data-table", role: "region", tabindex: "0", "aria-label": `Data of ${data.title}` });
    const numeric = (v) => typeof v === "number";
    box.append(html("table", {},
      html("thead", {}, html("tr", {}, ...table[0].map((t) => html("th", { scope: "col" }, t)))),
      html("tbody", {}, ...table.slice(1).map((row) => html("tr", {}, ...row.map((v) =>
        html("td", { class: numeric(v) ? "number" : "" }, numeric(v) ? number(v, 12) : Marks.shorten(String(v ?? ""), 60))))))));
    return html("div", {}, html("div", { class: "tools" }, save), box);
  }

  return { draw };
})();
