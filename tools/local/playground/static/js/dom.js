// Builds elements. Text is always text: what people write never becomes markup.

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function icon(name, label = "") {
  const drawn = svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": label ? "false" : "true" });
  if (label) {
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", label);
  }
  drawn.append(svg("use", { href: `#i-${name}` }));
  return drawn;
}

export const $ = (selector) => document.querySelector(selector);

// Keeps the elements of `container` in step with `items`: an element stays as long as its item's value does, so
// that focus, selection and opened details survive what does not concern them.
export function keyed(container, items, keyOf, render) {
  const known = new Map([...container.children].map((element) => [element.dataset.key, element]));
  let at = container.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    const mark = JSON.stringify(item);
    let element = known.get(key);
    if (!element || element.dataset.mark !== mark) {
      const opened = element?.querySelector("details")?.open;
      const fresh = render(item);
      fresh.dataset.key = key;
      fresh.dataset.mark = mark;
      if (opened && fresh.querySelector("details")) fresh.querySelector("details").open = true;
      if (element) {
        if (at === element) at = fresh;
        element.replaceWith(fresh);
      }
      element = fresh;
    }
    known.delete(key);
    if (element === at) at = at.nextElementSibling;
    else container.insertBefore(element, at);
  }
  for (const left of known.values()) left.remove();
}

// WhatsApp's own marks: *bold*, _italic_, ~struck~, ```code```.
const MARKS = /(```[^`]+```|(?<![\p{L}\p{N}])\*[^*\s](?:[^*\n]*[^*\s])?\*(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])_[^_\s](?:[^_\n]*[^_\s])?_(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])~[^~\s](?:[^~\n]*[^~\s])?~(?![\p{L}\p{N}]))/u;
const TAGS = { "*": "strong", _: "em", "~": "s" };

export function formatted(text) {
  return text.split(MARKS).map((piece, place) => {
    if (place % 2 === 0) return piece;
    if (piece.startsWith("```")) return h("code", {}, piece.slice(3, -3));
    return h(TAGS[piece[0]], {}, piece.slice(1, -1));
  });
}
