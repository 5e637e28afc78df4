// What is remembered word by word: in the window, waiting, or compacted.

import { $, h } from "./dom.js";
import { count, exact } from "./format.js";
import { LongList } from "./list.js";
import { room, show, stack } from "./live.js";
import { openTab, currentTab } from "./tabs.js";
import { t } from "./words.js";

let list;

export function startMessages() {
  list = new LongList($("#messages"), row, { rowHeight: 58 });
  show(["messages", "reset"], ({ reset }) => {
    if (reset) list.clear();
    list.update([...room.messages.values()].sort((one, other) => one.seq - other.seq).map(withKey));
  });
  show(["language"], () => list.refresh());
  show(["about", "language", "messages", "reset"], legend);
}

// The item is the value itself, so that rows whose value stays are not drawn again.
function withKey(message) {
  message.key = String(message.seq);
  return message;
}

export function revealMessage(seq) {
  if (!room.messages.has(String(seq))) return;
  if (currentTab() !== "messages") openTab("messages");
  requestAnimationFrame(() => list.reveal(String(seq)));
}

function legend() {
  const about = stack.get("about");
  if (!about) return;
  const places = { window: 0, pending: 0, compacted: 0 };
  for (const message of room.messages.values()) places[message.place] += 1;
  $("#message-legend").replaceChildren(
    ...Object.entries(places).filter(([, number]) => number).map(([place, number]) => h("span", { class: `place ${place}` }, `${t(`place_${place}`)} · ${count(number)}`)),
    h("p", {}, room.messages.size
      ? t("messages_legend", { chars: count(about.context_chars), count: count(about.context_messages), at: about.compact_at, keep: about.keep_messages })
      : t("no_messages")));
}

function row(message) {
  return h("div", { class: `message ${message.place} ${message.role}` },
    h("span", { class: "no" }, `#${message.seq}`),
    h("span", { class: "role" }, message.role === "user" ? "→" : "←"),
    h("span", { class: "said", dir: "auto" }, message.kind !== "text" && h("em", {}, `[${message.kind}] `), message.text),
    h("span", { class: `place ${message.place}` }, t(`place_${message.place}`)),
    h("time", { datetime: message.sent_at }, exact(message.received_at)));
}
