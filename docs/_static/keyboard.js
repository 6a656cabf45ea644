// Return the message in the language of the page (see words.js), with {0} replaced by the first value.
const _ = (text, ...values) => (window.words?.[text] ?? text).replace(/\{(\d)\}/g, (match, i) => values[i]);
// Return a new element; the scripts of figures use it, too.
const make = (tag, properties, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};
// What a screen reader is told.
const status = make("div", { className: "visually-hidden", role: "status" });
document.body.append(status);
// The theme restores where the sidebar was; its entry of this page stays in view.
const showEntry = () => document.querySelector(".bd-sidenav .active > a")?.scrollIntoView({ block: "nearest" });
addEventListener("load", showEntry);
addEventListener("resize", showEntry);
// The tab key stops at what scrolls sideways, only as long as it scrolls. The theme's own script
// ignores folds that open, and takes a rounded fraction for a scrolling pixel.
const scrollable = "pre, div.math, .cell_output > .output, .pst-scrollable-table-container";
const updateStop = ({ target }) => {
  const wide = target.scrollWidth - target.clientWidth;
  const clipped = getComputedStyle(target).overflowY === "hidden";
  const high = clipped ? 0 : target.scrollHeight - target.clientHeight;
  const scrolls = Math.max(wide, high) > 1;
  if (scrolls === target.tabIndex >= 0) return;
  if (scrolls) target.tabIndex = 0;
  else target.removeAttribute("tabindex");
};
const sizes = new ResizeObserver((entries) => entries.forEach(updateStop));
const stops = new MutationObserver((records) => records.forEach(updateStop));
document.querySelectorAll(scrollable).forEach((element) => {
  sizes.observe(element);
  stops.observe(element, { attributeFilter: ["tabindex"] });
});
// The link to the other language keeps the section and the search.
document.querySelectorAll("a.language").forEach((link) => {
  link.onclick = () => {
    link.hash = location.hash;
  };
});
// The search in the dialog is loaded when it opens.
const searchDialog = document.querySelector("#pst-search-dialog");
searchDialog?.addEventListener("toggle", () => {
  const finder = searchDialog.querySelector(".finder");
  if (finder) document.head.append(make("script", { src: `${finder.dataset.files}search.js?v=${finder.dataset.version}` }));
}, { once: true });
// The Markdown of the page, for a chat or a note; a browser fetches none beside an opened file.
const copyPage = document.querySelector(".copy-page");
if (copyPage) {
  copyPage.hidden = location.protocol === "file:";
  copyPage.onclick = async () => {
    await navigator.clipboard.writeText(await (await fetch(copyPage.dataset.source)).text());
    status.textContent = _("Copied!");
  };
}
// A figure as a file, in the colors of the light scheme, unless a script replaces it.
document.querySelectorAll("figure[id]:has(svg.drawing):not(#fig-budget, :has([data-votes])) > figcaption").forEach((caption) => {
  const figure = caption.parentNode;
  const onclick = () => {
    const text = new XMLSerializer().serializeToString(figure.querySelector("svg.drawing"));
    const href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    make("a", { href, download: `${figure.id}.svg` }).click();
    URL.revokeObjectURL(href);
  };
  caption.append(make("button", { type: "button", className: "save-figure", title: _("Save this figure"), onclick }, "SVG"));
});
// The theme blurs a pressed button, so a closing menu could not return the focus to it.
document.querySelectorAll(".sidebar-toggle, .theme-switch-button").forEach((button) => {
  button.blur = () => {};
});
// Copying leaves the focus on a removed text field, and shows its result to the eye only.
document.addEventListener("click", ({ target }) => {
  const button = target.closest(".copybtn");
  if (!button) return;
  button.focus();
  status.textContent = "";
  setTimeout(() => (status.textContent = button.dataset.tooltip), 100); // a change is announced
});
