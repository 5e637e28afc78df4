// Who it is about, what it came to, and the newest turn step by step.

import { $, h, icon, keyed } from "./dom.js";
import { count, exact, money, percent, phoneNumber, seconds } from "./format.js";
import { order, phone, room, show } from "./live.js";
import { currentPerson, nameOf } from "./people.js";
import { ask, trying } from "./toasts.js";
import { t } from "./words.js";

const STEPS = ["queued", "claimed", "asked", "replied", "sent"];

export function startHead() {
  show(["person", "people", "reset", "language"], who);
  show(["messages", "reset", "language"], figures);
  show(["turns", "bubbles", "reset", "language"], path);
  $("#erase").addEventListener("click", erase);
  $("#export").addEventListener("click", exported);
}

function who() {
  const person = currentPerson();
  if (!person) return;
  const state = room.person.get("state") ?? {};
  if (state.phone) $("#mind").dataset.phone = state.phone;
  $("#person-name").textContent = nameOf(person);
  const parts = [phoneNumber(person.phone)];
  if (state.opted_out_at) parts.push(t("opted_out"));
  if (state.paused_until && Date.parse(state.paused_until) > Date.now()) parts.push(t("paused"));
  $("#person-state").textContent = parts.join(" · ");
}

export function totals() {
  const total = { input: 0, cached: 0, output: 0, cost: null };
  for (const message of room.messages.values()) {
    for (const name of ["input", "cached", "output"]) total[name] += message.usage[name];
    if (message.cost !== null) total.cost = (total.cost ?? 0) + message.cost;
  }
  return total;
}

function figures() {
  const total = totals();
  const shown = [
    ["messages", count(room.messages.size)],
    ["tokens", count(total.input + total.output)],
    ["cached", total.input ? percent(total.cached / total.input) : "–"],
    ["cost", money(total.cost)],
  ];
  keyed($("#figures"), shown, ([name]) => name, ([name, value]) =>
    h("div", {}, h("dt", {}, t(`figure_${name}`)), h("dd", {}, value)));
}

export const newestFirst = () => [...room.turns.values()].sort((one, other) => other.seq - one.seq || compare(other, one));
const compare = (one, other) => (one.steps.claimed ?? "").localeCompare(other.steps.claimed ?? "");

// A covered turn was answered by its lead: from there on the steps are that one's.
export function stepsOf(turn) {
  const lead = turn.state === "covered" ? room.turns.get(turn.lead) : null;
  return lead ? { ...lead.steps, queued: turn.steps.queued, claimed: turn.steps.claimed } : turn.steps;
}

export function stateOf(turn) {
  const lead = turn.state === "covered" ? room.turns.get(turn.lead) : null;
  return lead?.state ?? turn.state;
}

function path() {
  const onTheWay = [...room.bubbles.values()].filter((each) => each.side === "me" && ["sending", "queued", "lost"].includes(each.state));
  const turn = newestFirst()[0];
  const newer = onTheWay.find((each) => !turn?.steps.queued || each.order > Date.parse(turn.steps.queued) + 50);
  const steps = newer ? (newer.state === "queued" ? { queued: new Date(newer.order).toISOString() } : {}) : turn ? stepsOf(turn) : {};
  const ended = turn && !newer && !["claimed", "replied"].includes(stateOf(turn));
  const reached = STEPS.findLastIndex((step) => steps[step]);
  const drawn = STEPS.map((step, place) => ({
    step, at: steps[step] ?? "", before: steps[STEPS[place - 1]] ?? "", done: place <= reached,
    active: !ended && (turn || newer) ? place === reached + 1 : false,
  }));
  keyed($("#path"), drawn, (each) => each.step, (each) =>
    h("li", { class: `${each.done ? "done" : ""}${each.active ? " active" : ""}`, title: each.at ? exact(each.at) : null },
      h("span", { class: "dot" }, each.done && icon("one")), h("span", { class: "name" }, t(`step_${each.step}`)),
      h("span", { class: "time" }, each.at && each.before ? `+${seconds(Math.max(0, Date.parse(each.at) - Date.parse(each.before)))}` : each.at ? exact(each.at) : " ")));
}

async function erase() {
  const name = nameOf(currentPerson());
  const content = [h("p", {}, t("erase_more"))];
  if (await ask(t("erase_question", { name }), content, t("erase"), { danger: true })) await trying(() => order("erase"));
}

async function exported() {
  await trying(async () => {
    const answer = await fetch(`/api/export/${encodeURIComponent(phone)}`);
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.error);
    const url = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: "application/json" }));
    h("a", { href: url, download: `${phone.replace("+", "")}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
}
