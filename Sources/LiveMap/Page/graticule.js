// Meridians and parallels, with their degrees at the edge; upright however the map is turned.

import { project, unproject } from "./mercator.js";
import { FONT } from "./surface.js";

// Degrees between lines: whole ones, then minutes, then seconds and their parts.
const STEPS = [
  60, 30, 15, 10, 5, 2, 1, 30 / 60, 15 / 60, 10 / 60, 5 / 60, 2 / 60, 1 / 60, 30 / 3600, 15 / 3600, 10 / 3600,
  5 / 3600, 2 / 3600, 1 / 3600, 0.5 / 3600, 0.2 / 3600, 0.1 / 3600, 0.05 / 3600, 0.02 / 3600, 0.01 / 3600,
];
// How far apart lines are at least, pixels.
const APART = 110;

export function drawGraticule(context, view, palette, { isFaint, hasAttribution }) {
  const perDegree = view.scale / 360;
  const step = [...STEPS].reverse().find((degrees) => degrees * perDegree >= APART) ?? STEPS[0];
  const { west, east, north, south } = view.bounds;
  const [top, bottom] = [unproject({ x: 0, y: north }).latitude, unproject({ x: 0, y: south }).latitude];
  const labels = [];
  context.save();
  context.strokeStyle = palette.grid;
  context.lineWidth = 1;
  context.globalAlpha = isFaint ? 0.45 : 1;
  context.beginPath();
  for (const longitude of multiples((west - 0.5) * 360, (east - 0.5) * 360, step)) {
    const x = longitude / 360 + 0.5;
    const ends = line(context, view, { x, y: north }, { x, y: south });
    // Where it leaves the screen at the bottom.
    const end = clipped(ends, view);
    if (end) labels.push({ text: label(wrapped(longitude), step, "E", "W"), point: end.y1 > end.y2 ? [end.x1, end.y1] : [end.x2, end.y2], isMeridian: true });
  }
  for (const latitude of multiples(bottom, top, step)) {
    const { y } = project(latitude, 0);
    const ends = line(context, view, { x: west, y }, { x: east, y });
    const end = clipped(ends, view);
    if (end) labels.push({ text: label(latitude, step, "N", "S"), point: end.x1 < end.x2 ? [end.x1, end.y1] : [end.x2, end.y2], isMeridian: false });
  }
  context.stroke();
  context.restore();
  drawLabels(context, view, palette, labels, hasAttribution);
}

function* multiples(from, to, step) {
  for (let index = Math.ceil(from / step); index <= Math.floor(to / step); index += 1) yield index * step;
}

// Straight on the screen, as meridians and parallels are in this projection. Of the world's repetitions the one is meant
// that the screen shows, so that the nearest is not good enough.
function line(context, view, from, to) {
  const place = (point) => {
    const [px, py] = [(point.x - view.centre.x) * view.scale, (point.y - view.centre.y) * view.scale];
    const [cos, sin] = [Math.cos(view.turned), Math.sin(view.turned)];
    return [view.width / 2 + px * cos + py * sin, view.height / 2 - px * sin + py * cos];
  };
  const [start, end] = [place(from), place(to)];
  // Sharp where they are upright.
  const sharp = view.turned === 0 ? (value) => Math.round(value) + 0.5 : (value) => value;
  context.moveTo(sharp(start[0]), sharp(start[1]));
  context.lineTo(sharp(end[0]), sharp(end[1]));
  return [...start, ...end];
}

// The part of a line within the screen, a margin left for the label.
function clipped([x1, y1, x2, y2], view) {
  const box = { left: 6, top: 8, right: view.width - 6, bottom: view.height - 8 };
  const [dx, dy] = [x2 - x1, y2 - y1];
  let [first, last] = [0, 1];
  for (const [p, q] of [
    [-dx, x1 - box.left],
    [dx, box.right - x1],
    [-dy, y1 - box.top],
    [dy, box.bottom - y1],
  ]) {
    if (p === 0) {
      if (q < 0) return null;
    } else if (p < 0) first = Math.max(first, q / p);
    else last = Math.min(last, q / p);
  }
  if (first > last) return null;
  return { x1: x1 + first * dx, y1: y1 + first * dy, x2: x1 + last * dx, y2: y1 + last * dy };
}

function drawLabels(context, view, palette, labels, hasAttribution) {
  context.save();
  context.font = FONT;
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = palette.ground;
  context.fillStyle = palette.soft;
  context.textBaseline = "middle";
  for (const { text, point, isMeridian } of labels) {
    const width = context.measureText(text).width;
    const x = Math.max(6, Math.min(view.width - width - 6, isMeridian ? point[0] + 4 : point[0]));
    const y = Math.max(10, Math.min(view.height - 10, isMeridian ? point[1] : point[1] - 8));
    // The scale bar, the buttons and the attribution have their corners.
    if (hasAttribution && y > view.height - 52 && x + width > view.width * 0.38) continue;
    if (y > view.height - 52 && x < 150) continue;
    if (x + width > view.width - 60 && y < 210) continue;
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
  context.restore();
}

function wrapped(longitude) {
  return longitude - 360 * Math.round(longitude / 360);
}

// Degrees, and as many minutes and seconds as the lines need to be told apart.
export function label(value, step, positive, negative) {
  const digits = step < 0.05 / 3600 ? 2 : step < 1 / 3600 ? (step < 0.1 / 3600 ? 2 : 1) : 0;
  const unit = 3600 * 10 ** digits;
  const total = Math.round(Math.abs(value) * unit);
  const whole = Math.floor(total / unit);
  const minutes = Math.floor((total % unit) / (60 * 10 ** digits));
  const seconds = (total % (60 * 10 ** digits)) / 10 ** digits;
  let text = `${whole}°`;
  if (step < 1) text += `${String(minutes).padStart(2, "0")}′`;
  if (step < 1 / 60) text += `${seconds.toFixed(digits).padStart(digits ? 3 + digits : 2, "0")}″`;
  const side = total === 0 || total === 180 * unit ? "" : value < 0 ? negative : positive;
  return side ? `${text}\u00a0${side}` : text;
}
