// Prompt size and cost of each reply, beside what the full history would be.

import { $, h, svg } from "./dom.js";
import { count, money } from "./format.js";
import { room, show, stack } from "./live.js";
import { t } from "./words.js";

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [170, 56, 10, 10, 24];
const MOST_POINTS = 240;
let unit = "tokens";

export function startPlot() {
  for (const button of document.querySelectorAll("#plot-card [data-unit]")) {
    button.addEventListener("click", () => {
      unit = button.dataset.unit;
      for (const each of document.querySelectorAll("#plot-card [data-unit]")) each.setAttribute("aria-pressed", String(each === button));
      draw();
    });
  }
  show(["messages", "memory", "about", "reset", "language"], draw);
  let width = 0;
  new ResizeObserver(([entry]) => {
    if (Math.abs(entry.contentRect.width - width) < 2) return;
    width = entry.contentRect.width;
    requestAnimationFrame(draw);
  }).observe($("#plot"));
}

// One point per reply. The full history is what the same prompt would hold with every message so far instead of
// summary, facts and window; its tokens go by this reply's own characters per token, and all but the newest
// exchange counts as cached, which is the best case. A reply that called tools sent its prompt several times: the
// size is that of one, the cost that of all.
function points() {
  const price = stack.get("about")?.price;
  const fixed = room.memory.get("instructions_chars") ?? 0;
  const replies = [...room.messages.values()].filter((one) => one.role === "assistant" && one.usage.input && one.prompt_chars);
  replies.sort((one, other) => one.seq - other.seq);
  let before = 0;
  return replies.map((one) => {
    const perToken = one.prompt_chars / one.usage.input;
    const full = (fixed + one.talk_chars - one.text.length) / perToken;
    const cached = (one.calls - 1) * full + (before >= 1024 ? before : 0);
    before = full;
    const fullCost = price ? ((full * one.calls - cached) * price.input + cached * price.cached + one.usage.output * price.output) / 1e6 : 0;
    return { seq: one.seq, tokens: one.usage.input / one.calls, money: one.cost ?? 0, fullTokens: full, fullMoney: fullCost };
  });
}

function draw() {
  const found = points();
  const box = $("#plot");
  const about = stack.get("about");
  if (found.length < 2) {
    box.replaceChildren(h("p", { class: "empty" }, t("plot_empty")));
    return;
  }
  const WIDTH = Math.max(280, box.clientWidth || 420);
  const step = Math.ceil(found.length / MOST_POINTS);
  const shown = found.filter((_, place) => place % step === 0 || place === found.length - 1);
  const [ours, full] = unit === "tokens" ? ["tokens", "fullTokens"] : ["money", "fullMoney"];
  const most = Math.max(...shown.map((point) => Math.max(point[ours], point[full]))) * 1.08 || 1;
  const x = (place) => LEFT + ((WIDTH - LEFT - RIGHT) * place) / (shown.length - 1);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most);
  const line = (name) => shown.map((point, place) => `${place ? "L" : "M"}${x(place).toFixed(1)} ${y(point[name]).toFixed(1)}`).join("");
  const text = unit === "tokens" ? (value) => count(Math.round(value)) : money;
  const newest = found.at(-1);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": t("plot_desc", { count: found.length, ours: text(newest[ours]), full: text(newest[full]) }) });
  for (const share of [0, 0.5, 1]) {
    const value = (most / 1.08) * share;
    drawing.append(svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), class: "grid" }));
    drawing.append(label(LEFT - 6, y(value) + 4, text(value), "end"));
  }
  drawing.append(label(WIDTH - RIGHT, HEIGHT - 5, `${count(found.length)} ${t("plot_axis")}`, "end"));
  drawing.append(svg("path", { d: `${line(ours)}L${x(shown.length - 1)} ${y(0)}L${LEFT} ${y(0)}Z`, class: "area" }));
  drawing.append(svg("path", { d: line(full), class: "full" }), svg("path", { d: line(ours), class: "ours" }));
  shown.length <= 40 && shown.forEach((point, place) => drawing.append(svg("circle", { cx: x(place), cy: y(point[ours]), r: 2.6, class: "dot" })));
  box.replaceChildren(drawing, h("p", { class: "legend-line" },
    h("span", { class: "line-ours" }, `${t("plot_ours")}: ${text(newest[ours])}`), h("span", { class: "line-full" }, `${t("plot_full")}: ${text(newest[full])}`),
    about?.price && unit === "money" && h("small", {}, t("prices", { date: about.prices_as_of, model: about.model }))));
}

function label(x, y, text, anchor) {
  return svg("text", { x, y, "text-anchor": anchor, class: "axis" }, text);
}
