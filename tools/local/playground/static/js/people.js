// The people on the left: switch and add.

import { $, h, keyed } from "./dom.js";
import { follow, order, phone, show, stack } from "./live.js";
import { phoneNumber } from "./format.js";
import { ask, trying } from "./toasts.js";
import { keep, t } from "./words.js";

export const DEFAULT_PERSON = "+34600111222";

export const nameOf = (person) => person?.name || phoneNumber(person?.phone ?? "");
export const initials = (name) => (name.startsWith("+") ? name.slice(-2) : name.slice(0, 2));
export const hue = (text) => [...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 7);
export const currentPerson = () => (stack.get("people") ?? []).find((person) => person.phone === phone);

export function face(person) {
  const shown = h("span", { class: "face", "aria-hidden": "true" }, initials(nameOf(person)));
  shown.style.setProperty("--hue", hue(person.phone));
  return shown;
}

export function choose(number) {
  keep("person", number);
  follow(number);
}

export function startPeople() {
  show(["people", "reset", "language"], () => {
    const people = stack.get("people") ?? [];
    keyed($("#people"), people.map((person) => ({ ...person, chosen: person.phone === phone })), (p) => p.phone, (person) =>
      h("li", {}, h("button", {
        type: "button", title: nameOf(person), "aria-label": nameOf(person), "aria-current": person.chosen ? "true" : null,
        onclick: () => choose(person.phone),
      }, face(person))));
  });
  // Whoever was looked at last is not known to a stack that was started anew.
  show(["missing"], ({ now }) => now.has("missing") && phone !== DEFAULT_PERSON && choose(DEFAULT_PERSON));
  $("#add-person").addEventListener("click", add);
}

async function add() {
  const number = h("input", { id: "add-number", type: "tel", required: true, placeholder: "+39 333 765 4321", autocomplete: "off" });
  const name = h("input", { id: "add-name", maxlength: "60", autocomplete: "off" });
  const content = [
    h("label", {}, t("phone_number"), number),
    h("label", {}, t("name"), name),
  ];
  if (!(await ask(t("add_title"), content, t("add")))) return;
  const added = await trying(() => order("add", { phone: number.value, name: name.value }));
  if (added) choose(added.phone);
}
