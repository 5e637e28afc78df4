// Numbers and times as people read them.

import { currentLanguage, t } from "./words.js";

export const count = (value) => new Intl.NumberFormat(currentLanguage()).format(value);

export function money(dollars) {
  if (dollars === null || dollars === undefined) return "–";
  const digits = dollars >= 0.01 || dollars === 0 ? 2 : Math.min(7, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toFixed(digits)}`;
}

export const clock = (iso) =>
  new Intl.DateTimeFormat(currentLanguage(), { hour: "2-digit", minute: "2-digit" }).format(new Date(iso));

export const exact = (iso) =>
  new Intl.DateTimeFormat(currentLanguage(), {
    hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 2,
  }).format(new Date(iso));

export const day = (iso) =>
  new Intl.DateTimeFormat(currentLanguage(), { weekday: "short", day: "numeric", month: "short" }).format(new Date(iso));

export const dayKey = (iso) => new Date(iso).toDateString();

export function seconds(milliseconds) {
  const value = milliseconds / 1000;
  return `${value.toFixed(value < 10 ? 2 : 1)} s`;
}

export function left(iso, now = Date.now()) {
  const minutes = Math.floor((Date.parse(iso) - now) / 60000);
  if (minutes < 0) return t("expired");
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor((minutes % 1440) / 60);
  if (days > 0) return t("left_days", { days, hours });
  if (hours > 0) return t("left_hours", { hours, minutes: minutes % 60 });
  return t("left_minutes", { minutes });
}

export const percent = (share) => `${Math.round(share * 100)} %`;

export function phoneNumber(text) {
  const parts = /^\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})(\d{4,})$/.exec(text);
  return parts ? `+${parts[1]} ${parts[2].replace(/(\d{3})(?=\d{2})/g, "$1 ")}` : text;
}
