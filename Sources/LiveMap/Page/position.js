// Where the board is, in figures.

import { coordinate, number, degrees, within, setText, showAge, showReason, DASH } from "./figures.js";

export class PositionCard {
  constructor(store) {
    this.store = store;
    this.card = document.getElementById("position-card");
    const part = (name) => document.getElementById(`position-${name}`);
    this.places = {
      place: part("place"),
      accuracy: part("accuracy"),
      speed: part("speed"),
      course: part("course"),
      satellites: part("satellites"),
      reason: part("reason"),
    };
  }

  draw() {
    const { places, store } = this;
    const position = store.position;
    const isThere = position !== null;
    setText(
      places.place,
      isThere ? `${coordinate(position.latitude, "N", "S")}  ${coordinate(position.longitude, "E", "W")}` : DASH,
    );
    setText(places.accuracy, isThere ? `${number(position.horizontalAccuracy, 1)}\u00a0m` : DASH);
    setText(places.speed, isThere && position.speed >= 0 ? `${number(position.speed, 1)}\u00a0m/s` : DASH);
    setText(places.course, isThere ? degrees(position.course, 0) : DASH);
    setText(places.satellites, isThere && position.satellites !== undefined ? String(position.satellites) : DASH);
    showReason(places.reason, this.reason(position));
    showAge(this.card, isThere && store.isStale("location"), store.age(position));
    this.card.dataset.carried = isThere && position.carried !== undefined;
  }

  reason(position) {
    if (!position) return this.store.location ? `No position: ${this.store.location.reason ?? "not known"}` : "";
    if (position.carried !== undefined) {
      const way = position.turnMeasured === false ? ", straight on" : "";
      return `No fix for ${number(position.carried, 0)} s: carried on from the last one${way}`;
    }
    return position.assumed ? "The receiver does not say how accurate it is: the worst case is assumed" : "";
  }
}
