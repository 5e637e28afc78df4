// What the model saw: each call in its parts, coloured by kind, with what it shares with the one before.

import { $, h, icon } from "./dom.js";
import { count, exact, money, percent, seconds } from "./format.js";
import { room, show, stack } from "./live.js";
import { t } from "./words.js";

let chosen = null;
let opened = new Set();

export function startPrompts() {
  show(["calls", "about", "reset", "language"], ({ reset }) => {
    if (reset) chosen = null;
    draw();
  });
}

export function openCall(number) {
  chosen = number;
  draw();
}

function draw() {
  const calls = [...room.calls.values()].sort((one, other) => one.number - other.number);
  const head = $("#prompt-head");
  if (!calls.length) {
    head.replaceChildren();
    $("#prompt").replaceChildren(h("p", { class: "empty" }, t(stack.get("about")?.simulated === false ? "calls_real" : "no_calls")));
    return;
  }
  const place = chosen === null ? calls.length - 1 : Math.max(0, calls.findIndex((call) => call.number === chosen));
  const call = calls[place];
  const focused = document.activeElement?.id;
  head.replaceChildren(
    h("div", { class: "row" },
      h("div", { class: "pager" },
        h("button", { type: "button", id: "call-earlier", class: "small round", "aria-label": t("earlier"), title: t("earlier"), disabled: place === 0, onclick: () => go(calls, place - 1) }, icon("back")),
        h("span", {}, t("call_of", { number: place + 1, count: calls.length })),
        h("button", { type: "button", id: "call-later", class: "small round", "aria-label": t("later"), title: t("later"), disabled: place === calls.length - 1, onclick: () => go(calls, place + 1) }, icon("next"))),
      h("span", { class: `badge ${call.purpose}` }, t(`purpose_${call.purpose}`)),
      h("span", { class: "meta" }, `${call.model} · ${exact(call.at)}${call.ended_at ? ` · ${t("took")} ${seconds(Date.parse(call.ended_at) - Date.parse(call.at))}` : ""}`)),
    h("dl", { class: "numbers" },
      number(t("input"), count(call.usage.input)), number(t("cached"), count(call.usage.cached)), number(t("output"), count(call.usage.output)),
      number(t("cost"), money(call.cost)), number(t("shared"), percent(call.chars ? call.shared / call.chars : 0))),
    bar(call));
  if (focused) document.getElementById(focused)?.focus();
  $("#prompt").replaceChildren(...parts(call), answer(call));
}

function go(calls, place) {
  chosen = place === calls.length - 1 ? null : calls[place].number;
  draw();
}

const number = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

function bar(call) {
  const sums = new Map();
  for (const part of call.parts) sums.set(part.kind, (sums.get(part.kind) ?? 0) + part.text.length);
  const segments = [...sums].map(([kind, chars]) => {
    const segment = h("span", { class: `kind-${kind}`, title: `${t(`kind_${kind}`)}: ${t("characters", { count: count(chars) })}` });
    segment.style.flexGrow = chars;
    return segment;
  });
  const mark = h("span", { class: "mark" });
  mark.style.insetInlineStart = `${call.chars ? (100 * call.shared) / call.chars : 0}%`;
  return h("div", { class: "bar-box" },
    h("div", { class: "bar", "aria-hidden": "true" }, segments, mark),
    h("ul", { class: "kinds" }, [...sums].map(([kind, chars]) => h("li", { class: `kind-${kind}` }, `${t(`kind_${kind}`)} · ${count(chars)}`))));
}

function parts(call) {
  let before = 0;
  const rows = [];
  call.parts.forEach((part, place) => {
    const cut = Math.max(0, Math.min(part.text.length, call.shared - before));
    before += part.text.length;
    const divided = call.shared > 0 && cut > 0 && (cut < part.text.length || before === call.shared);
    const text = h("pre", { dir: "auto" }, h("span", { class: cut ? "shared" : "" }, part.text.slice(0, cut)),
      divided && h("span", { class: "shared-mark" }, t("shared_mark", { count: count(call.shared) })), divided ? part.text.slice(cut).replace(/^\n/, "") : part.text.slice(cut));
    const title = [h("span", { class: "kind" }, t(`kind_${part.kind}`)), h("span", { class: "role" }, part.role), h("span", { class: "size" }, count(part.text.length))];
    const first = call.parts[place - 1]?.kind !== part.kind;
    if (part.kind === "instructions") {
      const box = h("details", { class: `part kind-${part.kind}` }, h("summary", {}, title), text);
      box.open = opened.has(part.kind);
      box.addEventListener("toggle", () => (box.open ? opened.add(part.kind) : opened.delete(part.kind)));
      rows.push(box);
      if (divided) rows.push(h("p", { class: "shared-mark outside" }, t("shared_mark", { count: count(call.shared) })));
    } else {
      rows.push(h("div", { class: `part kind-${part.kind}` }, first ? h("p", { class: "part-head" }, title) : h("p", { class: "part-head small" }, title.slice(1)), text));
    }
  });
  return rows;
}

function answer(call) {
  const failed = call.ended_at && !(call.status >= 200 && call.status < 300);
  const text = failed ? t("failed_call", { status: call.status || "–" }) : call.answer || t("no_answer");
  return h("div", { class: `part answer${failed ? " failed" : ""}` }, h("p", { class: "part-head" }, h("span", { class: "kind" }, t("answer"))), h("pre", { dir: "auto" }, text));
}
