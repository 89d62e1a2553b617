// Altitude in figures, and the strip of the last ten minutes with its error band.

import { Surface, colours, FONT } from "./surface.js";
import { metres, number, within, setText, showAge, showReason, DASH } from "./figures.js";

// How far back the strip goes: ten minutes, less while there is less to show.
const SPANS = [120, 300, 600];
const MARGIN = { left: 44, right: 10, top: 8, bottom: 20 };
const SERIES = {
  relative: { value: "relative", accuracy: "relativeAccuracy", name: "relative altitude" },
  sea: { value: "sea", accuracy: "seaAccuracy", name: "altitude above sea" },
};

export class AltitudeCard {
  constructor(store) {
    this.store = store;
    this.card = document.getElementById("altitude-card");
    this.surface = new Surface(document.getElementById("strip"));
    const part = (name) => document.getElementById(`altitude-${name}`);
    this.places = {
      relative: part("relative"),
      sea: part("sea"),
      climb: part("climb"),
      pressure: part("pressure"),
      reason: part("reason"),
    };
    this.drawn = this.card.querySelectorAll(".switch, .readings, #strip-frame");
    this.shown = "relative";
    this.buttons = { relative: document.getElementById("strip-relative"), sea: document.getElementById("strip-sea") };
    for (const [name, button] of Object.entries(this.buttons)) {
      button.addEventListener("click", () => {
        this.shown = name;
        this.draw();
      });
    }
  }

  draw() {
    const { places, store } = this;
    const altitude = store.newest.altitude;
    const isStale = altitude?.relativeAltitude !== undefined && store.isStale("altitude");
    const isThere = altitude?.relativeAltitude !== undefined && !isStale;
    const sea = isThere ? store.newest.absoluteAltitude : undefined;
    setText(places.relative, isThere ? `${metres(altitude.relativeAltitude, 2)} ${within(altitude.relativeAccuracy, 2, "")}` : DASH);
    setText(places.sea, sea ? `${metres(sea.altitude, 1)} ${within(sea.altitudeAccuracy, 1, "")}` : DASH);
    setText(places.climb, isThere && altitude.verticalSpeed !== undefined ? `${number(altitude.verticalSpeed, 2)}\u00a0m/s` : DASH);
    setText(places.pressure, isThere ? `${number(altitude.pressure * 10, 2)}\u00a0hPa` : DASH);
    showReason(places.reason, isStale ? "" : this.reason(altitude, isThere, sea));
    showAge(this.card, isStale, store.age(altitude));
    // A board without a barometer has nothing to draw, and no dashes to look at.
    const hasNothing = !isThere && store.history.length === 0;
    for (const element of this.drawn) element.hidden = hasNothing;
    if (hasNothing) return;
    for (const [name, button] of Object.entries(this.buttons)) button.setAttribute("aria-pressed", String(name === this.shown));
    this.drawStrip();
  }

  reason(altitude, isThere, sea) {
    if (altitude && !isThere) return `No altitude: ${altitude.reason ?? "not known"}`;
    if (isThere && !sea && this.shown === "sea") return "Above sea: not known, which takes a fix or a known height";
    return "";
  }

  drawStrip() {
    const { width, height } = this.surface.fit();
    if (width === 0 || height === 0) return;
    const context = this.surface.context;
    const palette = colours(this.surface.canvas);
    context.clearRect(0, 0, width, height);
    const series = SERIES[this.shown];
    // It stands still while nothing is known of now.
    const end = this.store.isConnected && Number.isFinite(this.store.zero) ? this.store.now : (this.store.history.at(-1)?.time ?? 0);
    const first = this.store.history[0]?.time ?? end;
    this.span = SPANS.find((span) => end - first <= span) ?? SPANS.at(-1);
    const rows = this.store.history.filter((row) => end - row.time <= this.span + 5);
    const plot = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
    const range = this.range(rows, series);
    const x = (time) => plot.right - ((end - time) / this.span) * (plot.right - plot.left);
    const y = (value) => plot.bottom - ((value - range.low) / (range.high - range.low)) * (plot.bottom - plot.top);
    this.drawFrame(context, palette, plot, range, x, y, end);
    context.save();
    context.beginPath();
    context.rect(plot.left, plot.top - 2, plot.right - plot.left + 2, plot.bottom - plot.top + 4);
    context.clip();
    for (const piece of pieces(rows, series.value)) this.drawPiece(context, palette, piece, series, x, y);
    context.restore();
    this.describe(rows, series);
  }

  range(rows, series) {
    let [low, high] = [Infinity, -Infinity];
    for (const row of rows) {
      if (row[series.value] === null) continue;
      const half = row[series.accuracy] ?? 0;
      low = Math.min(low, row[series.value] - half);
      high = Math.max(high, row[series.value] + half);
    }
    if (!(low <= high)) return { low: -1, high: 1, step: 1, isEmpty: true };
    // Noise of centimetres is not drawn as mountains.
    const spread = Math.max(high - low, 2);
    const middle = (high + low) / 2;
    const rough = spread / 3;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
    return {
      low: Math.floor((middle - spread / 2) / step) * step,
      high: Math.ceil((middle + spread / 2) / step) * step,
      step,
    };
  }

  drawFrame(context, palette, plot, range, x, y, end) {
    context.font = FONT;
    context.fillStyle = palette.soft;
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.beginPath();
    for (let value = range.low; value <= range.high + range.step / 2; value += range.step) {
      const at = Math.round(y(value)) + 0.5;
      context.moveTo(plot.left, at);
      context.lineTo(plot.right, at);
      if (!range.isEmpty) context.fillText(`${number(value, range.step < 1 ? 1 : 0)}\u00a0m`, plot.left - 6, at);
    }
    context.stroke();
    context.textBaseline = "alphabetic";
    const minutes = this.span / 60;
    for (let back = 0; back <= minutes; back += minutes === 10 ? 2 : 1) {
      const at = x(end - back * 60);
      context.textAlign = back === 0 ? "right" : back === minutes ? "left" : "center";
      const unit = back === minutes ? "\u00a0min" : "";
      context.fillText(back === 0 ? (this.store.isConnected ? "now" : "last heard") : `\u2212${back}${unit}`, at, plot.bottom + 15);
    }
  }

  drawPiece(context, palette, piece, series, x, y) {
    context.beginPath();
    for (const row of piece) context.lineTo(x(row.time), y(row[series.value] + (row[series.accuracy] ?? 0)));
    for (const row of [...piece].reverse()) context.lineTo(x(row.time), y(row[series.value] - (row[series.accuracy] ?? 0)));
    context.closePath();
    context.fillStyle = palette.band;
    context.fill();
    context.beginPath();
    for (const row of piece) context.lineTo(x(row.time), y(row[series.value]));
    // A lone row is a dot.
    if (piece.length === 1) context.lineTo(x(piece[0].time) + 0.01, y(piece[0][series.value]));
    context.strokeStyle = palette.data;
    context.lineWidth = 2;
    context.lineJoin = "round";
    context.lineCap = "round";
    context.stroke();
  }

  describe(rows, series) {
    const known = rows.filter((row) => row[series.value] !== null).map((row) => row[series.value]);
    const text = known.length === 0
      ? `No ${series.name} in the last ten minutes`
      : `The last ten minutes of ${series.name}: from ${number(Math.min(...known), 1)} to ${number(Math.max(...known), 1)} metres`;
    const canvas = this.surface.canvas;
    if (canvas.getAttribute("aria-label") !== text) canvas.setAttribute("aria-label", text);
  }
}

// A gap is a gap: nothing is drawn across it.
export function pieces(rows, key) {
  const result = [];
  let piece = [];
  let last = null;
  for (const row of rows) {
    if (row[key] === null || (last !== null && row.time - last > 5)) {
      if (piece.length > 0) result.push(piece);
      piece = [];
    }
    if (row[key] !== null) piece.push(row);
    last = row.time;
  }
  if (piece.length > 0) result.push(piece);
  return result;
}
