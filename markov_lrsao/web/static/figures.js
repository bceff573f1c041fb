// A figure from its data: the drawing, the table behind it, and its notes.
"use strict";

const Figures = (() => {
  const { html, known, number, overflowing, shorten } = Base;

  /** Draw a figure's data into the element's `.canvas`, and unfold the data below it. */
  function draw(figure, data) {
    const host = figure.querySelector(".canvas");
    if (data.kind === "graph") Graphs.graph(host, data);
    else if (data.kind === "map") Maps.map(host, data);
    else Charts.chart(host, data);
    extras(figure, data);
  }

  function rows(data) {
    if (data.kind === "graph") {
      const names = new Map(data.nodes.map((n) => [n.id, String(n.label).split("\n")[0]]));
      return [["from", "to", "step", "probability"], ...data.edges.map((e) => [names.get(e.source), names.get(e.target), e.label.replaceAll("\n", " "), e.probability])];
    }
    if (data.kind === "map") {
      const g = data.grid;
      return [[data.x.label || "x", data.y.label || "y", g.label || "value", "exact"], ...g.y.flatMap((y, j) => g.x.map((x, i) => [x, y, g.values[j][i], g.exact ? g.exact[j][i] : ""]))];
    }
    return [["series", data.x.label || "x", data.y.label || "y", "low", "high", "exact"],
      ...data.series.flatMap((s) => s.x.map((x, i) => [s.name, x, ...[s.y, s.low, s.high, s.exact].map((column) => (column && known(column[i]) ? column[i] : ""))]))];
  }

  function csv(table) {
    const cell = (v) => (/[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v ?? ""));
    return `${table.map((row) => row.map(cell).join(",")).join("\n")}\n`;
  }

  function extras(figure, data) {
    const table = rows(data);
    const fold = html("details", { class: "data" }, html("summary", {}, `Data table (${(table.length - 1).toLocaleString("en")} rows)`));
    fold.addEventListener("toggle", () => { if (fold.open && !fold.querySelector("table")) fold.append(dataTable(data, table)); });
    figure.append(fold);
    const notes = Object.entries(data.notes || {});
    if (!notes.length) return;
    const list = html("dl", { class: "notes" });
    for (const [name, value] of notes) {
      const shown = typeof value === "object" ? JSON.stringify(value) : typeof value === "number" ? number(value) : String(value);
      list.append(html("dt", {}, name), html("dd", {}, shorten(shown, 2000)));
    }
    figure.append(html("details", { class: "more" }, html("summary", {}, "Notes"), list));
  }

  function dataTable(data, table) {
    const save = html("button", { type: "button", onclick: () => {
      const link = html("a", { download: `${data.name}.csv`, href: URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" })) });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000); // the browser may still be reading
    } }, "Save as CSV");
    const numeric = (v) => typeof v === "number";
    const cell = (v) => html("td", { class: numeric(v) ? "number" : null }, numeric(v) ? number(v, 12) : shorten(String(v ?? ""), 60));
    const box = html("div", { class: "data-table", role: "region", tabindex: "0", "aria-label": `Data of ${data.title}` }, html("table", {},
      html("thead", {}, html("tr", {}, ...table[0].map((t) => html("th", { scope: "col" }, t)))), html("tbody", {}, ...table.slice(1).map((row) => html("tr", {}, ...row.map(cell))))));
    return html("div", {}, html("div", { class: "tools" }, save), overflowing(box));
  }

  return { draw };
})();
