// What scrolls sideways is a stop of the tab key for as long as it scrolls: the theme's own script
// looks again when the window changes, but not when a fold opens.
const frames = "pre, .cell_output > .output, .pst-scrollable-table-container";
const watch = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    const scrolls = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
    if (scrolls) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
document.querySelectorAll(frames).forEach((frame) => watch.observe(frame));
