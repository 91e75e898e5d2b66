// What a page lacks for people who see, hear or point differently: a list of sentences, empty when it lacks nothing.
() => {
  const shown = node => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && node.getClientRects().length > 0;
  const within = (node, selector) => node.closest(selector) !== null;
  const clipped = node => within(node, ".unseen, .skip");
  const what = node => `${node.tagName.toLowerCase()}${node.id ? `#${node.id}` : ""}.${[...node.classList].join(".")} “${(node.textContent || "").trim().slice(0, 30)}”`;

  const labelText = node => [...(node.labels ?? [])].map(label => label.textContent).join(" ");
  const spoken = node => [...node.childNodes].map(child =>
    child.nodeType === Node.TEXT_NODE ? child.data : child.ariaHidden === "true" ? "" : child.alt ?? spoken(child)).join("");
  const name = node => (node.ariaLabel ?? (node.getAttribute("aria-labelledby") ?? "").split(" ").map(id => document.getElementById(id)?.textContent ?? "").join(" ").trim())
    || labelText(node).trim() || spoken(node).trim();

  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = colour => {
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = brush.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, index) => a * value + (1 - a) * below[index]);
  const backdrop = node => {
    if (node === null) return rgba(getComputedStyle(document.documentElement).colorScheme === "dark" ? "black" : "white").slice(0, 3);
    const own = rgba(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, backdrop(node.parentElement));
  };
  const opacity = node => (node === null ? 1 : Number(getComputedStyle(node).opacity) * opacity(node.parentElement));
  const luminance = colour => {
    const [r, g, b] = colour.map(value => value / 255).map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };

  const lacks = [];
  const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, [role=button]")].filter(shown);
  for (const node of controls) {
    if (!name(node)) lacks.push(`no name: ${what(node)}`);
    const box = (node.matches(".unseen") ? node.closest("label") : node).getBoundingClientRect();
    const inText = node.matches("a") && getComputedStyle(node).display === "inline";
    if (!inText && !clipped(node) && !node.matches("[type=radio], [type=checkbox]") && Math.min(box.width, box.height) < 24) lacks.push(`too small to hit: ${what(node)}`);
  }
  for (const node of document.querySelectorAll("img")) if (!node.hasAttribute("alt")) lacks.push(`no alt: ${what(node)}`);
  for (const node of document.querySelectorAll("svg")) if (!node.getAttribute("aria-label") && node.ariaHidden !== "true") lacks.push("an svg says nothing");
  for (const node of document.querySelectorAll("nav, aside")) if (shown(node) && !name(node).length) lacks.push(`landmark without a name: ${what(node)}`);
  for (const landmark of ["header", "main", "main h1"]) if (document.querySelectorAll(landmark).length < 1) lacks.push(`no ${landmark}`);
  if (document.querySelectorAll("main, [role=main]").length !== 1 || document.querySelectorAll("h1").length !== 1) lacks.push("not one main part with one h1");
  if (!document.querySelector("[aria-live], [role=status]")) lacks.push("nothing announces changes");
  if (!document.documentElement.lang || !document.title) lacks.push("no language or title");

  let level = 0;
  for (const node of [...document.querySelectorAll("h1, h2, h3, h4")].filter(shown)) {
    const next = Number(node.tagName[1]);
    if (next > level + 1 && level) lacks.push(`heading leaps from h${level} to h${next}: ${what(node)}`);
    level = next;
  }
  const ids = [...document.querySelectorAll("[id]")].map(node => node.id);
  for (const id of new Set(ids)) if (ids.filter(other => other === id).length > 1) lacks.push(`id twice: ${id}`);
  for (const node of document.querySelectorAll("[aria-describedby], [aria-labelledby], label[for]"))
    for (const id of (node.getAttribute("aria-describedby") ?? node.getAttribute("aria-labelledby") ?? node.htmlFor).split(" "))
      if (!document.getElementById(id)) lacks.push(`points at nothing: ${what(node)}`);

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (!text.data.trim() || !shown(node) || clipped(node) || within(node, ":disabled, option, noscript")) continue;
    const style = getComputedStyle(node);
    const behind = backdrop(node);
    const [r, g, b, a] = rgba(node instanceof SVGElement ? style.fill : style.color);
    const ratio = contrast(over([r, g, b, a * opacity(node)], behind), behind);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) lacks.push(`contrast ${ratio.toFixed(2)}: ${what(node)}`);
  }
  return lacks;
};
