/* The error box: shows the entries that find.js finds for a text, or else sections of other pages.
   The index is loaded on the first use of the box. The text is not sent anywhere. */
(() => {
  "use strict";
  const SCRIPTS = ["minisearch/minisearch.min.js", "search-sections.js", "find.js"];
  const MAX_ENTRIES = 5, MAX_SECTIONS = 3;
  const box = document.querySelector(".symptom-box"), base = document.currentScript.src;
  const [input, status, line, list, search] = ["textarea", ".symptom-status", ".symptom-line", "ol", ".symptom-search"]
    .map(name => box.querySelector(name));

  let loading;
  const load = () => loading ||= Promise.all(SCRIPTS.map(name => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    Object.assign(script, { src: new URL(name, base), async: false, onload: resolve, onerror: reject });
    document.head.append(script); // with async: false, scripts run in this order
  }))).then(() => siteSearch.ready);

  // A copy of the item in the lists below, or a link to a section of another page.
  const createItem = ({ id }) => {
    const { url, anchor, title, parents, description } = siteSearch.entries[id];
    const listed = url.startsWith("symptoms/") && document.querySelector(`ul.symptoms > li[id="${anchor}"]`);
    const item = listed ? listed.cloneNode(true) : document.createElement("li");
    if (listed) item.removeAttribute("id");
    else {
      const [place, sentence] = [document.createElement("p"), document.createElement("p")];
      place.append(Object.assign(document.createElement("a"), { href: url, textContent: title }), ` ${parents.join(" › ")}`);
      sentence.textContent = description;
      item.append(place, sentence);
    }
    return item;
  };

  const show = async () => {
    const text = input.value;
    try {
      await load();
    } catch {
      status.textContent = "The index of the entries could not be loaded; all entries are below.";
      return;
    }
    if (text !== input.value) return;
    const result = text.trim() ? siteSearch.findEntries(text) : { entries: [], line: "" };
    const entries = result.entries.slice(0, MAX_ENTRIES), count = entries.length === 1 ? "1 entry" : `${entries.length} entries`;
    const sections = text.trim() && !entries.length ? siteSearch.findSections(text.trim()).slice(0, MAX_SECTIONS) : [];
    line.hidden = !result.line;
    line.textContent = result.line.slice(0, 400);
    list.replaceChildren(...[...entries, ...sections].map(createItem));
    search.hidden = !text.trim() || entries.length > 0;
    const queries = text.match(/^.*\w(?:Error|Exception)\b.*$/gm) || [text]; // the last error's line, or the text's beginning
    search.firstElementChild.href = `search.html?q=${encodeURIComponent(queries.at(-1).trim().slice(0, 200))}`;
    if (!text.trim()) status.textContent = "";
    else if (sections.length) status.textContent = "No entry fits this text; these parts of the site have its words:";
    else if (!entries.length) status.textContent = "Nothing here fits this text.";
    else if (result.line) status.textContent = `${count} for this line of your text${entries.length > 1 ? ", the best first" : ""}:`;
    else status.textContent = `No error text matches; ${count} for your question:`;
  };

  let timer;
  input.addEventListener("focus", () => load().catch(() => {}));
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 150); // announced by screen readers once, not for each key
  });
})();
