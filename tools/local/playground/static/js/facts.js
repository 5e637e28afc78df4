// Facts: confidence, source, lifetime, where each came from; and their history.

import { $, h, icon, keyed } from "./dom.js";
import { exact, left, percent } from "./format.js";
import { order, room, show, stack } from "./live.js";
import { revealBubble } from "./phone.js";
import { revealMessage } from "./messages.js";
import { ask, trying } from "./toasts.js";
import { t } from "./words.js";

let seen = null;

export function startFacts() {
  show(["memory", "about", "reset", "language"], ({ reset }) => {
    if (reset) seen = null;
    draw();
  });
  // Lifetimes count down.
  setInterval(() => document.visibilityState === "visible" && tick(), 20000);
  $("#new-fact").addEventListener("submit", async (event) => {
    event.preventDefault();
    const value = $("#new-value").value;
    if (await trying(() => order("set_fact", { key: $("#new-key").value, value }), t("fact_saved"))) $("#new-value").value = "";
  });
}

function draw() {
  const about = stack.get("about");
  const facts = room.memory.get("facts") ?? [];
  const history = room.memory.get("history") ?? [];
  const ids = new Set(facts.map((fact) => `${fact.key}#${fact.item}#${fact.value}`));
  keyed($("#facts"), facts, (fact) => `${fact.key}#${fact.item}`, (fact) => {
    const row = factRow(fact);
    if (seen && !seen.has(`${fact.key}#${fact.item}#${fact.value}`)) row.classList.add("fresh");
    return row;
  });
  seen = ids;
  tick();
  $("#no-facts").hidden = facts.length > 0;
  $("#no-facts").textContent = about ? t("no_facts", { count: about.compact_at }) : "";
  const box = $("#history-box");
  box.hidden = history.length === 0;
  box.querySelector("summary").textContent = history.length === 1 ? t("history_one") : t("history", { count: history.length });
  keyed($("#history"), history.toReversed(), (past) => `${past.key}#${past.item}#${past.replaced_at}`, pastRow);
  const select = $("#new-key");
  if (about && select.dataset.agent !== about.agent_id) {
    select.replaceChildren(...about.keys.map(([key, , description]) => h("option", { value: key, title: description }, key)));
    select.dataset.agent = about.agent_id;
  }
}

function tick() {
  for (const row of document.querySelectorAll("#facts .life[data-until]")) {
    row.textContent = left(row.dataset.until);
    const share = (Date.parse(row.dataset.until) - Date.now()) / (Number(row.dataset.lifetime) * 1000);
    row.style.setProperty("--share", String(Math.max(0, Math.min(1, share))));
  }
}

function factRow(fact) {
  const meter = h("span", { class: "meter", role: "img", "aria-label": t("confidence", { value: percent(fact.confidence) }), title: t("confidence", { value: percent(fact.confidence) }) });
  meter.style.setProperty("--share", fact.confidence);
  return h("li", { class: "fact" },
    h("span", { class: "key", title: fact.description }, fact.key),
    h("span", { class: "value", dir: "auto" }, fact.value),
    h("span", { class: "actions" },
      h("button", { type: "button", class: "small round", "aria-label": t("edit_fact", { key: fact.key }), title: t("edit_fact", { key: fact.key }), onclick: () => edit(fact) }, icon("edit")),
      h("button", { type: "button", class: "small round", "aria-label": t("remove_fact", { key: fact.key }), title: t("remove_fact", { key: fact.key }), onclick: () => trying(() => order("remove_fact", { key: fact.key, value: fact.value }), t("fact_removed")) }, icon("bin"))),
    h("span", { class: "about" },
      meter, h("span", { class: `source ${fact.source}` }, `${t(`source_${fact.source}`)} · ${percent(fact.confidence)}`),
      fact.evidence_seq ? evidence(fact.evidence_seq) : null,
      fact.expires_at && h("span", { class: "life", data: { until: fact.expires_at, lifetime: fact.lifetime ?? 0 }, title: exact(fact.expires_at) })));
}

export function evidence(seq) {
  return h("button", {
    type: "button", class: "link", onclick: () => { revealBubble(seq) || revealMessage(seq); },
  }, t("from_message", { seq }));
}

function pastRow(past) {
  return h("li", {},
    h("span", { class: "key" }, past.key), h("s", { dir: "auto" }, past.value),
    h("span", { class: "about" }, t(`reason_${past.reason}`), past.replaced_by_seq ? ` ${t("by_message", { seq: past.replaced_by_seq })}` : "", " · ", exact(past.replaced_at)));
}

async function edit(fact) {
  const input = h("input", { id: "edit-value", value: fact.value, maxlength: "200", required: true });
  const content = [h("label", {}, t("edit_fact", { key: fact.key }), input)];
  if (await ask(fact.key, content, t("save"))) {
    await trying(() => order("set_fact", { key: fact.key, value: input.value, old: fact.value }), t("fact_saved"));
  }
}
