// <lookup-explorer>: compares a lookup and a product number by number and bit by bit.
// Parts and data come from docs/_extensions/explorer.
{ // a block, which keeps names out of the global scope
// Float32 as in torch: each product and each sum is rounded. Kernels may fuse the two and round once,
// the same for one-hot rows, whose products are exact; other rows have a bound.
const f32 = Math.fround, memory = new DataView(new ArrayBuffer(4));
const bitsOf = x => (Number.isNaN(x) ? 0x7fc00000 : (memory.setFloat32(0, x), memory.getUint32(0)));
const ofBits = u => (memory.setUint32(0, u), memory.getFloat32(0));
const ones = u => { let n = 0; for (; u; u &= u - 1) n++; return n; };
const SPECIAL = { nan: NaN, inf: Infinity, zero: -0 };
const SHORTER = {
	bfloat16: u => (u + 0x7fff + ((u >>> 16) & 1)) & 0xffff0000, // to the nearest, ties to even
	tf32: u => u & 0xffffe000, // the last 13 bits cut off
};

// Compute both forms without changing the page. The product is `factors` times `source`; for each row of
// the result, `used` has the rows that the lookup reads, with their weights.
const compute = ({ mode, condition, at, ids, weights, table, arriving }) => {
	const bad = ids.findIndex(id => !(id in table));
	if (bad >= 0) return { bad };
	const backward = mode === "backward", bag = mode === "bag";
	const weigh = k => ids.reduce((sum, id, n) => (id === k ? f32(sum + f32(weights[n])) : sum), 0);
	const rows = [...table.keys()];
	const factors = bag ? [rows.map(weigh)] : backward ? rows.map(k => ids.map(id => +(id === k))) : ids.map(id => rows.map(k => +(id === k)));
	if (condition === "second") factors[0][(ids[0] + 1) % rows.length] = 1;
	const source = (backward ? arriving.slice(0, ids.length) : table).map(row => row.map(f32));
	if (condition in SPECIAL) source[at[0]][at[1]] = SPECIAL[condition];
	const columns = [...source[0].keys()];
	const used = bag ? [ids.map((id, n) => [id, condition === "counts" ? 1 : f32(weights[n])])] : backward ? rows.map(k => ids.flatMap((id, n) => (id === k ? [[n, 1]] : []))) : ids.map(id => [[id, 1]]);
	const add = (read, j) => read.reduce((sum, [s, w]) => f32(sum + f32(w * source[s][j])), 0);
	const lookup = used.map(read => columns.map(j => (bag || backward ? add(read, j) : source[read[0][0]][j])));

	const short = x => (condition in SHORTER && Number.isFinite(x) ? ofBits(SHORTER[condition](bitsOf(x))) : x);
	const terms = factors.map(row => row.map((x, s) => source[s].map(w => f32(short(x) * short(w)))));
	const sums = terms.map(lines => columns.map(j => { let sum = 0; return lines.map(line => (sum = f32(sum + line[j]))); }));
	// Autocast gives its results in bfloat16, TF32 in float32.
	const product = sums.map(row => row.map(partial => (condition === "bfloat16" ? short : f32)(partial.at(-1))));
	const xors = lookup.map((row, r) => row.map((x, j) => bitsOf(x) ^ bitsOf(product[r][j])));
	return { factors, source, used, lookup, terms, sums, product, xors };
};

const minus = x => String(x).replace(/-/g, "−");
const exact = x => (Object.is(x, -0) ? "−0" : minus(+x.toPrecision(9)).replace("Infinity", "∞"));
const brief = x => (!Number.isFinite(x) || !(x % 1 || Math.abs(x) >= 1e5) ? exact(x) : minus(Math.abs(x) < 0.005 || Math.abs(x) >= 1e5 ? x.toExponential(0) : x.toFixed(2)));
const write = (node, text) => node.textContent === text || (node.textContent = text);
const flag = (node, flags) => Object.entries(flags).forEach(([name, on]) => node.classList.toggle(name, !!on));
const color = (node, id) => {
	flag(node, { lit: id >= 0 });
	for (const part of ["fill", "stroke"]) node.style.setProperty(`--${part}`, id >= 0 ? `var(--figure-${part}-${id % 8})` : "");
};
const clamp = (x, size) => Math.min(Math.max(x, 0), size - 1);
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const CHANGES = { nan: "nan", total: "counts" }; // the switches that guesses are about
const MOST = 6, STEP_MS = 80, SLOW_MS = 400, NAN_MS = 800, FALL_MS = 700;
const ARROWS = { Left: [0, -1], Right: [0, 1], Up: [-1, 0], Down: [1, 0] };

const fly = ({ line }, to, direction = "normal") => {
	const [a, b] = [line, to.line].map(node => node.getBoundingClientRect());
	line.animate([{}, { transform: `translate(${b.right - a.right}px, ${b.y - a.y}px)`, opacity: 0.3 }], { duration: FALL_MS, easing: "ease-in-out", direction });
};

class LookupExplorer extends HTMLElement {
	static compute = compute;

	connectedCallback() {
		this.data = JSON.parse(this.querySelector("script").textContent);
		const state = this.state = this.data.state;
		this.withheld = ["lookup", "zeros"].includes(this.data.asks); // the line that has the answer to the guess
		this.initial = String([state.ids, state.weights]); // what the guesses are about
		for (const node of this.querySelectorAll("[class]")) this[node.className] = node; // this.stage, this.play ...
		for (const radio of this.querySelectorAll("[type=radio]")) radio.onchange = () => {
			state[radio.name] = radio.value;
			state.at = [radio.value === "zero" ? state.ids[0] : 0, 0]; // a −0 shows its sign in a row that is looked up
			this.withheld = false;
			this.renew();
		};
		(this.guesses = [...this.querySelectorAll(".guess button")]).forEach(button => { button.onclick = () => this.take(button); });
		[...this.pick.children].forEach((button, id) => {
			color(button, id in state.table ? id : -1);
			button.onclick = () => this.ask(id);
		});
		this.play.onclick = () => this.toggle();
		this.scrub.oninput = () => { this.stop(); this.withheld = false; this.done = +this.scrub.value; this.paint(); };
		this.stage.onclick = this.stage.onkeydown = event => this.touch(event);
		this.renew();
		const choices = (this.closest(".cell") || this).previousElementSibling?.querySelector(".choices"); // a guess about this figure, which would show the answer
		if (choices) {
			this.done = 0;
			this.paint();
			choices.addEventListener("click", ({ target }) => target.type === "button" && !this.playing && (STILL.matches ? this.finish() : this.toggle()));
		}
		new IntersectionObserver(([{ isIntersecting }]) => { this.seen = isIntersecting; this.advance(); }).observe(this.stage);
	}

	// Take the reader's guess and show the answer; some guesses are about a switch.
	take(guess) {
		const change = this.querySelector(`[value=${CHANGES[this.data.asks]}]`);
		this.withheld = false;
		if (change) { change.checked = true; change.onchange(); } else this.renew();
		if (!this.playing && !STILL.matches) this.toggle();
		this.guess = guess;
		this.paint();
		this.verdict.scrollIntoView({ block: "nearest" });
	}

	ask(id) {
		const { ids, weights, mode, table } = this.state;
		if (ids.length === MOST) return;
		ids.push(id);
		weights.push(1);
		this.renew();
		if (ids.length === MOST) this.asked.lastChild.firstChild.focus(); // the focused button is disabled now
		if (mode === "bag" || !(id in table) || STILL.matches) return;
		this.done = this.total - this.row;
		this.toggle();
	}

	drop(place) {
		for (const list of [this.state.ids, this.state.weights]) list.splice(place, 1);
		this.renew();
		const { firstChild } = this.asked.children[place] || this.asked.lastChild;
		(firstChild.disabled ? this.pick.children[0] : firstChild).focus(); // the last id has to stay
	}

	// Rebuild the ids and the tables after a change of the state.
	renew() {
		const { state, data, stage } = this, { mode, ids, weights } = state, backward = mode === "backward", bag = mode === "bag";
		const label = id => (id < 0 ? [_("total")] : [`${id} `, make("i", {}, data.words[id] || _("no row"))]);
		this.stop();
		this.look = this.guess = null;
		state.at[0] = clamp(state.at[0], (backward ? ids : state.table).length);
		const { factors, source, bad } = compute(state), titles = data.titles[mode];
		for (const button of this.pick.children) button.disabled = ids.length === MOST;
		this.asked.replaceChildren(...ids.map((id, n) => {
			const remove = make("button", { type: "button", disabled: ids.length < 2, onclick: () => this.drop(n) }, ...label(id), make("b", { role: "img", ariaLabel: _("remove") }, "×"));
			const weight = make("input", { type: "number", step: 0.1, value: weights[n], hidden: !bag, ariaLabel: _("Weight of id {0}", id), oninput: () => { weights[n] = +weight.value; this.guess = null; this.paint(); } });
			const item = make("li", {}, remove, weight);
			color(item, id in state.table ? id : -1);
			return item;
		}));
		if (bad >= 0) {
			stage.replaceChildren(...(this.tables || []).slice(0, 1).map(({ body }) => body), ...[bag ? data.says.bag[bad] : data.says.lookup, data.says.product].map((text, k) => make("p", {}, make("b", {}, titles[k + 1]), make("code", {}, text))));
			return this.paint();
		}
		// Forward, a step is a multiplication; backward, a row of gradient that arrives.
		this.row = backward ? 1 : source.length * source[0].length;
		this.total = this.scrub.max = backward ? ids.length : factors.length * this.row;
		this.done = this.total;
		this.tables = [source, factors, factors].map((rows, k) => {
			const body = make("table", { className: `${["source", "copied", "multiplied"][k]} ${mode}` }, make("caption", {}, titles[k]));
			const lines = rows.map((row, r) => {
				const id = k ? (bag ? -1 : backward ? r : ids[r]) : backward ? ids[r] : r;
				const factors = [[0], [], row][k].map(() => make("td", { className: "factor" }));
				const cells = source[0].map((_, j) => Object.assign(make("td", {}), { place: [k, r, j] }));
				const line = make("tr", {}, make("th", { scope: "row" }, ...label(id)), ...factors, ...cells);
				body.append(line);
				return { id, factors, cells, line };
			});
			return Object.assign(lines, { body });
		});
		stage.style.setProperty("--columns", source[0].length);
		stage.replaceChildren(...this.tables.map(({ body }) => body));
		this.paint();
	}

	// Show the bits of a result, or move the special value to a number of the table.
	touch(event) {
		const { state, tables } = this, arrow = ARROWS[event.key?.slice(5)];
		let [k, r, j] = event.target.place || [];
		if (k === undefined || (event.type === "keydown" && !arrow)) return;
		if (arrow) [r, j] = [clamp(r + arrow[0], tables[k].length), clamp(j + arrow[1], tables[k][0].cells.length)];
		if (k) this.look = [r, j];
		else if (state.condition in SPECIAL) state.at = [r, j];
		else return;
		this.paint();
		if (!arrow) return;
		event.preventDefault();
		tables[k][r].cells[j].focus();
	}

	paint() {
		const { state, done, total, row, tables } = this, { mode, condition, ids, at, weights } = state, now = compute(state), raised = now.bad >= 0;
		flag(this, { raised });
		for (const button of this.guesses) button.ariaPressed = button === this.guess;
		const isInitial = String([ids, weights]) === this.initial && ["", CHANGES[this.data.asks]].includes(condition);
		if (this.guesses[0]) this.guesses[0].parentNode.style.visibility = isInitial ? "" : "hidden";
		for (const group of this.querySelectorAll("fieldset")) group.disabled = raised; // no switch changes an error
		for (const line of this.why.children) line.hidden = line.dataset.of !== (raised ? "range" : condition || mode);
		if (raised) return write(this.verdict, _("Both raise an error: there is no row {0}. Remove it to go on.", ids[now.bad]));
		const { factors, source, used, lookup, terms, sums, product, xors } = now, columns = source[0].length, backward = mode === "backward";
		const shown = x => brief(condition === "zero" ? x : x + 0); // zero times a negative number is −0, which matters only there
		// In a grid, screen readers pass arrow keys on to the page.
		tables.forEach(({ body }, k) => { body.role = k || condition in SPECIAL ? "grid" : null; });
		const differing = xors.flatMap((line, n) => line.flatMap((xor, i) => (xor ? [[n, i]] : [])));
		const look = this.look || differing[0] || [mode === "backward" ? ids[0] : 0, 0], still = done === total;
		// The multiplication just made: row r of the result, row s of the source, column j.
		const r = still || backward ? look[0] : Math.floor(Math.max(done - 1, 0) / row), last = still ? row : done - 1 - r * row;
		const s = Math.floor(last / columns), j = last % columns;
		this.why.style.visibility = still ? "" : "hidden"; // it gives the answer away
		const arrived = n => still || n < done; // backward: whether row n of the gradient was added
		this.wait = !still && Number.isNaN(terms[r]?.[s]?.[j]) ? NAN_MS : total < 10 ? SLOW_MS : STEP_MS;
		const rounded = still && condition in SHORTER; // the numbers look alike, so their differences are shown
		const uncounted = condition === "counts";
		write(tables[1].body.caption, uncounted ? _("bag: each row once") : this.data.titles[mode][1]);
		write(tables[2].body.caption, rounded ? _("product − lookup") : uncounted ? _("multiply by the counts") : this.data.titles[mode][2]);

		tables[0].forEach(({ line, factors: [factor], cells, id }, k) => {
			const whole = still && !this.look && factors.length > 1; // the factors belong to one row of the result
			color(line, factors.some((row, n) => row[k] && (whole || backward || n === r)) ? id : -1);
			const read = still && uncounted ? used[r].filter(([from]) => from === k).length : factors[r]?.[k];
			write(factor, whole || (backward && !still) ? "" : `${brief(read)} ×`);
			cells.forEach((td, i) => {
				const past = !still && !backward && k * columns + i <= last, planted = condition in SPECIAL && at[0] === k && at[1] === i;
				write(td, shown(source[k][i]));
				flag(td, { past, planted, now: past && k === s && i === j });
				td.tabIndex = planted - 1;
			});
		});
		lookup.forEach((cells, n) => {
			const [copied, added] = [tables[1][n], tables[2][n]];
			for (const { line, id } of [copied, added]) color(line, backward ? used[n].some(([from]) => arrived(from)) ? id : -1 : used[n][0] && (still || n <= r) ? id : -1);
			added.factors.forEach((td, k) => {
				write(td, brief(factors[n][k]));
				flag(td, { one: factors[n][k] && (!backward || arrived(k)), now: !still && !backward && n === r && k === s });
			});
			cells.forEach((x, i) => {
				const count = still || (n < r && !backward) ? source.length : backward ? done : n > r ? 0 : s + (i <= j);
				const pair = [copied.cells[i], added.cells[i]], selected = still && n === look[0] && i === look[1];
				const partial = used[n].filter(([from]) => arrived(from)).reduce((sum, [from]) => f32(sum + source[from][i]), 0);
				write(pair[0], backward && !still ? shown(partial) : still || n < r || (n === r && done) ? brief(x) : "");
				write(pair[1], rounded ? brief(f32(product[n][i] - x)) : count > 0 ? shown(count < source.length ? sums[n][i][count - 1] : product[n][i]) : backward ? "0" : "");
				for (const td of pair) {
					flag(td, { seen: selected, differs: still && xors[n][i], partial: td === pair[1] && count < source.length });
					td.tabIndex = selected - 1;
				}
			});
		});

		this.scrub.value = done;
		this.scrub.ariaValueText = _("{0} of {1}", done, total);
		write(this.play, this.playing ? "❚❚ " + _("pause") : "▶ " + (backward ? _("send back") : _("multiply")));
		const bag = mode === "bag", all = factors.length * columns, [place, column] = look, { asks } = this.data, zeros = factors.flat().filter(x => !x).length * columns;
		const pick = numbers => (backward && columns < 3 ? `(${numbers.map(brief).join(", ")})` : this.quantity(numbers[column], column));
		const addends = used[place].map(([from, weight]) => (bag ? `${brief(weight)} × ` : "") + pick(source[from]));
		const receipt = (addends.join(" + ") || "0") + (bag || addends[1] ? ` = ${pick(lookup[place])}` : "");
		let line;
		if (backward) line = still ? _("Row {0}: {1}", place, receipt) : _("{0} of {1} rows have arrived", done, total);
		else if (!done) line = bag ? _("What is the total?") : _("{0} multiplications", total);
		else if (!still) line = _("{0} of {1}", done, total) + `: ${s ? shown(sums[r][j][s - 1]) : "0"} + ${brief(factors[r][s])} × ${brief(source[s][j])} = ${shown(sums[r][j][s])}`;
		else if (this.withheld && isInitial) line = "";
		else if (asks === "lookup") line = _("The product made {0} multiplications, the lookup none.", total);
		else line = bag ? receipt : condition ? "" : _("{0} of {1} multiplications were by zero; the lookup made none.", zeros, total);
		write(this.sum, line);
		const pair = [lookup, product].map(rows => rows[look[0]][look[1]]), words = pair.map(x => bitsOf(x).toString(2).padStart(32, 0));
		pair.forEach((x, k) => {
			const line = this.bits.children[k + 1];
			write(line.children[1], exact(x));
			line.ariaLabel = _("{0}, bits {1}", line.textContent, words[k]);
			[...line.lastChild.children].forEach((bit, n) => flag(bit, { on: +words[k][n], differs: words[0][n] !== words[1][n] }));
		});
		flag(this.stage, { same: still && !differing[0], apart: still && differing[0] });
		const bits = xors.flat().reduce((sum, xor) => sum + ones(xor), 0);
		write(this.count, _("Bits that differ: {0} of {1}.", bits, 32 * all));
		const nans = [product, lookup].map(rows => rows.flat().filter(Number.isNaN).length);
		const totals = [lookup, product].map(([row]) => row.map((x, i) => this.quantity(x, i)).join(_(", ")));
		// Both are within the bound of the exact sum, so within twice the bound of each other.
		const allowed = i => 2 * this.data.bounds[ids.length] * ids.reduce((sum, id, n) => sum + Math.abs(weights[n] * source[id][i]), 0);
		let verdict;
		if (nans[0]) verdict = _("NaN: {0} in the product, {1} in the lookup.", ...nans);
		else if (uncounted) verdict = _("Without the counts {0}; with them {1}.", ...totals);
		else if (bag && !condition) verdict = differing.every(([n, i]) => Math.abs(lookup[n][i] - product[n][i]) <= allowed(i)) ? _("Total: {0}.", totals[0]) : _("Beyond the bound of a rounded sum.");
		else verdict = bits ? _("Different: {0} of {1} numbers, {2} of {3} bits.", differing.length, all, bits, 32 * all) : _("The same {0} numbers, both ways.", all);
		const guess = this.guess?.textContent;
		const answer = { zeros, lookup: 0, nan: nans[0], total: this.quantity(lookup[0][0], 0) }[asks];
		flag(this.verdict, { right: guess === String(answer) });
		if (guess) verdict = (guess === String(answer) ? _("Right: {0}.", guess) : _("Not {0}, but {1}.", guess, answer)) + " " + verdict;
		const waiting = this.playing ? (backward ? _("Adding …") : _("Multiplying …")) : done ? _("Paused.") : "";
		write(this.verdict, still ? verdict : waiting);
	}

	quantity(x, column) {
		const unit = this.data.units[column];
		return !unit ? brief(x) : /\w/.test(unit) ? `${brief(x)} ${unit}` : unit + brief(x);
	}

	stop() {
		this.playing = false;
		clearTimeout(this.timer); // a row of gradient on its way does not arrive
	}

	finish() {
		this.stop();
		this.done = this.total;
		this.paint();
	}

	toggle() {
		this.withheld = false;
		if (this.done === this.total) this.done = 0;
		if (STILL.matches) this.done += this.row - (this.done % this.row); // to the row's end at once
		this.playing = !this.playing && !STILL.matches;
		this.paint();
		this.advance();
	}

	// Backward: the next row of gradient flies to the row of its id, and is added when it is there.
	arrive() {
		const n = this.done, to = this.state.ids[n];
		for (const table of this.tables.slice(1)) fly(this.tables[0][n], table[to]);
		this.timer = setTimeout(() => {
			this.done = n + 1;
			if (this.done === this.total) this.playing = false;
			this.paint();
			this.timer = setTimeout(() => this.advance(), FALL_MS / 2);
		}, FALL_MS);
	}

	advance() {
		clearTimeout(this.timer);
		if (!this.playing || !this.seen) return; // paused when off screen
		if (this.state.mode === "backward") return this.arrive();
		const ended = ++this.done % this.row === 0, r = Math.ceil(this.done / this.row) - 1, [source, copied] = this.tables;
		if (this.done === this.total) this.playing = false;
		this.paint();
		if (this.done % this.row === 1) for (const [s] of compute(this.state).used[r]) fly(copied[r], source[s], "reverse");
		this.timer = setTimeout(() => this.advance(), ended ? FALL_MS : this.wait);
	}
}
// [250]{.counter} becomes a button that adds 1 to a number in float32 and to one in bfloat16.
for (const counter of document.querySelectorAll(".counter")) {
	let long = +counter.textContent, short = long;
	const value = make("output", {}), show = () => write(value, _("float32: {0}, bfloat16: {1}", long, short));
	const add = times => {
		for (; times; times--) { long++; short = ofBits(SHORTER.bfloat16(bitsOf(short + 1))); }
		show();
	};
	const button = (times, text) => make("button", { type: "button", onclick: () => add(times) }, text);
	counter.replaceChildren(button(1, _("add 1")), button(100, "× 100"), value);
	show();
}
customElements.define("lookup-explorer", LookupExplorer);
}
