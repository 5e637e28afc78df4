// The person's phone: bubbles with times and ticks.

import { $, formatted, h, icon } from "./dom.js";
import { clock, dayKey, day, exact, phoneNumber } from "./format.js";
import { LongList } from "./list.js";
import { room, show, stack } from "./live.js";
import { currentPerson, initials, nameOf } from "./people.js";
import { openTab } from "./tabs.js";
import { revealMessage } from "./messages.js";
import { t } from "./words.js";

const TICKS = {
  sending: "clock", lost: "clock", queued: "one", remembered: "two", answered: "two", sent: "two", silent: "two",
  suppressed: "two", undelivered: "two", failed: "two",
};
const MEDIA = { voice: "mic", audio: "mic", image: "image", document: "document", location: "place" };

let list;
let heard = "";

export function startPhone() {
  list = new LongList($("#talk"), bubble, { rowHeight: 62 });
  show(["bubbles", "reset"], ({ reset }) => {
    if (reset) list.clear();
    const sorted = [...room.bubbles.values()].sort((one, other) => one.order - other.order || one.seq - other.seq);
    list.update(sorted);
    $("#welcome").hidden = sorted.some((each) => each.side !== "note");
    announce(sorted, reset);
  });
  show(["language"], () => list.refresh());
  show(["about", "person", "reset", "language", "people"], header);
  $("#talk").addEventListener("scroll", () => { $("#to-end").hidden = list.atEnd; }, { passive: true });
  $("#to-end").addEventListener("click", () => {
    list.atEnd = true;
    list.stay();
    $("#to-end").hidden = true;
  });
}

export function revealBubble(seq) {
  const found = [...room.bubbles.values()].find((each) => each.seq === seq);
  if (!found) return false;
  openTabPhone();
  list.reveal(found.key);
  return true;
}

function openTabPhone() {
  if (matchMedia("(max-width: 899px)").matches) openTab("phone");
}

function header() {
  const about = stack.get("about");
  if (!about) return;
  $("#agent-face").textContent = initials(about.agent);
  $("#agent-name").textContent = about.agent;
  const typing = room.person.get("typing");
  $("#agent-state").textContent = typing ? t("typing") : `${t("online")} · ${phoneNumber(about.number)}`;
  $("#agent-state").classList.toggle("typing", Boolean(typing));
  const person = currentPerson();
  $("#welcome h3").textContent = t("welcome", { agent: about.agent });
  if (person) $("#phone").dataset.person = nameOf(person);
}

function bubble(item, before) {
  const rows = [];
  if (!before || dayKey(before.at) !== dayKey(item.at)) rows.push(h("p", { class: "day" }, dayName(item.at)));
  rows.push(item.side === "note" ? note(item) : talk(item, before));
  return h("div", { class: "row", data: { key: item.key } }, rows);
}

function dayName(iso) {
  const ago = (new Date().setHours(0, 0, 0, 0) - new Date(iso).setHours(0, 0, 0, 0)) / 86400000;
  if (ago === 0) return t("today");
  return ago === 1 ? t("yesterday") : day(iso);
}

function note(item) {
  const values = { ...item, old: phoneNumber(item.old ?? ""), new: phoneNumber(item.new ?? "") };
  return h("p", { class: `note ${item.text}` }, t(`note_${item.text}`, values));
}

function talk(item, before) {
  const follows = before && before.side === item.side && item.order - before.order < 60000;
  const label = t(`tick_${item.state}`);
  const foot = h("span", { class: "foot" },
    item.side === "owner" && h("span", {}, t("owner")),
    h("time", { datetime: item.at, title: exact(item.at) }, clock(item.at)),
    item.side === "me" && item.state && h("span", { class: `tick ${item.state}`, title: label }, icon(TICKS[item.state] ?? "one", label)));
  const shape = MEDIA[item.kind];
  const body = h("div", { class: `bubble ${item.side}${follows ? "" : " first"}` },
    shape && h("span", { class: `medium ${item.kind}` }, icon(shape), h("span", {}, t(item.kind === "audio" ? "voice" : item.kind))),
    item.text && h("span", { class: "text", dir: "auto" }, formatted(item.text)), foot);
  if (!item.seq) return body;
  body.append(h("button", {
    type: "button", class: "seq", title: t("message_no", { seq: item.seq }), "aria-label": t("message_no", { seq: item.seq }),
    onclick: () => revealMessage(item.seq),
  }, `#${item.seq}`));
  return body;
}

// Screen readers hear a new reply once; scrolling through a long talk says nothing.
function announce(sorted, reset) {
  const newest = sorted.findLast((each) => each.side === "agent");
  if (newest && newest.key !== heard && !reset && Date.now() - newest.order < 15000) $("#heard").textContent = newest.text;
  heard = newest?.key ?? "";
}
