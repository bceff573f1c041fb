// What holds the page together: theme, copying, filters, folds that open when linked to.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const data = (id) => JSON.parse(byId(id).textContent);
  const announce = (text) => {
    byId("announcer").textContent = "";
    requestAnimationFrame(() => { byId("announcer").textContent = text; });
  };

  // -- theme: system, light, dark
  const THEMES = ["auto", "light", "dark"];
  const ICONS = { auto: "◐", light: "☀", dark: "☾" };
  function setTheme(name) {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    byId("theme-name").textContent = name;
    byId("theme-icon").textContent = ICONS[name];
    byId("theme").setAttribute("aria-label", `Colour theme: ${name === "auto" ? "auto, as the system" : name}`);
    dispatchEvent(new Event("theme"));
  }
  setTheme(document.documentElement.dataset.theme || "auto");
  byId("theme").addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || "auto";
    const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
    setTheme(next);
    announce(`Colour theme: ${next}`);
    try {
      localStorage.setItem("markov-lrsao-theme", next);
    } catch (error) {
      console.info("the theme is not remembered here:", error.message);
    }
  });

  // -- formulas wider than their place scroll in themselves, and the keyboard reaches those
  let awaited = 0;
  function fitFormulas() {
    awaited = 0;
    const formulas = [...document.querySelectorAll("main math")];
    for (const m of formulas) for (const name of ["data-wide", "tabindex"]) m.removeAttribute(name);
    const wide = formulas.filter((m) => m.scrollWidth > m.clientWidth + 1 && m.clientWidth
      || m.getBoundingClientRect().width > m.closest("p, li, dd, td, th, h2, h3, h4, summary, figcaption, caption, div, section, main").clientWidth + 1);
    for (const m of wide) {
      m.setAttribute("data-wide", "");
      m.setAttribute("tabindex", "0");
    }
  }
  const refit = () => { awaited ||= requestAnimationFrame(fitFormulas); };
  new ResizeObserver(refit).observe(byId("main"));
  document.addEventListener("toggle", refit, true);

  // -- copying, also where the clipboard is not open to files
  async function copyText(text) {
    if (navigator.clipboard && window.isSecureContext) {
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch (error) {
        console.info("the clipboard is closed:", error.message);
      }
    }
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const done = await copyText(button.dataset.copy);
    button.textContent = done ? "Copied" : "Select it";
    button.focus();
    announce(done ? "Copied" : "Copying is not possible here; select the command instead");
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });

  // -- statements: by verdict, by words
  const statements = [...document.querySelectorAll(".statement")];
  const words = new Map(statements.map((s) => [s, s.textContent.toLowerCase()]));
  const filters = [...document.querySelectorAll("[data-filter]")];
  let wanted = "";
  function filter() {
    const text = byId("statement-search").value.trim().toLowerCase();
    let count = 0;
    for (const s of statements) {
      const kind = !wanted || s.dataset.verdict === wanted || (wanted === "ERRATA" && Number(s.dataset.errata) > 0);
      s.hidden = !(kind && words.get(s).includes(text));
      count += !s.hidden;
    }
    byId("statement-count").textContent = `${count} of ${statements.length} shown`;
  }
  for (const button of filters) {
    button.addEventListener("click", () => {
      wanted = button.dataset.filter;
      for (const b of filters) b.setAttribute("aria-pressed", String(b === button));
      filter();
    });
  }
  byId("statement-search").addEventListener("input", filter);
  byId("unfold-all").addEventListener("click", () => {
    const open = byId("unfold-all").getAttribute("aria-expanded") !== "true";
    for (const s of statements) s.open = open;
    byId("unfold-all").setAttribute("aria-expanded", String(open));
    byId("unfold-all").textContent = open ? "Fold all" : "Unfold all";
  });
  filter();

  // -- a link to a fold opens it, and what contains it
  function reveal() {
    const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.classList.contains("statement") && target.hidden) {
      wanted = "";
      byId("statement-search").value = "";
      for (const b of filters) b.setAttribute("aria-pressed", String(b.dataset.filter === ""));
      filter();
    }
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    target.scrollIntoView();
    if (target.tagName === "DETAILS") target.querySelector("summary").focus({ preventScroll: true });
  }

  // -- where on the page
  const links = new Map([...document.querySelectorAll(".bar nav a")].map((a) => [a.hash.slice(1), a]));
  const spy = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const a of links.values()) a.removeAttribute("aria-current");
      links.get(entry.target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  for (const id of links.keys()) spy.observe(byId(id));

  // -- printing: what is refuted is unfolded on paper
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll('.statement[data-verdict="REFUTED"], .statement[data-verdict="REFUTED"] .counterexample')]
      .filter((d) => !d.open);
    for (const d of opened) d.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const d of opened) d.open = false;
  });

  Explorer.start(data("data-values"));
  const top = data("data-hero");
  if (top) Charts.chart(document.querySelector('[data-figure="hero"] .canvas'), top);
  for (const figure of data("data-figures")) {
    Figures.draw(document.querySelector(`[data-figure="${CSS.escape(figure.name)}"]`), figure);
  }

  // -- tables that are wider than the screen say so, beside their shadow
  for (const box of document.querySelectorAll(".scroll")) Base.overflowing(box);
  window.addEventListener("hashchange", reveal);
  reveal();
  document.documentElement.dataset.ready = "true";
})();
