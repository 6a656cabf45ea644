// [a; b; c]{.choices} becomes a button for each answer to a guess. The right one is the bold beginning of the next fold, which opens.
for (const choices of document.querySelectorAll("span.choices")) {
	const answer = [...document.querySelectorAll("details.sd-dropdown")].find(fold => choices.compareDocumentPosition(fold) & Node.DOCUMENT_POSITION_FOLLOWING);
	const plain = text => text.toLowerCase().replace(/[.:。,，]$/, ""), texts = [...choices.children].map(answer => answer.textContent.replace(/; $|；$/, ""));
	const right = texts.find(text => plain(text) === plain(answer.querySelector("strong").textContent));
	const outcome = make("output", {});
	const buttons = texts.map(text => make("button", { type: "button", ariaPressed: "false", onclick: ({ currentTarget }) => {
		for (const button of buttons) button.ariaPressed = String(button === currentTarget);
		outcome.classList.toggle("right", text === right);
		outcome.textContent = text === right ? _("Right: {0}.", text) : _("Not {0}, but {1}.", text, right);
		answer.open = true;
	} }, text));
	choices.replaceChildren(...buttons, outcome);
}
