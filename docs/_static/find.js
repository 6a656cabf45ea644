/* Finds sections, terms and functions for words, and entries for an error that stands in a text.
   The search page and the box for errors ask it; what is asked is only ever text. */
window.siteSearch = (() => {
  "use strict";
  const { pages, terms: stems, common, stopWords } = window.siteSections;
  const stemmer = new Stemmer(), stops = new Set(stopWords);
  const READ = 50_000; // letters at the end of a text; its last error is there
  const ASKED = 400; // letters of an error in which words are looked for
  const SAID = 0.6, HEAD = 120; // the part of an error's text that has to be there, and its first letters, which are its own
  const TOLD = 0.85, NEAR = 40; // the part of a question's words that has to be there, and among how many words

  // British and American spelling fall together: -ise and -ize, -our and -or.
  const stem = word => stemmer.stemWord(word.replace(/z(?=[aei])/g, "s").replace(/(?<=\w{3})our/g, "or"));
  const parts = text => {
    const names = text.replace(/(\p{Ll})(?=\p{Lu}\p{Ll})/gu, "$1 ").replace(/(?<=embedding)(?=bag)|(?<=one)(?=hot)/gi, " ")
      .replace(/[\u4e00-\u9fff]{2,}/g, run => ` ${[...run].slice(1).map((sign, i) => run[i] + sign).join(" ")} `); // of Chinese, pairs of signs
    const words = names.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
    return words.filter(word => !/^\d+$/.test(word));
  };
  const says = word => word.length > 1 && !stops.has(word);
  const singles = text => parts(text).filter(says).map(stem);
  // Neighbors as one word: a phrase counts more than its words, and one_hot, OneHot, one-hot and onehot are the same.
  const pairs = text => parts(text).flatMap((word, i, all) => (i && (says(word) || says(all[i - 1])) ? ["+" + stem(all[i - 1] + word)] : []));
  const terms = text => [...singles(text), ...pairs(text)];
  const set = text => [...new Set(terms(text))].sort().join(" ");
  const sum = (keys, weigh) => [...keys].reduce((total, key) => total + weigh(key), 0);

  const entries = pages.flatMap(([url, texts, label, about, rows]) => rows.map(([given, title, above, also, said, words], i) => {
    const anchor = given || title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
    const names = [title, ...(i ? [] : [label]), ...also.split("\n"), ...said].filter(name => name);
    return {
      url: i ? `${url}#${anchor}` : url, anchor, title, words, texts, i,
      above: i ? [rows[0][1], ...(above ? [rows[above][1]] : [])] : [],
      about: i ? "" : about,
      also: names.slice(1).join("\n"),
      exact: names.map(set),
      errors: said.length ? [title, ...said].map(text => new Set(pairs(text.replace(/^\w+: (?=.* .* )/, "").slice(0, HEAD)))) : [],
      questions: [...(/^(\.\.\/)?symptoms\//.test(url) && !said.length ? [title] : []), ...also.split("\n")]
        .filter(text => / .* /.test(text)).map(text => new Set(singles(text))), // names of code are no questions
      ofError: said.some(text => /\w+(Error|Exception): /.test(text)) ? terms(title) : [],
      weight: common.includes(title) || anchor.startsWith("lookup_matmul.") ? 0.5 : 1,
    };
  }));

  const index = new MiniSearch({
    fields: ["title", "also", "about", "above", "words"],
    tokenize: (text, field) => (field === "words" ? text.split(" ") : terms(text)),
    processTerm: term => term,
    searchOptions: { boost: { title: 4, also: 4, above: 0.5 } },
  });
  const numbered = stems.split(" ");
  // Each letter is the step to the next number of a word.
  const decode = letters => {
    let number = -1;
    return [...letters].map(letter => numbered[number += letter.codePointAt(0) - 40]).join(" ");
  };
  // A few at a time, so that the field can be typed in meanwhile.
  const ready = index.addAllAsync(entries.map(({ title, also, about, above, words }, id) => ({
    id, title, also, about, above: above.join("\n"), words: decode(words),
  })), { chunkSize: 20 });

  const rarity = new Map(), told = entries.flatMap(({ errors }) => [...new Set(errors.flatMap(said => [...said]))]);
  for (const pair of told) rarity.set(pair, (rarity.get(pair) || 0) + 1); // what few errors say weighs more
  const weigh = pair => 1 / rarity.get(pair);
  const better = (a, b) => b.score - a.score || b.said.size - a.said.size;
  const once = found => found.filter(({ id }, i) => found.findIndex(each => each.id === id) === i);

  /* The one rule for what fits a text, short or long: it says most of an error of the entry or, in words that stand
     together, most of a question that the entry answers, which is its title or stands in its index. A text about
     something else has common words of an entry, and not those; so nothing fits it. */
  const fitting = (kind, there, weight, least) => entries.flatMap((entry, id) => entry[kind]
    .map(said => ({ id, said, score: sum([...said].filter(each => there.has(each)), weight) / sum(said, weight) }))
    .filter(({ score }) => score >= least)).sort(better);
  const byError = text => { // of chained exceptions the last one comes first, and of messages the one that ends last
    const chained = text.split(/(?:During handling of the above|direct cause of the following) exception/).reverse();
    return once(chained.flatMap(part => {
      const told = pairs(part), end = ({ said }) => told.lastIndexOf([...said].pop());
      return fitting("errors", new Set(told), weigh, SAID).sort((a, b) => b.score - a.score || end(b) - end(a) || better(a, b));
    }));
  };
  const byQuestion = text => {
    const words = singles(text), found = [];
    for (let at = 0; !at || at + NEAR / 2 < words.length; at += NEAR / 2) {
      found.push(...fitting("questions", new Set(words.slice(at, at + NEAR)), () => 1, TOLD));
    }
    return once(found.sort(better));
  };

  const count = term => index.search(term, { tokenize: each => [each] }).length;
  const byWords = asked => {
    const text = asked.slice(0, ASKED).replace(/(?<!\S)[-−]0(\.0*)?(?!\S)/g, "negative zero");
    const known = singles(text).length ? singles(text) : parts(text).map(stem);
    const last = known[known.length - 1];
    const phrase = [...pairs(text), ...known.map(word => "+" + word)];
    const found = index.search(text, {
      tokenize: () => [...known, ...phrase],
      prefix: term => term === last && term.length > 2,
      fuzzy: term => term[0] !== "+" && term.length > 4 && !count(term) && 0.25,
    });
    const rare = new Map(known.map(word => [word, Math.log(1 + entries.length / (1 + count(word)))]));
    const total = sum(rare.values(), each => each), all = new Set([...known, ...phrase]), exact = set(text);
    for (const result of found) {
      const entry = entries[result.id];
      // The part of the question that the entry answers: a rare word tells more than a common one.
      result.has = sum(result.queryTerms, word => rare.get(word) || 0) / total;
      // MiniSearch multiplies by the number of terms that an entry has.
      result.score *= entry.weight * result.has / result.queryTerms.length;
      if (entry.exact.includes(exact)) result.score *= 3;
      // A word of a long error does not ask for that error.
      if (entry.ofError.length) result.score *= 0.2 + 0.8 * entry.ofError.filter(term => all.has(term)).length / entry.ofError.length;
    }
    found.sort((a, b) => b.score - a.score);
    return found.filter(({ score }) => score > found[0].score / 30);
  };

  // For the box: the entries whose error the text has, with the line that says most of the first, or that answer its question.
  const fits = asked => {
    const text = asked.slice(-READ), errors = byError(text);
    // An error that no entry has is no question: what stands beside it would lead to another cause.
    if (!errors.length) return { found: /\b[A-Z]\w*(?:Error|Exception): /.test(text) ? [] : byQuestion(text), line: "" };
    const rated = text.split("\n").map(line => [sum(pairs(line), pair => (errors[0].said.has(pair) ? weigh(pair) : 0)), line.trim()]);
    return { found: errors, line: rated.reduce((best, each) => (each[0] >= best[0] ? each : best))[1] };
  };

  // For the search: first the errors that stand in the text, then what the last error's words or the question's lead to.
  const find = asked => {
    const text = asked.slice(-READ), errors = byError(text), those = new Set(errors.map(({ id }) => id));
    for (const error of errors) error.terms = singles(text);
    const words = byWords(text.replace(/^.*\b[A-Z]\w*(?:Error|Exception): (?=.*\w)/s, ""));
    return { errors, words: words.filter(({ id }) => !those.has(id)) };
  };

  return { entries, terms, ready, find, fits };
})();
