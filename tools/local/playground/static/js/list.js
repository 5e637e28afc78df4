// A list of any length in a bounded page: rows lie in blocks, and only blocks near the view hold elements.

import { h } from "./dom.js";

const PER_BLOCK = 40;
const MARGIN = 1200;

export class LongList {
  // `render(item, before)` draws a row; `before` is the item above it. `rowHeight` is a first guess in pixels.
  constructor(scroller, render, { rowHeight = 60, sticky = true } = {}) {
    this.scroller = scroller;
    this.render = render;
    this.rowHeight = rowHeight;
    this.sticky = sticky;
    this.body = h("div", { class: "blocks" });
    scroller.append(this.body);
    this.items = [];
    this.places = new Map();
    this.blocks = [];
    this.observer = new IntersectionObserver((entries) => this.seen(entries), {
      root: scroller, rootMargin: `${MARGIN}px 0px`,
    });
    this.atEnd = true;
    scroller.addEventListener("scroll", () => {
      this.atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 60;
    }, { passive: true });
    new ResizeObserver(() => this.stay()).observe(scroller);
  }

  // Shows these items: `{key, order, …}`. Only rows of which the item is another object are drawn again.
  update(items) {
    const before = this.items;
    this.items = items;
    let firstMoved = items.length === before.length ? -1 : Math.min(items.length, before.length);
    const redraw = [];
    for (let place = 0; place < Math.min(items.length, before.length); place++) {
      if (items[place].key !== before[place].key) {
        firstMoved = place;
        break;
      }
      if (items[place] !== before[place]) redraw.push(place);
    }
    if (firstMoved >= 0) this.arrange(firstMoved);
    for (const place of redraw) this.redraw(place);
    this.stay();
  }

  clear() {
    this.observer.disconnect();
    this.body.replaceChildren();
    this.items = [];
    this.blocks = [];
    this.places.clear();
    this.atEnd = true;
  }

  reveal(key) {
    const place = this.places.get(key);
    if (place === undefined) return null;
    this.atEnd = false;
    const block = this.blocks[Math.floor(place / PER_BLOCK)];
    this.fill(block);
    const row = block.element.children[place % PER_BLOCK];
    row.scrollIntoView({ block: "center" });
    row.classList.remove("flash");
    void row.offsetWidth;
    row.classList.add("flash");
    return row;
  }

  arrange(from) {
    for (let place = from; place < this.items.length; place++) this.places.set(this.items[place].key, place);
    const wanted = Math.ceil(this.items.length / PER_BLOCK);
    while (this.blocks.length > wanted) {
      const block = this.blocks.pop();
      this.observer.unobserve(block.element);
      block.element.remove();
    }
    for (let number = Math.floor(from / PER_BLOCK); number < wanted; number++) {
      let block = this.blocks[number];
      const size = Math.min(PER_BLOCK, this.items.length - number * PER_BLOCK);
      if (!block) {
        block = { number, live: false, size, element: h("div", { class: "block" }) };
        block.element.style.height = `${size * this.rowHeight}px`;
        block.element.dataset.number = number;
        this.blocks.push(block);
        this.body.append(block.element);
        this.observer.observe(block.element);
        if (number >= wanted - 2 && this.atEnd) this.fill(block);
      } else if (block.live) {
        const start = number * PER_BLOCK;
        const kept = Math.max(0, Math.min(from - start, block.element.children.length));
        while (block.element.children.length > kept) block.element.lastElementChild.remove();
        for (let place = start + kept; place < start + size; place++) block.element.append(this.row(place));
      } else if (block.size !== size) {
        block.element.style.height = `${size * this.rowHeight}px`;
      }
      block.size = size;
    }
  }

  row(place) {
    return this.render(this.items[place], this.items[place - 1]);
  }

  redraw(place) {
    const block = this.blocks[Math.floor(place / PER_BLOCK)];
    if (block?.live) block.element.children[place % PER_BLOCK].replaceWith(this.row(place));
  }

  // Draws every row again: the language has changed.
  refresh() {
    for (let place = 0; place < this.items.length; place++) this.redraw(place);
  }

  seen(entries) {
    for (const entry of entries) {
      const block = this.blocks[entry.target.dataset.number];
      if (!block || block.element !== entry.target) continue;
      if (entry.isIntersecting) this.fill(block);
      else this.empty(block);
    }
    this.stay();
  }

  fill(block) {
    if (block.live) return;
    const start = block.number * PER_BLOCK;
    const rows = [];
    for (let place = start; place < start + block.size; place++) rows.push(this.row(place));
    block.element.replaceChildren(...rows);
    block.element.style.height = "";
    block.live = true;
  }

  empty(block) {
    if (!block.live || (this.atEnd && block.number === this.blocks.length - 1)) return;
    block.element.style.height = `${block.element.offsetHeight}px`;
    block.element.replaceChildren();
    block.live = false;
  }

  // Keeps to the end, as a chat does, unless the reader has scrolled up.
  stay() {
    if (this.sticky && this.atEnd) this.scroller.scrollTop = this.scroller.scrollHeight;
  }
}
