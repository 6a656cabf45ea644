/* The box for errors: shows what find.js finds to fit a text, which comes with the index once somebody
   uses the box. What is pasted stays on the page, and is only ever text. */
(() => {
  "use strict";
  const SCRIPTS = ["minisearch/minisearch.min.js", "search-sections.js", "find.js"];
  const MOST = 5; // entries shown
  const box = document.querySelector(".symptom-box"), base = document.currentScript.src;
  const [input, status, line, found, search] = ["textarea", ".symptom-status", ".symptom-line", "ol", ".symptom-search"]
    .map(name => box.querySelector(name));

  let loading;
  const load = () => loading ||= Promise.all(SCRIPTS.map(name => new Promise((done, fail) => {
    const script = document.createElement("script");
    Object.assign(script, { src: new URL(name, base), async: false, onload: done, onerror: fail });
    document.head.append(script); // which run in this order
  }))).then(() => siteSearch.ready);

  // The item of the lists below, or a link to a section of another page.
  const itemOf = ({ id }) => {
    const { url, anchor, title, above } = siteSearch.entries[id];
    const listed = url.startsWith("symptoms/") && document.querySelector(`ul.symptoms > li[id="${anchor}"]`);
    const item = listed ? listed.cloneNode(true) : document.createElement("li");
    if (listed) item.removeAttribute("id");
    else item.append(Object.assign(document.createElement("a"), { href: url, textContent: title }), ` ${above.join(" › ")}`);
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
    const fits = text.trim() ? siteSearch.fits(text) : { found: [], line: "" };
    const items = fits.found.slice(0, MOST).map(itemOf), count = items.length === 1 ? "1 entry" : `${items.length} entries`;
    line.hidden = !fits.line;
    line.textContent = fits.line.slice(0, 400);
    found.replaceChildren(...items);
    search.hidden = !text.trim() || items.length > 0;
    const said = text.match(/^.*\w(?:Error|Exception)\b.*$/gm) || [text]; // the last error's line, or how the text begins
    search.firstElementChild.href = `search.html?q=${encodeURIComponent(said.at(-1).trim().slice(0, 200))}`;
    if (!text.trim()) status.textContent = "";
    else if (!items.length) status.textContent = "Nothing here fits this text.";
    else if (fits.line) status.textContent = `${count} for this line of your text${items.length > 1 ? ", the best first" : ""}:`;
    else status.textContent = `No error text matches; ${count} for your question:`;
  };

  let timer;
  input.addEventListener("focus", () => load().catch(() => {}));
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 150); // a screen reader is told once, not at each key
  });
})();
