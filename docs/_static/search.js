/* Finds sections, terms and functions, ranked by MiniSearch, on the search page. What is typed is only ever text. */
(() => {
  "use strict";
  const form = document.querySelector(".search-form");
  if (!form) return;
  const { pages, terms: stems, common, stopWords } = window.siteSections;
  const stemmer = new Stemmer(), stops = new Set(stopWords);

  // British and American spelling fall together: optimiser and optimizer, behaviour and behavior.
  const stem = word => stemmer.stemWord(word.replace(/z(?=[aei])/g, "s").replace(/(?<=\w{3})our/g, "or"));
  const parts = text => (text.replace(/(\p{Ll})(?=\p{Lu}\p{Ll})/gu, "$1 ").toLowerCase().match(/[\p{L}\p{N}]+/gu) || []).filter(word => !/^\d+$/.test(word));
  const says = word => word.length > 1 && !stops.has(word);
  const singles = text => parts(text).filter(says).map(stem);
  // Neighbours as one word: a phrase counts more than its words, and one_hot, OneHot, one-hot and onehot are the same.
  const pairs = text => parts(text).flatMap((word, i, all) => (i && (says(word) || says(all[i - 1])) ? ["+" + stem(all[i - 1] + word)] : []));
  const terms = text => [...singles(text), ...pairs(text)];
  const set = text => [...new Set(terms(text))].sort().join(" ");

  const entries = pages.flatMap(([url, texts, label, about, rows]) => rows.map(([given, title, above, also, coded], i) => {
    const anchor = given || title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
    const names = [title, ...(i ? [] : [label]), ...also.split("\n")].filter(name => name);
    const isOfPackage = anchor.startsWith("lookup_matmul.");
    return {
      url: i ? `${url}#${anchor}` : url, title, coded, texts, i,
      above: i ? [rows[0][1], ...(above ? [rows[above][1]] : [])] : [],
      about: i ? "" : about,
      also: names.slice(1).join("\n"),
      exact: names.map(set),
      error: /\w+(Error|Exception): /.test(also) ? terms(title) : [],
      weight: common.includes(title) || isOfPackage ? 0.5 : 1,
    };
  }));

  // Gaps between the numbers of words, five bits a letter; the sixth bit says that more follow.
  const decode = text => {
    const numbers = [];
    let gap = 0, shift = 0, last = -1;
    for (const letter of text) {
      const bits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_".indexOf(letter);
      gap |= (bits & 31) << shift;
      shift += 5;
      if (bits < 32) {
        numbers.push((last += gap + 1));
        gap = shift = 0;
      }
    }
    return numbers;
  };

  const index = new MiniSearch({
    fields: ["title", "also", "about", "above", "words"],
    tokenize: (text, field) => (field === "words" ? text.split(" ") : terms(text)),
    processTerm: term => term,
    searchOptions: { boost: { title: 4, also: 4, above: 0.5 } },
  });
  const numbered = stems.split(" ");
  // A few at a time, so that the field can be typed in meanwhile.
  const ready = index.addAllAsync(entries.map(({ title, also, about, above, coded }, id) => ({
    id, title, also, about, above: above.join("\n"), words: decode(coded).map(i => numbered[i]).join(" "),
  })), { chunkSize: 20 });

  const counts = new Map();
  const count = term => {
    if (!counts.has(term)) counts.set(term, index.search(term, { tokenize: each => [each] }).length);
    return counts.get(term);
  };

  const find = asked => {
    // Of a traceback, the last error says what went wrong.
    const text = asked.replace(/^.*\b[A-Z]\w*(?:Error|Exception): (?=.*\w)/s, "").replace(/(?<!\S)[-−]0(\.0*)?(?!\S)/g, "negative zero");
    const known = singles(text).length ? singles(text) : parts(text).map(stem);
    const last = known[known.length - 1];
    const phrase = [...pairs(text), ...known.map(word => "+" + word)];
    const found = index.search(text, {
      tokenize: () => [...known, ...phrase],
      prefix: term => term === last && term.length > 2,
      fuzzy: term => term[0] !== "+" && term.length > 4 && !count(term) && 0.25,
    });
    const rarity = new Map(known.map(word => [word, Math.log(1 + entries.length / (1 + count(word)))]));
    const total = [...rarity.values()].reduce((a, b) => a + b, 0);
    const all = new Set([...known, ...phrase]), exact = set(text);
    for (const result of found) {
      const entry = entries[result.id];
      // MiniSearch multiplies by the number of terms that an entry has; a rare word tells more than a common one.
      const has = result.queryTerms.reduce((sum, word) => sum + (rarity.get(word) || 0), 0);
      result.score *= entry.weight * has / total / result.queryTerms.length;
      if (entry.exact.includes(exact)) result.score *= 3;
      // A word of a long error does not ask for that error.
      if (entry.error.length) result.score *= 0.2 + 0.8 * entry.error.filter(term => all.has(term)).length / entry.error.length;
    }
    found.sort((a, b) => b.score - a.score);
    return found.filter(({ score }) => score > found[0].score / 30);
  };

  const [input, status, nothing, found, more] = ["input", ".search-status", ".search-nothing", ".search-found", ".search-more"].map(name => document.querySelector(`.search-page ${name}`));
  const STEP = 10, AROUND = 12, LONGEST = 40;

  // The words that matched, marked; what does not match stays text.
  const marked = (text, matches) => text.split(/([\p{L}\p{N}_]+)/u).map((piece, i) => {
    if (i % 2 === 0 || !matches(piece).length) return piece;
    const mark = document.createElement("mark");
    mark.textContent = piece;
    return mark;
  });
  const hits = result => {
    const matched = new Set(result.terms);
    return word => terms(word).filter(term => matched.has(term));
  };

  // The stretch of the text that has most of the words asked for.
  const excerpt = (text, matches) => {
    const all = text.split(" "), at = all.map(matches);
    let best = 0, most = -1;
    for (let from = 0; !from || from + LONGEST <= all.length + AROUND; from++) {
      const words = new Set(at.slice(from, from + LONGEST).flat());
      if (words.size > most) [best, most] = [from, words.size];
    }
    const first = at.findIndex((each, i) => i >= best && each.length), start = first - best > AROUND ? first - AROUND : best;
    const from = start < AROUND ? 0 : start;
    const shown = all.slice(from, from + LONGEST).join(" ");
    return `${from ? "… " : ""}${shown}${from + LONGEST < all.length ? " …" : ""}`;
  };

  const element = (name, className, ...children) => {
    const made = document.createElement(name);
    made.className = className;
    made.append(...children);
    return made;
  };
  const item = result => {
    const { url, title, above, texts, error, i } = entries[result.id], matches = hits(result);
    const link = element("a", "", ...marked(title, matches));
    link.href = url;
    const text = (siteTexts[texts] || [])[i] || "", isSearched = !error.length; // an error's cause comes first
    return element("li", "", element("p", "search-title", link), element("p", "search-above", above.join(" › ")), element("p", "search-excerpt", ...marked(excerpt(text, isSearched ? matches : () => []), matches)));
  };

  // The texts of a page come when one of its sections is shown; without them there is no excerpt.
  const loading = new Map();
  const load = name => {
    if (!loading.has(name)) loading.set(name, new Promise(done => {
      const script = element("script", "");
      script.src = `${form.dataset.texts}${name}?v=${form.dataset.version}`;
      script.onload = script.onerror = done;
      document.head.append(script);
    }));
    return loading.get(name);
  };

  let results = [], shown = 0, latest = "";
  const showMore = async () => {
    const next = results.slice(shown, shown + STEP), asked = latest;
    await Promise.all(next.map(({ id }) => load(entries[id].texts)));
    if (asked !== latest) return;
    const items = next.map(item);
    found.append(...items);
    shown += next.length;
    more.hidden = shown >= results.length;
    return items[0];
  };
  const show = async () => {
    const text = input.value.trim();
    if (text === latest) return;
    latest = text;
    await ready;
    if (text !== latest) return;
    results = text ? find(text) : [];
    shown = 0;
    await Promise.all(results.slice(0, STEP).map(({ id }) => load(entries[id].texts)));
    if (text !== latest) return;
    found.replaceChildren();
    more.hidden = true;
    await showMore();
    if (text !== latest) return;
    nothing.hidden = !text || (results.length > 0 && !/Traceback/.test(text));
    status.textContent = !text ? "" : results.length === 0 ? "Nothing found." : `${results.length} ${results.length === 1 ? "section" : "sections"}, the best first`;
    found.dataset.asked = text;
    try {
      history.replaceState(null, "", text ? `?q=${encodeURIComponent(text)}` : location.pathname);
    } catch { /* some browsers refuse it for a file */ }
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
  more.addEventListener("click", async () => (await showMore())?.querySelector("a").focus());
  input.value = (new URLSearchParams(location.search).get("q") || "").replace(/\s+/g, " ");
  input.focus();
  show();
})();
