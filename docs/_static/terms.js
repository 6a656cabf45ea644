// Without a pointer that hovers, a tap on a term shows its definition below the paragraph, and a second tap follows the link.
for (const link of document.querySelectorAll("a[href*='#term-'][title]")) {
	link.addEventListener("click", event => {
		const block = link.closest("p, li, td");
		if (!matchMedia("(hover: none)").matches || !block || block.querySelector(".definition")?.dataset.of === link.href) return;
		event.preventDefault();
		block.querySelector(".definition")?.remove();
		const note = make("span", { className: "definition", role: "status" }, link.title);
		note.dataset.of = link.href;
		block.append(note);
	});
}
