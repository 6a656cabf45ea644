/* The memory budget: replaces the picture in #fig-budget by controls, and a bar for each part of a training step.
   The formulas are those of training_bytes on the page; a test compares the numbers of both. */
{
  const NUMBERS = { // label; smallest, largest and initial position of the slider, an exponent of two except for blocks
    V: [_("vocabulary V"), 8, 19, 18], d: [_("columns d"), 5, 14, 11], batch: [_("texts in a batch"), 0, 10, 3],
    length: [_("tokens in a text"), 5, 17, 11], blocks: [_("blocks"), 0, 96, 18],
  };
  const CHOICES = { // number, score, master, cast and saved of training_bytes; numbers that the optimizer keeps
    dtype: [_("number type"), {
      [_("bfloat16, loss in float32")]: [2, 12, 0, 0, 16], [_("bfloat16 with float32 master weights")]: [2, 12, 4, 0, 16],
      [_("float32 with autocast to bfloat16")]: [4, 12, 0, 2, 9], bfloat16: [2, 6, 0, 0, 16], float32: [4, 12, 0, 0, 16],
    }],
    optimizer: [_("optimizer"), { Adam: 2, [_("SGD with momentum")]: 1, SGD: 0 }],
  };
  const SWITCHES = {
    tied: [_("one table for both ends"), true], chunked: [_("loss in chunks of 1,024 tokens"), false], checkpoints: [_("checkpoints"), false],
  };
  const PRESETS = { // the sizes of each; Llama with the blocks of GPT-2
    [_("my laptop")]: { V: 8192, d: 256, batch: 16, length: 128, blocks: 4, dtype: "float32", tied: true },
    "GPT-2": { V: 50257, d: 768, batch: 8, length: 1024, blocks: 12, dtype: "float32", tied: true },
    Llama: { V: 128256, d: 4096, batch: 1, length: 8192, blocks: 32, dtype: _("bfloat16, loss in float32"), tied: false },
  };
  const PARTS = {
    parameters: _("parameters"), gradients: _("gradients"), optimizer: _("optimizer"), activations: _("activations"), logits: _("logits"),
    copies: _("copies for the chunks"),
  };

  const count = ({ V, d, batch, length, blocks, dtype, optimizer, tied, chunked, checkpoints }) => {
    const [number, score, master, cast, saved] = dtype, tokens = batch * length, logits = (chunked ? 12 * Math.min(tokens, 1024) : score * tokens) * V;
    const table = V * d, inner = 12 * blocks * d ** 2, weights = inner + table * (tied ? 1 : 2);
    const [held, added] = !chunked ? [0, 0] : number === 4 ? [4, 12] : [10, 14];
    const parts = {
      parameters: number * weights,
      gradients: number * weights + Math.max(tied ? 2 * number * table : 0, master * weights),
      optimizer: (master + (master || number) * optimizer) * weights,
      activations: number * (checkpoints ? blocks + saved : saved * blocks) * tokens * d + cast * (inner + table),
      logits, copies: Math.max(held * table, added * table - logits),
    };
    const loss = parts.activations + logits + parts.copies;
    return { parts, peak: parts.parameters + parts.optimizer + Math.max(loss, parts.gradients) };
  };

  const inUnit = bytes => {
    const [name, unit] = [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]].find(([, size]) => bytes >= size) || [_("bytes"), 1];
    return `${(bytes / unit).toLocaleString("en", { minimumFractionDigits: unit > 1 ? 1 : 0, maximumFractionDigits: 1 })} ${name}`;
  };

  const figure = document.getElementById("fig-budget"), inputs = {}, sliders = {}, rows = {};
  const form = make("form", { className: "budget-controls", onsubmit: event => event.preventDefault() });
  for (const [name, [label, min, max, value]] of Object.entries(NUMBERS)) {
    const [size, position] = name === "blocks" ? [Number, Number] : [power => 2 ** power, Math.log2];
    const field = inputs[name] = make("input", { type: "number", name, min: +(name !== "blocks"), required: true, value: size(value), oninput: () => { if (field.validity.valid) slider.value = position(field.value); } });
    const slider = sliders[name] = make("input", { type: "range", min, max, value, ariaLabel: label, oninput: () => { field.value = size(slider.value); } });
    form.append(make("div", {}, make("label", {}, label, field), slider));
  }
  for (const [name, [label, options]] of Object.entries(CHOICES)) {
    inputs[name] = make("select", { name }, ...Object.keys(options).map(text => make("option", {}, text)));
    form.append(make("label", {}, make("span", {}, label), inputs[name]));
  }
  for (const [name, [label, checked]] of Object.entries(SWITCHES)) {
    inputs[name] = make("input", { type: "checkbox", name, checked });
    form.append(make("label", { className: "budget-switch" }, inputs[name], ` ${label}`));
  }
  form.prepend(make("div", { className: "budget-presets" }, ...Object.entries(PRESETS).map(([name, sizes]) => make("button", { type: "button", onclick: () => {
    for (const [size, value] of Object.entries(sizes)) {
      inputs[size][size === "tied" ? "checked" : "value"] = value;
      if (sliders[size]) sliders[size].value = size === "blocks" ? value : Math.log2(value);
    }
    update();
  } }, name))));
  const body = make("tbody"), verdict = make("p", { className: "budget-verdict", role: "status" });

  const update = () => {
    const invalid = Object.keys(NUMBERS).find(name => !inputs[name].validity.valid);
    body.style.visibility = invalid ? "hidden" : ""; // no numbers of an earlier state
    if (invalid) {
      delete verdict.dataset.bytes;
      verdict.textContent = _("{0}: type a whole number from {1}.", NUMBERS[invalid][0], inputs[invalid].min);
      return;
    }
    const state = {};
    for (const name in NUMBERS) sliders[name].ariaValueText = (state[name] = +inputs[name].value).toLocaleString("en");
    for (const [name, [, options]] of Object.entries(CHOICES)) state[name] = options[inputs[name].value];
    for (const name in SWITCHES) state[name] = inputs[name].checked;
    const { parts, peak } = count(state), most = Math.max(...Object.values(parts));
    const costly = count({ ...state, dtype: [4, 12, 0, 0, 16], optimizer: 2, tied: false, chunked: false, checkpoints: false });
    const scale = Math.max(most, ...Object.values(costly.parts)); // of the costliest choices, so that bars show what a choice saves
    for (const [name, bytes] of Object.entries(parts)) {
      if (!rows[name]) {
        const [bar, size] = [make("i"), make("span")];
        rows[name] = { row: make("tr", {}, make("th", { scope: "row" }, PARTS[name]), make("td", {}, bar, size)), bar, size };
        body.append(rows[name].row);
      }
      const { row, bar, size } = rows[name];
      row.dataset.bytes = bytes;
      row.classList.toggle("budget-largest", bytes === most);
      bar.style.width = `${100 * bytes / scale}%`;
      size.textContent = inUnit(bytes);
    }
    verdict.dataset.bytes = peak;
    const largest = Object.keys(parts).find(name => parts[name] === most);
    verdict.textContent = _("At the peak {0}; the largest part: {1}, {2}.", inUnit(peak), PARTS[largest], inUnit(most));
  };
  form.oninput = update;
  update();
  const head = make("thead", {}, make("tr", {}, ...[_("part"), _("bytes")].map(text => make("th", { scope: "col" }, text))));
  figure.querySelector(".output").replaceWith(make("div", { className: "budget" }, form, make("table", {}, head, body), verdict));
}
