/* The search engine of the search page and of the symptom page: finds entries of the symptom pages by
   their error messages, and sections, glossary terms and functions by their words. */
window.createSearch = () => {
  "use strict";
  const { parts, common, stopWords, synonyms, others } = window.siteSections;
  const stemmer = new Stemmer(), stops = new Set(stopWords.split(" "));
  const MAX_TEXT = 50_000; // characters at the end of a text, which has its last error
  const MAX_WORDS = 40; // of a query
  const MIN_ERROR = 0.6; // the share of a message that a text must have
  const SHORT = 5; // a message of fewer pairs of words must be there whole
  // How much a term counts in an entry, and how much a synonym, a beginning or a misspelling counts for a word.
  const NAME = 1, MESSAGE = 0.7, LEAD = 0.6, BODY = 0.35, PARENT = 0.45, SYNONYM = 0.45, PREFIX = 0.8, MISSPELT = 0.6;
  const PAIR = 0.2; // how much neighboring words count besides the words themselves
  const NAMED = 0.25, DECIDING = 0.5; // the share of a query from which words on no page are named, and decide
  const COMMON = 6; // sections with a word of which a short word with another letter is a misspelling
  const MAX_RELATED = 3; // results, if a word that decides is on no page
  const REPEATED = 0.85; // how much a section counts after a better section of its page: other pages may answer, too

  const PARTICLES = /[的了则这那它们其此及或让把被就都很之在与]/g; // of Chinese, as in words.py
  const memo = new Map();
  // British and American spelling have the same stem: -ise and -ize, -our and -or.
  const stem = word => {
    if (!memo.has(word)) memo.set(word, stemmer.stemWord(word.replace(/z(?=[aei])/g, "s").replace(/(?<=\w{3})our/g, "or")));
    return memo.get(word);
  };
  const bigrams = run => [...run].slice(1).map((character, i) => run[i] + character);
  const splitWords = text => {
    const names = text.replace(/n['’]t\b/g, " not").replace(/(?<=[A-Za-z])\*/g, " star ").replace(/(\p{Ll})(?=\p{Lu}\p{Ll})/gu, "$1 ")
      .replace(/(?<=embedding)(?=bag)|(?<=one)(?=hot)/gi, " ").replace(PARTICLES, " ").replace(/[\u4e00-\u9fff]+/g, run => ` ${bigrams(run).join(" ")} `);
    return (names.toLowerCase().match(/[\p{L}\p{N}]+/gu) || []).filter(word => !/^\d+$/.test(word) || word.length === 5);
  };
  const isContent = word => word.length > 1 && !stops.has(word);
  const readWords = text => splitWords(text).map(word => (isContent(word) ? stem(word) : word));
  // Neighbors as one term: phrases count more than words, and one_hot, OneHot, one-hot and onehot are equal.
  const pairs = words => words.slice(1).flatMap((word, i) => (isContent(word) || isContent(words[i]) ? [`+${words[i]}${word}`] : []));
  const terms = words => [...words.filter(isContent), ...pairs(words)];
  const sum = (keys, weight) => [...keys].reduce((total, key) => total + weight(key), 0);

  // Each character is the number of a word, or of a set of words the difference to the next number.
  const numbers = text => [...text].map(character => character.codePointAt(0) - 40);
  const readPart = ({ pages, words }) => {
    const vocabulary = words.split(" ");
    const decodeAll = text => (text ? text.split("\n").map(line => numbers(line).map(number => vocabulary[number])) : []);
    const decodeSet = (text, number = -1) => numbers(text).map(step => vocabulary[number += step + 1]);
    return pages.flatMap(([url, texts, rows]) => rows.map(([id, title, parent, names, errors, lead, body], i) => {
      const anchor = id || title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
      const kinds = { term: anchor.startsWith("term-"), symptom: i && /^(\.\.\/)?symptoms\//.test(url), name: anchor.startsWith("lookup_matmul.") };
      return {
        url: i ? `${url}#${anchor}` : url, title, texts, i,
        kind: Object.keys(kinds).find(kind => kinds[kind]),
        parents: i ? [rows[0], ...(parent ? [rows[parent]] : [])].map(row => row[1]) : [],
        above: i ? [rows[0], ...(parent ? [rows[parent]] : [])].flatMap(row => terms(decodeAll(row[3])[0] || [])) : [],
        names: [...decodeAll(names), ...(kinds.name ? [readWords(anchor)] : [])].map(words => new Set(terms(words))),
        errors: (errors ? [...decodeAll(names).slice(0, 1), ...decodeAll(errors)] : []).map(words => new Set(pairs(words))), errorWords: decodeAll(errors).flatMap(terms),
        lead: decodeSet(lead), body: decodeSet(body),
        weight: common.includes(title) || /glossary/.test(url) && !kinds.term ? 0.5 : /^(appendix|index|\.\.\/)/.test(url) || /^(Appendix|附录)/.test(rows[parent || 0][1]) ? 0.9 : 1,
      };
    }));
  };
  const entries = parts.flatMap(readPart);

  // The entries that have a term, and how much it counts there.
  const postings = new Map();
  entries.forEach(({ names, errorWords, lead, body, above }, id) => {
    const add = (keys, weight) => keys.forEach(key => {
      const list = postings.get(key);
      if (!list) postings.set(key, [[id, weight]]);
      else if (list.at(-1)[0] !== id) list.push([id, weight]);
    });
    names.forEach(name => add(name, NAME));
    add(lead, LEAD);
    add(errorWords, MESSAGE);
    add(body, BODY);
    add(above, PARENT);
  });
  const known = [...postings.keys()].filter(term => term[0] !== "+");
  const rarity = count => Math.log(1 + entries.length / (3 + count));
  const rarityOf = term => rarity((postings.get(term) || []).length);
  for (const entry of entries) entry.sizes = entry.names.map(name => sum(name, rarityOf));

  const [groups, chinese] = [new Map(), new Map()];
  for (const line of synonyms.split("\n")) {
    const [word, meaning] = line.split(": ");
    if (meaning) chinese.set(word, readWords(meaning).filter(isContent));
    else for (const term of line.split(", ").map(stem)) groups.set(term, [...(groups.get(term) || []), ...line.split(", ").map(stem)]);
  }
  const phrases = [...chinese.keys()].sort((a, b) => b.length - a.length);

  const distance = (a, b) => { // letters that differ, or neighbors that are swapped
    let row = [...Array(b.length + 1).keys()];
    for (let i = 1, last; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) {
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]));
        if (i > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) next[j] = Math.min(next[j], last[j - 2] + 1);
      }
      [last, row] = [row, next];
    }
    return row[b.length];
  };
  // The known words that are nearest to an unknown one; the first letter is rarely wrong.
  const correct = word => {
    const limit = /\d/.test(word) || word.length < 4 ? 0 : word.length < 8 ? 1 : 2, near = new Map();
    for (const term of known) {
      if (term[0] !== word[0] || Math.abs(term.length - word.length) > limit) continue;
      const letters = distance(word, term), isSwap = [...word].sort().join() === [...term].sort().join();
      if (letters <= limit && (isSwap || limit > 1 || postings.get(term).length >= COMMON)) near.set(term, letters);
    }
    const least = Math.min(...near.values());
    return [...near.keys()].filter(term => near.get(term) === least).sort((a, b) => postings.get(b).length - postings.get(a).length);
  };
  const inCode = new Set(others?.split(" ")); // by code; unknown until this list is there
  // The terms that a word of a query stands for, and how much they count; the last word may be a beginning.
  const readWord = (word, last, corrections) => {
    const result = new Map([[word, 1], ["+" + word, 1]]), add = (term, weight) => result.has(term) || result.set(term, weight);
    (groups.get(word) || []).forEach(term => add(term, SYNONYM));
    if (last && word.length > 2) for (const term of known) if (term.startsWith(word)) add(term, postings.has(word) ? 0.3 : PREFIX);
    if ([...result.keys()].some(term => postings.has(term)) || inCode.has(word)) return result;
    const nearest = correct(word);
    nearest.forEach(term => add(term, MISSPELT));
    corrections.set(word, nearest[0]);
    return result;
  };
  const readQuery = query => {
    const topic = query.replace(/什么是|是什么|为什么|怎么办?|如何|什么|[吗呢]/g, " "), chineseWords = [], corrections = new Map();
    const text = topic.replace(/\b(are|ca|could|did|do|does|has|have|is|should|was|wo|would)nt\b/gi, "$1 not").replace(/(?<!\S)[-−]0(\.0*)?(?!\S)/g, "negative zero");
    const rest = phrases.reduce((text, phrase) => text.replaceAll(phrase, () => {
      chinese.get(phrase).forEach(word => chineseWords.push(new Map([...bigrams(phrase).map(term => [term, 1]), [word, 1]])));
      return " ";
    }), text);
    const all = readWords(rest), content = all.filter(isContent);
    const unique = [...new Set(content.length || chineseWords.length ? content : all)].slice(0, MAX_WORDS);
    const words = [...chineseWords, ...unique.map((word, i) => readWord(word, i === unique.length - 1, corrections))];
    const typed = new Map((rest.match(/[\p{L}\p{N}]+/gu) || []).flatMap(token => readWords(token).map(word => [word, token])));
    return { words, corrections, typed };
  };
  // A word of the titles with this stem, or the stem itself.
  const spell = term => entries.flatMap(({ title }) => splitWords(title)).find(word => stem(word) === term) || term;

  /* An entry's score has two parts: the share of the query's words that the entry has, each as much as it counts
     there, and the likeness of the query to the most similar of its names. Rare words weigh more. */
  const byWords = text => {
    const { words, corrections, typed } = readQuery(text), phrase = [...new Set(pairs(readWords(text)))];
    const scores = new Float64Array(entries.length), covered = new Float64Array(entries.length), weights = new Map();
    let mentioned = 0; // how much the words weigh that a page has
    const add = (terms, factor) => {
      const best = new Map(); // of the entries with one of the terms
      for (const [term, weight] of terms) {
        for (const [id, value] of postings.get(term) || []) best.set(id, Math.max(best.get(id) || 0, value * weight));
        weights.set(term, Math.max(weights.get(term) || 0, weight * rarityOf(term)));
      }
      const rare = rarity(best.size);
      if (factor === 1 && best.size) mentioned += rare;
      for (const [id, value] of best) {
        scores[id] += factor * value * rare;
        if (factor === 1) covered[id] += rare;
      }
      return rare;
    };
    const total = sum(words, word => add(word, 1));
    for (const pair of phrase) add([[pair, 1]], PAIR);
    const size = total + sum(phrase, pair => (postings.has(pair) ? rarityOf(pair) : 0));
    const defines = /^\s*what (is|are) |什么是|是什么/i.test(text);
    const asks = !defines && /\?|\b(why|how|what|when|which|should|can|is|do|does)\b/i.test(text) || words.length > 2;
    const fails = /\b(why|not|no|never|error|wrong|fail\w*|\w+Error)\b|n't\b|不(?!是)|错/i.test(text);
    const matches = entries.map((entry, id) => {
      if (!scores[id]) return { id, score: 0 };
      const likeness = Math.max(...entry.names.map((name, i) => 2 * sum(name, term => weights.get(term) || 0) / (entry.sizes[i] + size)));
      const kind = { term: asks || covered[id] < 0.99 * total ? 0.6 : defines ? 2 : 1.2, symptom: fails ? 1.2 : 1, name: 0.8 }[entry.kind] || 1;
      return { id, score: (scores[id] / total + likeness) * Math.sqrt(covered[id] / total) * entry.weight * kind, weights };
    }).filter(({ score }) => score).sort((a, b) => b.score - a.score);
    const counts = new Map(); // of a page's sections before a section
    for (const match of matches) {
      const { texts } = entries[match.id], count = counts.get(texts) || 0;
      match.score *= REPEATED ** count;
      counts.set(texts, count + 1);
    }
    matches.sort((a, b) => b.score - a.score);
    const missing = [...corrections.keys()].filter(word => !corrections.get(word) && /^\p{L}/u.test(word) && !/\p{Script=Han}/u.test(word));
    const lost = missing.length * rarity(0), share = lost && lost / (lost + mentioned);
    return {
      matches: share < DECIDING ? matches : matches.slice(0, MAX_RELATED),
      isRelated: share >= DECIDING,
      missing: share < NAMED ? [] : [...new Set(missing.map(word => typed.get(word)))],
      corrected: [...corrections].filter(([, term]) => term).map(([word, term]) => [typed.get(word), spell(term)]),
    };
  };

  const frequency = new Map(), errorPairs = entries.flatMap(({ errors }) => [...new Set(errors.flatMap(error => [...error]))]);
  for (const pair of errorPairs) frequency.set(pair, (frequency.get(pair) || 0) + 1);
  const pairWeight = pair => 1 / frequency.get(pair); // pairs of few errors weigh more
  const unique = matches => matches.filter(({ id }, i) => matches.findIndex(match => match.id === id) === i);
  // The entries with an error that a text has: first the last of chained exceptions, and the last of their messages.
  const byError = text => {
    const chained = text.split(/(?:During handling of the above|direct cause of the following) exception/).reverse();
    return unique(chained.flatMap(part => {
      const last = new Map(pairs(readWords(part)).map((pair, i) => [pair, i])), end = ({ pattern }) => last.get([...pattern].pop()) || 0;
      // In a field of one line, the next line follows the last word without a space.
      const isWhole = pattern => [...pattern].every((pair, i) => last.has(pair) || i === pattern.size - 1 && [...last.keys()].some(key => key.startsWith(pair)));
      return entries.flatMap(({ errors }, id) => errors.map(pattern => ({
        id, pattern, score: sum([...pattern].filter(pair => last.has(pair)), pairWeight) / sum(pattern, pairWeight),
      }))).filter(({ pattern, score }) => score >= MIN_ERROR && (pattern.size >= SHORT || isWhole(pattern))).sort((a, b) => b.score - a.score || end(b) - end(a) || b.pattern.size - a.pattern.size);
    }));
  };

  // What errors and logs have, and questions have not: frames, types, levels of a log, times, places in files.
  const SHAPES = [
    /^Traceback |^\s*File ".*", line \d+|^\s+at \S+\(.*\)$/m,
    /\b[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Argument|Fault)(?::|\s*$)|^\w+(?:\.\w+)+\.[A-Z]\w+: /m,
    /\b(?:error|fatal|critical|warning|warn|panic|abort(?:ed)?)\b ?[:\]]|\[(?:E|W|F|error|rank)\d*[\]: ]/i,
    /\b\d{2}:\d{2}:\d{2}\b|\bpid=\d+|0x[0-9a-f]{6,}|\w\.(?:c|cc|cpp|cu|cuh|h|py|rs|go|js|java)[:(]\d+/i,
    /\b[aA]ssert(?:ion)?\b.*\bfailed|\bcore dumped\b|\bSegmentation fault\b|\bterminate called\b|\bpanicked at\b|\bwhat\(\):/,
    /\b[A-Z]+(?:_[A-Z]+)+\b.*:|\b(?:cu|cuda|nccl|CU|CUDA|NCCL)[A-Z_]\w*(?:Error|ERROR|STATUS)|\['[\w.]+'(?:, '[\w.]+')+\]|\w+: (?:error|failed|unable|cannot|could not|unknown|invalid|expected|unexpected|no such)\b/,
  ];
  const isError = text => SHAPES.some(shape => shape.test(text));

  /* The results for a text, the best first: entries with its errors, and then sections with the words of
     its last error or of its question. */
  const find = input => {
    const text = input.slice(-MAX_TEXT), errors = byError(text), ids = new Set(errors.map(({ id }) => id));
    const { matches: words, isRelated, missing, corrected } = byWords(text.replace(/^.*\b[A-Z]\w*(?:Error|Exception): (?=.*\w)/s, ""));
    const failed = isError(text);
    if (!missing.length && (words.length === 1 || words.length === 2)) { // of a rare word: the sections of its page follow
      const { texts } = entries[words[0].id], listed = new Set(words.map(({ id }) => id));
      entries.forEach((entry, id) => entry.texts === texts && !listed.has(id) && words.push({ ...words[0], id, score: 0 }));
    }
    return {
      errors: errors.map(({ id }) => ({ id, weights: new Map(), isError: true })),
      words: words.filter(({ id, score }, i) => !ids.has(id) && (i < 6 || score > words[0].score / 5)),
      isForeign: failed && !errors.length, // an error that is not explained here
      isRelated: isRelated && !failed,
      missing: failed || errors.length || others === undefined ? [] : missing,
      corrected: failed || errors.length ? [] : corrected,
    };
  };

  return { entries, terms: text => terms(readWords(text)), find };
};
window.siteSearch = window.createSearch();
