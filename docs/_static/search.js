/* The search page: shows the results of find.js, with their pages and excerpts, while one types. */
(() => {
  "use strict";
  const form = document.querySelector(".search-form");
  const [input, status, noResults, list, more] = ["input", ".search-status", ".search-nothing", ".search-found", ".search-more"]
    .map(name => document.querySelector(`.search-page ${name}`));
  const ENGINE = ["minisearch/minisearch.min.js", "search-sections.js", "find.js"];
  const STEP = 10; // results at a time
  // Words before a match, and of an excerpt; clauses in Chinese.
  const [CONTEXT, LENGTH] = document.documentElement.lang.startsWith("zh") ? [1, 5] : [12, 40];

  // The text with its matching words in <mark>.
  const marked = (text, matches) => text.split(/([\p{L}\p{N}_]+)/u).map((piece, i) => {
    if (i % 2 === 0 || !matches(piece).length) return piece;
    const mark = document.createElement("mark");
    mark.textContent = piece;
    return mark;
  });
  const matcher = result => word => siteSearch.terms(word).filter(term => result.terms.includes(term));

  // The part of the text with most of the query's words.
  const excerpt = (text, matches) => {
    const pieces = text.split(/(?<= )|(?<=[，。；：！？])/), matched = pieces.map(matches);
    let best = 0, maximum = -1;
    for (let from = 0; !from || from + LENGTH <= pieces.length + CONTEXT; from++) {
      const words = new Set(matched.slice(from, from + LENGTH).flat());
      if (words.size > maximum) [best, maximum] = [from, words.size];
    }
    const first = matched.findIndex((terms, i) => i >= best && terms.length), start = first - best > CONTEXT ? first - CONTEXT : best;
    const from = start < CONTEXT ? 0 : start;
    const part = pieces.slice(from, from + LENGTH).join("").trimEnd();
    return `${from ? "… " : ""}${part}${from + LENGTH < pieces.length ? " …" : ""}`;
  };

  const element = (name, className, ...children) => {
    const node = document.createElement(name);
    node.className = className;
    node.append(...children);
    return node;
  };
  const item = result => {
    const { url, title, parents, texts, errorTerms, i } = siteSearch.entries[result.id], matches = matcher(result);
    const link = element("a", "", ...marked(title, matches));
    link.href = url;
    const text = excerpt((siteTexts[texts] || [])[i] || "", errorTerms.length ? () => [] : matches); // of an error the beginning, which is its cause
    return element("li", "",
      element("p", "search-title", link),
      element("p", "search-above", parents.join(" › ")),
      element("p", "search-excerpt", ...marked(text, matches)));
  };

  // The index is loaded with the first query, and the texts of a page, for excerpts, with its first result.
  const loading = new Map();
  const load = name => {
    if (!loading.has(name)) loading.set(name, new Promise(resolve => {
      const script = element("script", ""), src = `${form.dataset.files}${name}?v=${form.dataset.version}`;
      Object.assign(script, { src, async: false, onload: resolve, onerror: resolve });
      document.head.append(script); // with async: false, scripts run in this order
    }));
    return loading.get(name);
  };

  let results = [], latest = "";
  const next = () => results.slice(list.children.length, list.children.length + STEP);
  const loadNext = () => Promise.all(next().map(({ id }) => load(`sections/${siteSearch.entries[id].texts}`)));
  const showNext = () => {
    const items = next().map(item);
    list.append(...items);
    more.hidden = list.children.length >= results.length;
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
    list.replaceChildren();
    await loadNext();
    if (text !== latest) return;
    showNext();
    noResults.hidden = !text || results.length > 0;
    const count = results.length === 1 ? _("1 section, the best first") : _("{0} sections, the best first", results.length);
    status.textContent = !text ? "" : results.length ? count : _("Nothing found.");
    list.dataset.query = text;
    try {
      history.replaceState(null, "", text ? `?q=${encodeURIComponent(text)}` : location.pathname);
    } catch { /* some browsers do not allow it for files */ }
  };
  more.onclick = async () => {
    const query = latest;
    await loadNext();
    if (query === latest) showNext().querySelector("a").focus();
  };

  let timer;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 150); // announced by screen readers once, not for each key
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
