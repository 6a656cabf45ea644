/* The field of the search page, of the page of symptoms, and of the dialog of Ctrl+K: shows the results of
   find.js while one types, each with the sentence that answers. The text is in the fragment of the address,
   which is not sent to a server. */
(() => {
  "use strict";
  const finder = document.querySelector(".finder"), isPage = !finder.closest("dialog");
  const [form, input, status, nothing, list, more] = ["form", "textarea, input", ".search-status", ".search-nothing", ".search-found", ".search-more"]
    .map(name => finder.querySelector(name));
  const STEP = 4; // results at a time
  const PATIENCE = 60; // milliseconds until results are shown without their sentences
  const MAX_SENTENCE = 320, MAX_ADDRESS = 2000; // characters
  const MAX_CAUSES = 3;

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
  const shorten = sentence => (sentence.length > MAX_SENTENCE ? `${sentence.slice(0, MAX_SENTENCE).replace(/\s+\S*$/, "")} …` : sentence);
  // The sentence with most of the query's words, without a heading such as "Causes:"; a table's row is a sentence.
  const findSentence = (text, weights) => {
    const sentences = (text.match(/[^\n]+?(?:[.?!](?=\s)|[。？！])|[^\n]+/g) || [""]).filter((sentence, i) => !i || !/[:：]$/.test(sentence));
    const rate = sentence => [...new Set(siteSearch.terms(sentence))].reduce((total, term) => total + (weights.get(term) || 0), 0);
    const rates = sentences.map(rate);
    return sentences[rates.indexOf(Math.max(...rates))].trim();
  };
  // The sentence of an entry that answers, of an error its causes, and of both an error and a symptom the fix.
  const createAnswer = (text, { kind }, { weights, isError }) => {
    const lines = text.split("\n").filter(line => !/^(Why: |原理)/.test(line)), causes = lines.filter(line => /^\d+\) /.test(line));
    const sentence = isError ? lines[0] : findSentence(lines.join("\n"), weights);
    const items = causes.slice(0, MAX_CAUSES).map(line => element("li", "", ...mark(shorten(line.replace(/^\d+\) /, "")), weights)));
    const fix = kind === "symptom" && lines.find(line => /^(Fix|解决)/.test(line) && !line.startsWith(sentence));
    return [
      element("p", "search-sentence", ...mark(shorten(sentence), weights)),
      ...(isError && causes.length > 1 ? [element("p", "", _("Causes, the likeliest first:")), element("ol", "search-causes", ...items)] : []),
      ...(fix ? [element("p", "search-fix", ...mark(shorten(fix), weights))] : []),
    ];
  };
  const createItem = match => {
    const { id, weights, isError } = match, entry = siteSearch.entries[id], { url, title, parents, texts, i } = entry;
    const link = element("a", "", ...mark(title, weights)), answer = element("div", "search-answer");
    link.href = finder.dataset.root + url;
    if (url.startsWith("../")) link.hreflang = "en"; // a page without a translation
    load(`sections/${texts}`).then(() => answer.append(...createAnswer((window.siteTexts[texts] || [])[i] || "", entry, match)));
    const above = [...(isError ? [_("The error in your text")] : []), ...parents].join(" › ");
    return element("li", isError ? "search-error" : "", element("p", "search-title", link), element("p", "search-above", above), answer);
  };

  let results = [], latest, timer;
  const next = () => results.slice(list.children.length, list.children.length + STEP);
  const loadNext = () => Promise.all(next().map(({ id }) => load(`sections/${siteSearch.entries[id].texts}`)));
  const quote = words => words.map(word => `“${word}”`).join(", ");
  const describe = ({ missing, corrected, isForeign, isRelated }) => {
    const notes = corrected.map(([word, other]) => _("No page mentions {0}; showing {1} instead.", quote([word]), quote([other])));
    if (missing.length) notes.push(_("No page mentions {0}.", quote(missing)));
    if (isForeign && results.length) notes.push(_("This error is not explained here; these sections are related."));
    else if (isRelated && results.length) notes.push(_("These sections are related."));
    else if (results.length) notes.push(results.length === 1 ? _("1 section, the best first") : _("{0} sections, the best first", results.length));
    else if (!missing.length) notes.push(_("Nothing found."));
    return notes.join(" ");
  };
  const show = async () => {
    const text = input.value.trim(), first = latest === undefined;
    if (text === latest) return;
    latest = text;
    if (text) await loadEngine();
    if (text && !window.siteSearch) status.textContent = _("The index could not be loaded; try to load the page again.");
    if (text !== latest) return;
    const answer = text ? siteSearch.find(text) : { errors: [], words: [] };
    results = [...answer.errors, ...answer.words];
    list.replaceChildren();
    const texts = loadNext();
    await (first ? texts : Promise.race([texts, new Promise(resolve => setTimeout(resolve, PATIENCE))]));
    if (text !== latest) return;
    list.replaceChildren(...next().map(createItem));
    more.hidden = list.children.length >= results.length;
    nothing.hidden = !text || results.length > 0;
    clearTimeout(timer);
    timer = setTimeout(() => (status.textContent = text ? describe(answer) : ""), first ? 0 : 400); // announced once, not for each key
    await texts;
    if (text !== latest) return; // a later search, whose texts were there, has finished already
    if (text && siteSections.others === undefined) { // the rest of the index follows the first answer
      await load("search-later.js");
      siteSections.others ??= "";
      window.siteSearch = createSearch();
      latest = "";
      return show();
    }
    list.dataset.query = text;
    if (isPage) saveAddress(text.length < MAX_ADDRESS ? text : "");
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
  form.addEventListener("submit", event => {
    event.preventDefault();
    if (isPage) show();
    else location.assign(`${finder.dataset.root}search.html#q=${encodeURIComponent(input.value.trim().slice(-MAX_ADDRESS + 1))}`);
  });
  const dialog = document.querySelector("#pst-search-dialog"); // of the theme, which Ctrl+K opens
  if (isPage) dialog?.addEventListener("toggle", () => {
    if (!dialog.open) return;
    dialog.close();
    input.focus();
  });
  // A text that was in the query of an old link would be sent on a reload.
  const saveAddress = text => {
    try {
      history.replaceState(null, "", location.pathname + (text ? `#q=${encodeURIComponent(text)}` : ""));
    } catch { /* some browsers do not allow it for files */ }
  };
  const readAddress = () => {
    const text = new URLSearchParams(location.hash.slice(1)).get("q") ?? new URLSearchParams(location.search).get("q");
    if (text === null) return;
    input.value = text;
    if (location.search) saveAddress(text);
    show();
  };
  if (isPage) {
    window.addEventListener("hashchange", readAddress);
    readAddress();
    if (input.rows < 5) input.focus();
  } else loadEngine();
  show();
})();
