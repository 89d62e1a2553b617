// The compass: the card turns under a fixed mark, the arc at the mark is as wide as the error bar.

import { degrees, within, number, setText, showAge, showReason, sentence, DASH } from "./figures.js";
import { sector } from "./marker.js";

const SVG = "http://www.w3.org/2000/svg";
const POINTS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"];

export class Compass {
  constructor(store) {
    this.store = store;
    this.card = document.getElementById("heading-card");
    this.rose = document.getElementById("rose");
    const part = (name) => document.getElementById(`heading-${name}`);
    this.places = {
      true: part("true"),
      magnetic: part("magnetic"),
      accuracy: part("accuracy"),
      declination: part("declination"),
      reason: part("reason"),
      prompt: part("prompt"),
    };
    this.spoken = 0;
    this.build();
  }

  build() {
    this.add(this.rose, "circle", { r: 104, class: "rose-rim" });
    this.arc = this.add(this.rose, "path", { class: "rose-arc" });
    this.dial = this.add(this.rose, "g", { id: "dial" });
    for (let angle = 0; angle < 360; angle += 5) {
      const isLong = angle % 30 === 0;
      const length = isLong ? 12 : angle % 10 === 0 ? 8 : 5;
      this.add(this.dial, "path", {
        d: `M0 -89V${-89 + length}`,
        transform: `rotate(${angle})`,
        class: isLong ? "tick long" : "tick",
      });
    }
    this.letters = POINTS.map((name, index) => {
      const isMain = index % 2 === 0;
      const letter = this.add(this.dial, "text", { class: isMain ? "point main" : "point", "data-angle": index * 45 });
      letter.textContent = name;
      return letter;
    });
    // Magnetic north, where the declination is known.
    this.north = this.add(this.dial, "path", { d: "M0 -102l-4.5 10h9z", class: "magnetic-north" });
    this.add(this.rose, "path", { d: "M0 -104l-7 -12h14zM-1 -105h2v18h-2z", class: "lubber", id: "lubber" });
    this.figure = this.add(this.rose, "text", { class: "figure", y: 9 });
    this.unit = this.add(this.rose, "text", { class: "unit", y: 27 });
  }

  add(parent, name, attributes) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    parent.append(element);
    return element;
  }

  draw() {
    const heading = this.store.heading;
    const isStale = this.store.isStale("heading");
    // A heading that has grown old points anywhere: its age is shown, not it.
    const isValid = heading !== undefined && heading.headingAccuracy >= 0 && !isStale;
    const isTrue = isValid && heading.trueHeading >= 0;
    const shown = !isValid ? null : isTrue ? heading.trueHeading : heading.magneticHeading;
    const declination = isTrue ? heading.declination : undefined;
    this.rose.dataset.valid = isValid;
    this.turn(shown ?? 0, isValid ? heading.headingAccuracy : null, isTrue ? declination : undefined, isTrue);
    setText(this.figure, isValid ? degrees(shown, 0) : "no heading");
    setText(this.unit, isValid ? (isTrue ? "true" : "magnetic") : "");
    this.figure.classList.toggle("words", !isValid);
    setText(this.places.true, isTrue ? degrees(heading.trueHeading) : DASH);
    setText(this.places.magnetic, isValid ? degrees(heading.magneticHeading) : DASH);
    setText(this.places.accuracy, isValid ? within(heading.headingAccuracy, 1, "°") : DASH);
    const sign = declination > 0 ? "E" : declination < 0 ? "W" : "";
    setText(this.places.declination, declination === undefined ? DASH : `${number(Math.abs(declination), 1)}°\u00a0${sign}`.trim());
    showReason(this.places.reason, isStale ? "" : this.reason(heading, isValid, isTrue));
    showReason(this.places.prompt, this.store.newest.prompt?.message);
    showAge(this.card, isStale, this.store.age(heading));
    this.say(isValid, shown, isTrue, heading);
  }

  reason(heading, isValid, isTrue) {
    if (!heading) return "";
    if (!isValid) return `No heading: ${heading.reason ?? "it is not to be trusted"}`;
    if (!isTrue) return `No true heading: ${heading.trueReason ?? "not known"}`;
    return sentence(heading.reason);
  }

  turn(angle, accuracy, declination, isTrue) {
    this.dial.setAttribute("transform", `rotate(${(-angle).toFixed(2)})`);
    this.dial.dataset.degrees = angle;
    for (const letter of this.letters) {
      const at = ((Number(letter.dataset.angle) - angle) * Math.PI) / 180;
      // Letters stay upright: the card turns them back.
      const [x, y] = [Math.sin(at) * 67, -Math.cos(at) * 67];
      letter.setAttribute("transform", `rotate(${angle.toFixed(2)}) translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    }
    this.arc.toggleAttribute("hidden", accuracy === null);
    if (accuracy !== null) this.arc.setAttribute("d", sector(0, Math.max(0.4, Math.min(180, accuracy)), 104, 91));
    const hasNorth = isTrue && declination !== undefined;
    this.north.toggleAttribute("hidden", !hasNorth);
    if (hasNorth) this.north.setAttribute("transform", `rotate(${declination.toFixed(2)})`);
  }

  // A screen reader is told once a second at most.
  say(isValid, shown, isTrue, heading) {
    if (performance.now() - this.spoken < 1000) return;
    this.spoken = performance.now();
    this.rose.setAttribute(
      "aria-label",
      isValid
        ? `${Math.round(shown)} degrees ${isTrue ? "true" : "magnetic"}, within ${number(heading.headingAccuracy, 1)} degrees`
        : `No heading: ${heading?.reason ?? "nothing heard yet"}`,
    );
  }
}
