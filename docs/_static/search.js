/* The search page: shows what find.js finds, with the place and an excerpt, as one types. */
(() => {
  "use strict";
  const form = document.querySelector(".search-form");
  const [input, status, nothing, found, more] = ["input", ".search-status", ".search-nothing", ".search-found", ".search-more"]
    .map(name => document.querySelector(`.search-page ${name}`));
  const ENGINE = ["minisearch/minisearch.min.js", "search-sections.js", "find.js"];
  const STEP = 10; // results at a time
  // Words before a hit, and of an excerpt; in Chinese clauses.
  const [AROUND, LONGEST] = document.documentElement.lang.startsWith("zh") ? [1, 5] : [12, 40];

  // The words that matched, marked; what does not match stays text.
  const marked = (text, matches) => text.split(/([\p{L}\p{N}_]+)/u).map((piece, i) => {
    if (i % 2 === 0 || !matches(piece).length) return piece;
    const mark = document.createElement("mark");
    mark.textContent = piece;
    return mark;
  });
  const hits = result => word => siteSearch.terms(word).filter(term => result.terms.includes(term));

  // The stretch of the text that has most of the words asked for.
  const excerpt = (text, matches) => {
    const all = text.split(/(?<= )|(?<=[，。；：！？])/), at = all.map(matches);
    let best = 0, most = -1;
    for (let from = 0; !from || from + LONGEST <= all.length + AROUND; from++) {
      const words = new Set(at.slice(from, from + LONGEST).flat());
      if (words.size > most) [best, most] = [from, words.size];
    }
    const first = at.findIndex((each, i) => i >= best && each.length), start = first - best > AROUND ? first - AROUND : best;
    const from = start < AROUND ? 0 : start;
    const shown = all.slice(from, from + LONGEST).join("").trimEnd();
    return `${from ? "… " : ""}${shown}${from + LONGEST < all.length ? " …" : ""}`;
  };

  const element = (name, className, ...children) => {
    const made = document.createElement(name);
    made.className = className;
    made.append(...children);
    return made;
  };
  const item = result => {
    const { url, title, above, texts, ofError, i } = siteSearch.entries[result.id], matches = hits(result);
    const link = element("a", "", ...marked(title, matches));
    link.href = url;
    const text = excerpt((siteTexts[texts] || [])[i] || "", ofError.length ? () => [] : matches); // an error's cause comes first
    return element("li", "",
      element("p", "search-title", link),
      element("p", "search-above", above.join(" › ")),
      element("p", "search-excerpt", ...marked(text, matches)));
  };

  // The index comes with the first letter; the texts of a page when one of its sections is shown, without them no excerpt.
  const loading = new Map();
  const load = name => {
    if (!loading.has(name)) loading.set(name, new Promise(done => {
      const script = element("script", ""), src = `${form.dataset.files}${name}?v=${form.dataset.version}`;
      Object.assign(script, { src, async: false, onload: done, onerror: done });
      document.head.append(script); // which run in this order
    }));
    return loading.get(name);
  };

  let results = [], latest = "";
  const next = () => results.slice(found.children.length, found.children.length + STEP);
  const loadNext = () => Promise.all(next().map(({ id }) => load(`sections/${siteSearch.entries[id].texts}`)));
  const showNext = () => {
    const items = next().map(item);
    found.append(...items);
    more.hidden = found.children.length >= results.length;
    return items[0];
  };
  const show = async () => {
    const text = input.value.trim();
    if (text === latest) return;
    latest = text;
    await Promise.all(ENGINE.map(load));
    if (!window.siteSearch) status.textContent = _("The index could not be loaded; try to load the page again.");
    await siteSearch.ready;
    if (text !== latest) return;
    const { errors, words } = siteSearch.find(text);
    results = text ? [...errors, ...words] : [];
    found.replaceChildren();
    await loadNext();
    if (text !== latest) return;
    showNext();
    nothing.hidden = !text || results.length > 0;
    const count = results.length === 1 ? _("1 section, the best first") : _("{0} sections, the best first", results.length);
    status.textContent = !text ? "" : results.length ? count : _("Nothing found.");
    found.dataset.asked = text;
    try {
      history.replaceState(null, "", text ? `?q=${encodeURIComponent(text)}` : location.pathname);
    } catch { /* some browsers refuse it for a file */ }
  };
  more.onclick = async () => {
    const asked = latest;
    await loadNext();
    if (asked === latest) showNext().querySelector("a").focus();
  };

  let timer;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 150); // a screen reader is told once, not at each key
  });
  form.addEventListener("submit", event => {
    event.preventDefault();
    clearTimeout(timer);
    show();
  });
  input.value = (new URLSearchParams(location.search).get("q") || "").replace(/\s+/g, " ");
  input.focus();
  show();
})();
