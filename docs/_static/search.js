/* The field of the search page and of the page of symptoms: shows the results of find.js while one types,
   each with its page and the sentence that answers. The text is not sent anywhere. */
(() => {
  "use strict";
  const finder = document.querySelector(".finder");
  const [form, input, status, nothing, list, more] = ["form", "textarea", ".search-status", ".search-nothing", ".search-found", ".search-more"]
    .map(name => finder.querySelector(name));
  const STEP = 4; // results at a time
  const PATIENCE = 60; // milliseconds until results are shown without their sentences
  const MAX_SENTENCE = 320, MAX_ADDRESS = 500; // characters

  const element = (name, className, ...children) => {
    const node = document.createElement(name);
    node.className = className;
    node.append(...children);
    return node;
  };
  // The index is loaded when the field is used first, and the texts of a page with its first result.
  const loading = new Map();
  const load = name => {
    if (!loading.has(name)) loading.set(name, new Promise(resolve => {
      const script = element("script", ""), src = `${finder.dataset.files}${name}?v=${finder.dataset.version}`;
      Object.assign(script, { src, async: false, onload: resolve, onerror: resolve });
      document.head.append(script); // with async: false, scripts run in this order
    }));
    return loading.get(name);
  };
  const loadEngine = () => Promise.all(["search-sections.js", "find.js"].map(load));

  // The text with its matching words in <mark>.
  const mark = (text, weights) => text.split(/([\p{L}\p{N}_]+)/u).map((piece, i) => (
    i % 2 && siteSearch.terms(piece).some(term => weights.has(term)) ? element("mark", "", piece) : piece));
  // The sentence with most of the query's words; a table's row is a sentence.
  const findSentence = (text, weights) => {
    const sentences = text.match(/[^\n]+?(?:[.?!](?=\s)|[。？！])|[^\n]+/g) || [""];
    const rate = sentence => [...new Set(siteSearch.terms(sentence))].reduce((total, term) => total + (weights.get(term) || 0), 0);
    const rates = sentences.map(rate), best = sentences[rates.indexOf(Math.max(...rates))].trim();
    return best.length > MAX_SENTENCE ? `${best.slice(0, MAX_SENTENCE).replace(/\s+\S*$/, "")} …` : best;
  };
  const createItem = ({ id, weights, isError }) => {
    const { url, title, parents, texts, i } = siteSearch.entries[id];
    const link = element("a", "", ...mark(title, weights)), sentence = element("p", "search-sentence");
    link.href = url;
    if (url.startsWith("../")) link.hreflang = "en"; // a page without a translation
    load(`sections/${texts}`).then(() => {
      const text = (window.siteTexts[texts] || [])[i] || "";
      sentence.append(...mark(findSentence(text, isError ? new Map() : weights), weights)); // of an error the first, which is its cause
    });
    const above = [...(isError ? [_("The error in your text")] : []), ...parents].join(" › ");
    return element("li", isError ? "search-error" : "", element("p", "search-title", link), element("p", "search-above", above), sentence);
  };

  let results = [], latest, timer;
  const next = () => results.slice(list.children.length, list.children.length + STEP);
  const loadNext = () => Promise.all(next().map(({ id }) => load(`sections/${siteSearch.entries[id].texts}`)));
  const describe = (text, errors) => {
    if (!text) return "";
    if (!results.length) return _("Nothing found.");
    if (!errors && /\b[A-Z]\w*(Error|Exception): /.test(text)) return _("This error is not explained here; these sections have its words.");
    return results.length === 1 ? _("1 section, the best first") : _("{0} sections, the best first", results.length);
  };
  const show = async () => {
    const text = input.value.trim(), first = latest === undefined;
    if (text === latest) return;
    latest = text;
    if (text) await loadEngine();
    if (text && !window.siteSearch) status.textContent = _("The index could not be loaded; try to load the page again.");
    if (text !== latest) return;
    const { errors, words } = text ? siteSearch.find(text) : { errors: [], words: [] };
    results = [...errors, ...words];
    list.replaceChildren();
    const texts = loadNext();
    await (first ? texts : Promise.race([texts, new Promise(resolve => setTimeout(resolve, PATIENCE))]));
    if (text !== latest) return;
    list.replaceChildren(...next().map(createItem));
    more.hidden = list.children.length >= results.length;
    nothing.hidden = !text || results.length > 0;
    clearTimeout(timer);
    timer = setTimeout(() => (status.textContent = describe(text, errors.length)), first ? 0 : 400); // announced once, not for each key
    await texts;
    if (text !== latest) return; // a later search, whose texts were there, has finished already
    list.dataset.query = text;
    try {
      history.replaceState(null, "", text && text.length < MAX_ADDRESS ? `?q=${encodeURIComponent(text)}` : location.pathname);
    } catch { /* some browsers do not allow it for files */ }
  };
  more.onclick = () => {
    const items = next().map(createItem);
    list.append(...items);
    more.hidden = list.children.length >= results.length;
    items[0].querySelector("a").focus();
  };
  input.addEventListener("focus", loadEngine);
  input.addEventListener("input", show);
  input.addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  const dialog = document.querySelector("#pst-search-dialog"); // the theme's field, which Ctrl+K opens
  dialog?.addEventListener("toggle", () => {
    if (!dialog.open) return;
    dialog.close();
    input.focus();
  });
  form.addEventListener("submit", event => {
    event.preventDefault();
    show();
  });
  input.value = new URLSearchParams(location.search).get("q") || "";
  if (input.rows < 5) input.focus();
  show();
})();
