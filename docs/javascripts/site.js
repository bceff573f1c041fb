// What the theme leaves out for those who use keyboards and screen readers: tables and code that
// scroll can be focused; the search, and the bar of each block of code, have names of their own.
(() => {
  const mend = () => {
    for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
      if (!part.hasAttribute("tabindex")) part.tabIndex = 0;
    }
    const search = document.querySelector("[data-md-component=search]");
    if (search && !search.ariaLabel) search.ariaLabel = "Search";
    document.querySelectorAll("nav.md-code__nav").forEach((bar, k) => {
      if (!bar.ariaLabel) bar.ariaLabel = `Code ${k + 1}`;
    });
  };
  const start = () => {
    mend();
    new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
