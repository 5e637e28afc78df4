// The state machine of each turn, with the time of every step.

import { $, h, keyed } from "./dom.js";
import { count, exact, money, seconds } from "./format.js";
import { newestFirst, stateOf, stepsOf } from "./head.js";
import { openCall } from "./prompts.js";
import { room, show } from "./live.js";
import { openTab } from "./tabs.js";
import { t } from "./words.js";

const STEPS = ["queued", "claimed", "asked", "replied", "sent"];

export function startTurns() {
  show(["turns", "messages", "calls", "reset", "language"], () => {
    const turns = newestFirst().slice(0, 60).map((turn) => ({
      ...turn, shown: stepsOf(turn), ended: stateOf(turn), text: room.messages.get(String(turn.seq))?.text ?? "",
      calls: [...room.calls.values()].filter((call) => call.turns.includes(turn.event_id)).map((call) => [call.number, call.status]),
    }));
    keyed($("#turns"), turns, (turn) => turn.event_id, row);
    $("#no-turns").hidden = turns.length > 0;
  });
}

function row(turn) {
  const reached = STEPS.filter((step) => turn.shown[step]);
  const start = Date.parse(turn.shown.queued ?? turn.shown.claimed);
  return h("li", { class: "turn" },
    h("div", { class: "row" },
      h("span", { class: `badge state-${turn.state}` }, t(`state_${turn.state}`)),
      h("strong", { class: "said", dir: "auto" }, turn.text || t("message_no", { seq: turn.seq })),
      h("span", { class: "meta" }, `#${turn.seq}`)),
    h("ol", { class: "line" }, reached.map((step) => {
      const since = Date.parse(turn.shown[step]) - start;
      return h("li", { title: exact(turn.shown[step]) }, h("span", { class: "name" }, t(`step_${step}`)), h("span", { class: "time" }, step === reached[0] ? exact(turn.shown[step]) : `+${seconds(Math.max(0, since))}`));
    })),
    h("p", { class: "meta" },
      turn.usage.input ? `${count(turn.usage.input)} + ${count(turn.usage.output)} ${t("tokens").toLowerCase()} · ${money(turn.cost)} · ` : "",
      turn.parts ? `${t("part_count", { sent: turn.sent, parts: turn.parts })} · ` : "",
      turn.lead ? `${t("covered_by")} · ` : "",
      turn.reason ? `${turn.reason} · ` : "",
      h("code", {}, turn.event_id),
      turn.calls.map(([number, status]) => h("button", {
        type: "button", class: `link${status >= 400 ? " bad" : ""}`, onclick: () => { openCall(number); openTab("prompt"); },
      }, status >= 400 ? t("failed_call", { status }) : `${t("tab_prompt")} #${number}`)).flatMap((each) => [" · ", each])));
}
