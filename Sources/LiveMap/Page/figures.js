// Numbers as people read them. What is unknown is a dash, never a zero.

export const DASH = "–";

// Whatever the board says goes into the page by this: as text, never as markup.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function number(value, digits) {
  if (value === undefined || value === null || !Number.isFinite(value)) return DASH;
  const text = value.toFixed(digits);
  // No negative zero, and the sign that typesetters use.
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");
}

export function metres(value, digits = 1) {
  return value === undefined || value === null ? DASH : `${number(value, digits)}\u00a0m`;
}

export function degrees(value, digits = 1) {
  if (value === undefined || value === null || value < 0) return DASH;
  const text = value.toFixed(digits);
  return `${Number(text) >= 360 ? (0).toFixed(digits) : text}°`;
}

// An accuracy: negative means that it is none.
export function within(value, digits, unit) {
  return value === undefined || value === null || value < 0 ? DASH : `\u00b1\u00a0${number(value, digits)}${unit}`;
}

export function age(seconds) {
  if (seconds === null) return "";
  if (seconds < 60) return `${Math.floor(seconds)}\u00a0s old`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}\u00a0min old`;
  return `${Math.floor(seconds / 3600)}\u00a0h ${Math.floor((seconds % 3600) / 60)}\u00a0min old`;
}

export function coordinate(value, positive, negative) {
  return `${Math.abs(value).toFixed(6)}°\u00a0${value < 0 ? negative : positive}`;
}

// Marks a card whose values no longer stand for now.
export function showAge(card, isStale, seconds) {
  card.dataset.stale = isStale;
  const place = card.querySelector(".age");
  place.hidden = !isStale;
  if (isStale) setText(place, age(seconds));
}

// The reason why there is no value, in the board's words.
export function showReason(element, text) {
  element.hidden = !text;
  setText(element, text ?? "");
}

// A reason as a sentence of its own.
export function sentence(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : "";
}
