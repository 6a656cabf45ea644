/* Finds the entries that a pasted error matches. What is pasted stays on the page, and is only ever text. */
(() => {
  "use strict";
  const box = document.querySelector(".symptom-box");
  if (!box) return;
  const [input, status, line, found] = ["textarea", ".symptom-status", ".symptom-line", "ol"].map(name => box.querySelector(name));

  const words = text => text.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_]*/gu) || [];
  const stems = text => words(text).map(word => (word.length > 4 ? word.replace(/(ings?|ed|es|s|e)$/, "") : word));
  const pairs = text => {
    const all = words(text);
    return new Set(all.slice(1).map((word, i) => all[i] + " " + word));
  };

  // Everything that is searched stands in the lists of the page.
  const entries = [...document.querySelectorAll("ul.symptoms > li")].map(item => ({
    item,
    says: [...item.querySelectorAll(".says")].map(said => pairs(said.textContent.replace(/^\w+: /, ""))),
    title: new Set(stems(item.querySelector("a").textContent)),
    words: new Set(stems(item.textContent)),
  }));

  // What few entries say weighs more.
  const rarity = ofEntry => {
    const counts = new Map();
    for (const entry of entries) for (const key of ofEntry(entry)) counts.set(key, (counts.get(key) || 0) + 1);
    return key => (counts.has(key) ? 1 / counts.get(key) : 0);
  };
  const weight = rarity(entry => new Set(entry.says.flatMap(said => [...said])));
  const wordWeight = rarity(entry => entry.words);
  const sum = (keys, weigh) => [...keys].reduce((total, key) => total + weigh(key), 0);

  // Of chained exceptions the last one comes first.
  const byText = text => {
    const parts = text.split(/^.*(?:During handling of the above|direct cause of the following) exception.*$/m).map(pairs);
    return entries.flatMap(({ item, says }) => {
      const best = { item, score: 0, part: 0, said: null, size: 0 };
      says.forEach(said => parts.forEach((part, i) => {
        const score = sum(said, key => (part.has(key) ? weight(key) : 0)) / sum(said, weight);
        if (score >= 0.6 && (i > best.part || score > best.score || (score === best.score && said.size > best.size)))
          Object.assign(best, { score, part: i, said, size: said.size });
      }));
      return best.said ? [best] : [];
    }).sort((a, b) => b.part - a.part || b.score - a.score || b.size - a.size);
  };

  // A word of the title counts twice; of an error, unlike of a question, an unknown word counts against.
  const byWords = text => {
    const asked = new Set(stems(text).filter(word => word.length > 2));
    const known = word => wordWeight(word) || (/(Error|Exception)\b/.test(text) ? 1 : 0);
    const total = sum(asked, known) || 1;
    return entries.map(({ item, title, words }) => ({
      item, score: sum(asked, word => known(word) * (title.has(word) ? 2 : words.has(word) ? 1 : 0)) / total,
    }))
      .filter(({ score }) => score >= 0.3).sort((a, b) => b.score - a.score);
  };

  const show = () => {
    const text = input.value, lines = text.split("\n").filter(each => each.trim());
    let matches = byText(text);
    const said = matches.length ? matches[0].said : null;
    if (!said) matches = byWords(lines.length > 3 ? lines[lines.length - 1] : text);
    const read = said && lines.map(each => [sum(pairs(each), key => (said.has(key) ? weight(key) : 0)), each]).reduce((a, b) => (b[0] >= a[0] ? b : a))[1];
    line.hidden = !read;
    line.textContent = read ? read.trim().slice(0, 400) : "";
    const shown = matches.slice(0, 5);
    found.replaceChildren(...shown.map(({ item }) => {
      const copy = item.cloneNode(true);
      copy.removeAttribute("id");
      return copy;
    }));
    const count = shown.length === 1 ? "1 entry" : `${shown.length} entries`;
    status.textContent = !text.trim() ? "" : !shown.length ? "No entry matches. Try the last line alone, or other words; all entries are below."
      : said ? `${count} for this line of your text${shown.length > 1 ? ", the best first" : ""}:` : `No error text matches; ${count} with these words:`;
  };

  let timer;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 150); // a screen reader is told once, not at each key
  });
})();
