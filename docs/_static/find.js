/* The search engine of the search page and of the error box: finds sections, glossary terms and
   functions by their words, and entries of the symptom pages by their error messages. */
window.siteSearch = (() => {
  "use strict";
  const { pages, terms: stems, common, stopWords } = window.siteSections;
  const stemmer = new Stemmer(), stops = new Set(stopWords);
  const MAX_TEXT = 50_000; // characters at the end of a text, which has its last error
  const MAX_QUERY = 400; // characters of a query for words
  const MIN_ERROR = 0.6, HEAD = 120; // the share of a message that a text must have, and the characters of a message that are compared
  const MIN_QUESTION = 0.85, WINDOW = 40; // the share of a question that a text must have, in a window of this many words

  // British and American spelling have the same stem: -ise and -ize, -our and -or.
  const stem = word => stemmer.stemWord(word.replace(/z(?=[aei])/g, "s").replace(/(?<=\w{3})our/g, "or"));
  const splitWords = text => {
    const names = text.replace(/(\p{Ll})(?=\p{Lu}\p{Ll})/gu, "$1 ").replace(/(?<=embedding)(?=bag)|(?<=one)(?=hot)/gi, " ")
      .replace(/[\u4e00-\u9fff]{2,}/g, run => ` ${[...run].slice(1).map((character, i) => run[i] + character).join(" ")} `); // bigrams of Chinese
    const words = names.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
    return words.filter(word => !/^\d+$/.test(word));
  };
  const isContent = word => word.length > 1 && !stops.has(word);
  const singles = text => splitWords(text).filter(isContent).map(stem);
  // Neighbors as one term: phrases count more than words, and one_hot, OneHot, one-hot and onehot are equal.
  const pairs = text => splitWords(text).flatMap((word, i, all) => (i && (isContent(word) || isContent(all[i - 1])) ? ["+" + stem(all[i - 1] + word)] : []));
  const terms = text => [...singles(text), ...pairs(text)];
  const normalize = text => [...new Set(terms(text))].sort().join(" ");
  const sum = (keys, weight) => [...keys].reduce((total, key) => total + weight(key), 0);

  const entries = pages.flatMap(([url, texts, label, about, rows]) => rows.map(([id, title, parent, synonyms, messages, words], i) => {
    const anchor = id || title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
    const names = [title, ...(i ? [] : [label]), ...synonyms.split("\n"), ...messages].filter(name => name);
    return {
      url: i ? `${url}#${anchor}` : url, anchor, title, words, texts, i,
      parents: i ? [rows[0][1], ...(parent ? [rows[parent][1]] : [])] : [],
      description: about,
      about: i ? "" : about,
      synonyms: names.slice(1).join("\n"),
      exact: names.map(normalize),
      errors: messages.length ? [title, ...messages].map(text => new Set(pairs(text.replace(/^\w+: (?=.* .* )/, "").slice(0, HEAD)))) : [],
      questions: [...(/^(\.\.\/)?symptoms\//.test(url) && !messages.length ? [title] : []), ...synonyms.split("\n")]
        .filter(text => / .* /.test(text)).map(text => new Set(singles(text))), // names in code are not questions
      errorTerms: messages.some(text => /\w+(Error|Exception): /.test(text)) ? terms(title) : [],
      weight: common.includes(title) || anchor.startsWith("lookup_matmul.") ? 0.5 : 1,
    };
  }));

  const index = new MiniSearch({
    fields: ["title", "synonyms", "about", "parents", "words"],
    tokenize: (text, field) => (field === "words" ? text.split(" ") : terms(text)),
    processTerm: term => term,
    searchOptions: { boost: { title: 4, synonyms: 4, parents: 0.5 } },
  });
  const vocabulary = stems.split(" ");
  // Each character is the difference to the next number of a term.
  const decode = characters => {
    let number = -1;
    return [...characters].map(character => vocabulary[number += character.codePointAt(0) - 40]).join(" ");
  };
  // Add a few at a time, which does not block the input field.
  const ready = index.addAllAsync(entries.map(({ title, synonyms, about, parents, words }, id) => ({
    id, title, synonyms, about, parents: parents.join("\n"), words: decode(words),
  })), { chunkSize: 20 });

  const frequency = new Map(), errorPairs = entries.flatMap(({ errors }) => [...new Set(errors.flatMap(error => [...error]))]);
  for (const pair of errorPairs) frequency.set(pair, (frequency.get(pair) || 0) + 1);
  const pairWeight = pair => 1 / frequency.get(pair); // pairs of few errors weigh more
  const compare = (a, b) => b.score - a.score || b.pattern.size - a.pattern.size;
  const unique = matches => matches.filter(({ id }, i) => matches.findIndex(match => match.id === id) === i);

  /* An entry matches a text that has most of one of its errors or, in a window of words, most of one of its
     questions, which are its title and its index terms. An unrelated text has only common words of an entry. */
  const matchPatterns = (kind, terms, weight, minimum) => entries.flatMap((entry, id) => entry[kind]
    .map(pattern => ({ id, pattern, score: sum([...pattern].filter(term => terms.has(term)), weight) / sum(pattern, weight) }))
    .filter(({ score }) => score >= minimum)).sort(compare);
  const byError = text => { // first the last of chained exceptions, and the last of their messages
    const chained = text.split(/(?:During handling of the above|direct cause of the following) exception/).reverse();
    return unique(chained.flatMap(part => {
      const partPairs = pairs(part), end = ({ pattern }) => partPairs.lastIndexOf([...pattern].pop());
      return matchPatterns("errors", new Set(partPairs), pairWeight, MIN_ERROR).sort((a, b) => b.score - a.score || end(b) - end(a) || compare(a, b));
    }));
  };
  const byQuestion = text => {
    const words = singles(text), matches = [];
    for (let start = 0; !start || start + WINDOW / 2 < words.length; start += WINDOW / 2) {
      matches.push(...matchPatterns("questions", new Set(words.slice(start, start + WINDOW)), () => 1, MIN_QUESTION));
    }
    return unique(matches.sort(compare));
  };

  const count = term => index.search(term, { tokenize: text => [text] }).length;
  const byWords = query => {
    const text = query.slice(0, MAX_QUERY).replace(/(?<!\S)[-−]0(\.0*)?(?!\S)/g, "negative zero");
    const words = singles(text).length ? singles(text) : splitWords(text).map(stem);
    const last = words[words.length - 1];
    const phrase = [...pairs(text), ...words.map(word => "+" + word)];
    const results = index.search(text, {
      tokenize: () => [...words, ...phrase],
      prefix: term => term === last && term.length > 2,
      fuzzy: term => term[0] !== "+" && term.length > 4 && !count(term) && 0.25,
    });
    const rarity = new Map(words.map(word => [word, Math.log(1 + entries.length / (1 + count(word)))]));
    const total = sum(rarity.values(), value => value), queryTerms = new Set([...words, ...phrase]), exact = normalize(text);
    for (const result of results) {
      const entry = entries[result.id];
      // The share of the query that the entry has; rare words weigh more.
      result.coverage = sum(result.queryTerms, word => rarity.get(word) || 0) / total;
      // MiniSearch multiplies by the number of matching terms.
      result.score *= entry.weight * result.coverage / result.queryTerms.length;
      if (entry.exact.includes(exact)) result.score *= 3;
      // A single word of a long error message is not a query for that error.
      if (entry.errorTerms.length) result.score *= 0.2 + 0.8 * entry.errorTerms.filter(term => queryTerms.has(term)).length / entry.errorTerms.length;
    }
    results.sort((a, b) => b.score - a.score);
    return results.filter(({ score }) => score > results[0].score / 30);
  };

  // For the box: the entries that match the errors in a text, with the line that has most of the first, or its question.
  const findEntries = input => {
    const text = input.slice(-MAX_TEXT), errors = byError(text);
    // An unknown error is not matched with questions: its context would lead to another cause.
    if (!errors.length) return { entries: /\b[A-Z]\w*(?:Error|Exception): /.test(text) ? [] : byQuestion(text), line: "" };
    const rated = text.split("\n").map(line => [sum(pairs(line), pair => (errors[0].pattern.has(pair) ? pairWeight(pair) : 0)), line.trim()]);
    return { entries: errors, line: rated.reduce((best, line) => (line[0] >= best[0] ? line : best))[1] };
  };

  // For the box, if no entry matches: the sections that have all words of a short text.
  const findSections = text => (text.length > MAX_QUERY ? [] : byWords(text).filter(({ coverage }) => coverage > 0.999));

  // For the search: the entries that match the errors in a text, and the results for its last error or its question.
  const find = input => {
    const text = input.slice(-MAX_TEXT), errors = byError(text), ids = new Set(errors.map(({ id }) => id));
    for (const error of errors) error.terms = singles(text);
    const words = byWords(text.replace(/^.*\b[A-Z]\w*(?:Error|Exception): (?=.*\w)/s, ""));
    return { errors, words: words.filter(({ id }) => !ids.has(id)) };
  };

  return { entries, terms, ready, find, findEntries, findSections };
})();
