/* The votes of the words that a reader types: each known word's share of the row times its row of the table, and
   their sums. data-votes has the first text, the classes, and for each word 100 × idf and 1,000 × its votes. */
for (const svg of document.querySelectorAll("svg[data-votes]")) {
	const [text, names, ...lines] = svg.dataset.votes.split("|"), classes = names.split(",");
	const table = new Map(lines.map(line => {
		const [word, idf, ...votes] = line.split(" ");
		return [word, { idf: idf / 100, votes: votes.map(vote => vote / 1e3) }];
	}));
	const sum = (numbers, f) => numbers.reduce((total, x) => total + f(x), 0);
	// TF-IDF: counts times idf, scaled to length 1; then a weighted sum of rows.
	const score = message => {
		const counts = new Map(), unknown = new Set();
		for (const word of message.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || []) {
			if (table.has(word)) counts.set(word, (counts.get(word) || 0) + 1);
			else unknown.add(word);
		}
		const length = Math.sqrt(sum([...counts], ([word, count]) => (count * table.get(word).idf) ** 2));
		const rows = [...counts].map(([word, count]) => {
			const { idf, votes } = table.get(word);
			return [count > 1 ? `${count} × ${word}` : word, votes.map(vote => count * idf / length * vote)];
		});
		return { rows, unknown: [...unknown], totals: classes.map((_, k) => sum(rows, ([, votes]) => votes[k])) };
	};
	const format = x => (Math.abs(x) < 0.005 ? "" : x < 0 ? "−" : "+") + Math.abs(x).toFixed(2);
	const cell = (x, bold) => {
		// The shade is that of text_both_ways.py.
		const td = make("td", {}, bold ? make("b", {}, format(x)) : format(x));
		td.style.setProperty("--share", `${x > 0 ? Math.round(10 + 35 * Math.min(x / 0.6, 1)) : 0}%`);
		return td;
	};
	const input = make("input", { type: "text", value: text, maxLength: 200, autocomplete: "off" });
	const body = make("tbody"), verdict = make("p", { role: "status" }), ignored = make("p");
	const head = make("thead", {}, make("tr", {}, make("td"), ...classes.map(name => make("th", { scope: "col" }, name))));
	const show = () => {
		const { rows: exact, unknown } = score(input.value);
		const rows = exact.map(([name, votes]) => [name, votes.map(x => Math.round(100 * x) / 100)]); // the reader can add them up
		const totals = classes.map((_, k) => sum(rows, ([, votes]) => votes[k])), best = totals.indexOf(Math.max(...totals));
		body.replaceChildren(...[...rows, ...(rows.length ? [[_("total"), totals]] : [])].map(([name, votes]) =>
			make("tr", {}, make("th", { scope: "row" }, name), ...votes.map((x, k) => cell(x, name === _("total") && k === best)))));
		const second = totals.indexOf(Math.max(...totals.filter((_, k) => k !== best))), lead = totals[best] - totals[second];
		const result = lead < 0.05 ? _("Almost a tie between {0} and {1}.", classes[best], classes[second]) : _("{0} wins, {1} ahead of {2}.", classes[best], lead.toFixed(2), classes[second]);
		verdict.textContent = rows.length ? result : unknown.length ? _("No word of this text is in the table.") : _("Type a message.");
		const ignoredWords = unknown.join(_(", "));
		ignored.textContent = unknown.length ? _("No votes: {0}.", ignoredWords) : "";
	};
	input.oninput = () => { show(); verdict.parentNode.classList.add("typed"); };
	for (const phrase of document.querySelectorAll(".try")) {
		const onclick = () => { input.value = phrase.textContent; input.oninput(); };
		phrase.replaceChildren(make("a", { href: "#fig-message-votes", onclick }, phrase.textContent));
	}
	svg.replaceWith(make("div", { className: "votes", score }, make("label", {}, _("Your message"), input), verdict, make("table", {}, head, body), ignored));
	show();
}
