// The queues, and what they gave up.

import { $, h, keyed } from "./dom.js";
import { count, phoneNumber } from "./format.js";
import { order, show, stack } from "./live.js";
import { trying } from "./toasts.js";
import { onLanguage, t } from "./words.js";

const NAMES = ["inbound", "compaction", "inbound_dead", "compaction_dead"];
let letters = null;

export function startQueues() {
  show(["queues", "about", "language"], () => {
    const queues = stack.get("queues") ?? {};
    keyed($("#queues"), NAMES.filter((name) => queues[name]).map((name) => ({ name, ...queues[name] })), (queue) => queue.name, card);
    $("#panel-queues .explain").textContent = t("queues_explain", { burst: stack.get("about")?.burst_seconds ?? 2 });
    const dead = (queues.inbound_dead?.visible ?? 0) + (queues.compaction_dead?.visible ?? 0);
    $("#tab-queues").dataset.count = dead || "";
    $("#redrive").disabled = dead === 0;
    shown();
  });
  $("#look").addEventListener("click", look);
  $("#redrive").addEventListener("click", async () => {
    const done = await trying(() => order("redrive"));
    if (done) await look();
  });
  onLanguage(shown);
}

function card(queue) {
  const dead = queue.name.endsWith("_dead");
  const kinds = dead ? ["visible"] : ["delayed", "visible", "taken"];
  const busy = kinds.some((kind) => queue[kind]);
  return h("article", { class: `card queue${busy ? (dead ? " bad" : " busy") : ""}` },
    h("h2", {}, t(`queue_${queue.name}`)),
    h("dl", { class: "numbers" }, kinds.map((kind) => h("div", {}, h("dt", {}, t(kind)), h("dd", {}, count(queue[kind]))))),
    !dead && h("p", { class: "meta" }, t("visibility", { seconds: queue.visibility })));
}

async function look() {
  const found = await trying(async () => {
    const answer = await fetch("/api/dead-letters");
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.error);
    return value.letters;
  });
  if (found) letters = found;
  shown();
}

function shown() {
  keyed($("#letters"), letters ?? [], (letter) => letter.id, (letter) => h("li", {},
    h("span", { class: "badge" }, t(`queue_${letter.queue}`)), h("span", { class: "said", dir: "auto" }, letter.text || letter.event), h("span", { class: "meta" }, phoneNumber(letter.group))));
  $("#no-letters").hidden = Boolean(letters?.length);
  $("#no-letters").textContent = letters || $("#redrive").disabled ? t("no_letters") : "";
}
