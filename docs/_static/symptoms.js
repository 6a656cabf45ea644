/* The box for errors: shows the entries of the list below it that find.js finds, which comes with the
   index once somebody uses the box. What is pasted stays on the page, and is only ever text. */
(() => {
  "use strict";
  const SCRIPTS = ["minisearch/minisearch.min.js", "search-sections.js", "find.js"];
  const MOST = 5; // entries shown
  const LONGEST = 50_000; // letters kept of what is pasted; a browser takes long to lay out a log of many MB
  const FITS = 0.3, ERROR_FITS = 0.65; // the part of a question's words, or of an error's, that an entry has
  const box = document.querySelector(".symptom-box"), base = document.currentScript.src;
  const [input, status, line, found] = ["textarea", ".symptom-status", ".symptom-line", "ol"].map(name => box.querySelector(name));

  let loading;
  const load = () => loading ||= Promise.all(SCRIPTS.map(name => new Promise((done, fail) => {
    const script = document.createElement("script");
    Object.assign(script, { src: new URL(name, base), async: false, onload: done, onerror: fail });
    document.head.append(script); // which run in this order
  }))).then(() => siteSearch.ready);

  // The items of the lists for the results, the best first; other sections have none.
  const itemsOf = results => results
    .map(({ id }) => siteSearch.entries[id])
    .filter(({ url }) => url.startsWith("symptoms/"))
    .map(({ anchor }) => document.querySelector(`ul.symptoms > li[id="${anchor}"]`))
    .filter(item => item)
    .slice(0, MOST);

  // Entries whose error stands in the text; or else those that have its words.
  const find = text => {
    const { errors, words } = siteSearch.find(text);
    if (errors.length) return { items: itemsOf(errors), read: siteSearch.lineOf(errors[0], text) };
    const least = /\w(Error|Exception)\b/.test(text) ? ERROR_FITS : FITS;
    return { items: itemsOf(words.filter(({ has }) => has >= least)) };
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
    const { items, read } = text.trim() ? find(text) : { items: [] };
    line.hidden = !read;
    line.textContent = read ? read.slice(0, 400) : "";
    found.replaceChildren(...items.map(item => {
      const copy = item.cloneNode(true);
      copy.removeAttribute("id");
      return copy;
    }));
    const count = items.length === 1 ? "1 entry" : `${items.length} entries`;
    if (!text.trim()) status.textContent = "";
    else if (!items.length) status.textContent = "No entry matches. Try the last line alone, or other words; all entries are below.";
    else if (read) status.textContent = `${count} for this line of your text${items.length > 1 ? ", the best first" : ""}:`;
    else status.textContent = `No error text matches; ${count} with these words:`;
  };

  input.addEventListener("paste", event => {
    const text = event.clipboardData.getData("text");
    if (text.length <= LONGEST) return;
    event.preventDefault();
    input.value = text.slice(-LONGEST); // the last error is at the end
    input.dispatchEvent(new Event("input"));
  });
  let timer;
  input.addEventListener("focus", () => load().catch(() => {}));
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 150); // a screen reader is told once, not at each key
  });
})();
