// A text of a script in the language of the page, whose texts are in words.js; {0} is its first value.
const _ = (text, ...values) => (window.words?.[text] ?? text).replace(/\{(\d)\}/g, (all, i) => values[i]);
// What scrolls sideways is a stop of the tab key for as long as it scrolls. The theme's own script
// looks again when the window changes, but not when a fold opens, and takes a fraction for a line.
const frames = "pre, div.math, .cell_output > .output, .pst-scrollable-table-container";
const look = ({ target }) => {
  const wide = target.scrollWidth - target.clientWidth;
  const cut = getComputedStyle(target).overflowY === "hidden";
  const high = cut ? 0 : target.scrollHeight - target.clientHeight;
  const scrolls = Math.max(wide, high) > 1; // a difference of one is a fraction, rounded
  if (scrolls === target.tabIndex >= 0) return;
  if (scrolls) target.tabIndex = 0;
  else target.removeAttribute("tabindex");
};
const sizes = new ResizeObserver((changes) => changes.forEach(look));
const stops = new MutationObserver((changes) => changes.forEach(look));
document.querySelectorAll(frames).forEach((frame) => {
  sizes.observe(frame);
  stops.observe(frame, { attributeFilter: ["tabindex"] });
});
// The theme takes the focus from a button that is pressed, so a menu that closes could not give it
// back, and the next stop of the tab key would be the last of the page.
document.querySelectorAll("a.language").forEach((link) => {
  link.onclick = () => {
    link.search = location.search;
    link.hash = location.hash;
  };
});
document.querySelectorAll(".sidebar-toggle, .theme-switch-button").forEach((button) => {
  button.blur = () => {};
});
