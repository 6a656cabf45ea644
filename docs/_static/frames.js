/* A drawing of several steps: a slider and a button move what has data-frames from step to step.
   data-steps has the number of each step, data-frames the names of attributes and their values at each. */
const STILL_MS = 1500; // how long a reader without motion sees the start
const STEP_NAMES = { trained: _("as trained"), input: _("at the input"), both: _("at both ends") };
for (const svg of document.querySelectorAll("svg[data-steps]")) {
	const steps = svg.dataset.steps.split(" "), last = steps.length - 1, STEP_MS = 6000 / last;
	const moving = [...svg.querySelectorAll("[data-frames]")].map(node => {
		const [names, ...rows] = node.dataset.frames.split(";").map(part => part.split(" "));
		return [node, names, rows.map(row => row.map(Number))];
	});
	const name = step => STEP_NAMES[step] || (step.startsWith("length:") ? _("length {0}", step.slice(7)) : _("step {0}", step));
	const slider = make("input", { type: "range", max: last, value: last, autocomplete: "off", ariaLabel: _("Step") });
	const button = make("button", { type: "button" }), label = make("output", {}), controls = make("div", { className: "frames" }, button, slider, label);
	let playing = 0, timer; // when not 0, the time at which step 0 was shown
	const show = time => {
		const k = Math.min(Math.floor(time), last - 1), share = time - k; // between two steps, values are interpolated
		for (const [node, names, rows] of moving) {
			const part = names[0] === "opacity" ? Math.round(share) : share; // texts do not fade into one another
			const values = rows[k].map((value, i) => value + part * (rows[k + 1][i] - value));
			if (names[0] === "translate") node.setAttribute("transform", `translate(${values.join(" ")})`);
			else names.forEach((name, i) => node.setAttribute(name, values[i]));
		}
		slider.value = time;
		label.textContent = slider.ariaValueText = name(steps[Math.round(time)]);
		button.textContent = playing ? "❚❚ " + _("pause") : "▶ " + _("play");
	};
	const play = now => {
		if (!playing) return;
		const time = Math.min(Math.max(now - playing, 0) / STEP_MS, last); // a frame may have begun before the click
		if (time === last) playing = 0;
		show(time);
		requestAnimationFrame(play);
	};
	slider.oninput = () => { playing = 0; clearTimeout(timer); show(+slider.value); };
	button.onclick = () => {
		const from = +slider.value < last ? +slider.value : 0;
		if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
			const isAtStart = from || !+slider.value; // or on its way, else the start comes first
			clearTimeout(timer);
			if (!isAtStart) timer = setTimeout(show, STILL_MS, last);
			return show(isAtStart ? last : 0);
		}
		playing = playing ? 0 : performance.now() - from * STEP_MS;
		show(from);
		requestAnimationFrame(play);
	};
	svg.after(controls);
	const guess = svg.closest("figure").previousElementSibling?.querySelector(".choices");
	guess?.addEventListener("click", ({ target }) => target.type === "button" && !playing && button.click());
	addEventListener("beforeprint", () => { playing = 0; show(last); });
	show(guess ? 0 : last); // without a guess about it, as without this script
}
