// What scrolls sideways is a stop of the tab key for as long as it scrolls: the theme's own script
// looks again when the window changes, but not when a fold opens.
const frames = "pre, .cell_output > .output, .pst-scrollable-table-container";
const watch = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    const wide = target.scrollWidth - target.clientWidth, high = target.scrollHeight - target.clientHeight;
    const scrolls = Math.max(wide, high) > 1; // a difference of one is a fraction, rounded
    if (scrolls) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
document.querySelectorAll(frames).forEach((frame) => watch.observe(frame));
