// What the board has said, the newest of each kind, and how old it is.

import { project } from "./mercator.js";

// A value stands for now this many seconds, or this many of the periods at which such values come where that is longer.
// The first value stands for FIRST seconds, because its period is not known yet.
const FRESH = 2;
const FIRST = 10;
const PERIODS = 3;
// What a message of a kind has when it is more than a reason.
const VALUES = { heading: "magneticHeading", altitude: "relativeAltitude", location: "latitude" };
const HISTORY = 600;
// How much slower than the page's clock the board's may run, seconds a second.
const DRIFT = 0.0005;

export class Store {
  constructor() {
    this.isConnected = false;
    this.reset();
  }

  reset() {
    this.board = null;
    this.newest = {};
    // Seconds between two values, by kind.
    this.periods = {};
    this.sensors = new Map();
    this.messages = [];
    this.track = [];
    this.history = [];
    this.dropped = 0;
    // What the page's clock shows when the board's shows zero; the least that was seen has waited least on its way. It is
    // let go of slowly, as no two clocks run alike.
    this.zero = Infinity;
  }

  take(message) {
    switch (message.kind) {
      case "board": {
        const dropped = this.dropped;
        this.reset();
        this.dropped = dropped;
        this.board = message;
        break;
      }
      case "clock":
        this.zero = Math.min(this.zero + DRIFT, performance.now() / 1000 - message.monotonic);
        break;
      case "track":
        if (message.whole) this.track = [];
        for (const [latitude, longitude, time, flags] of message.points ?? []) {
          this.track.push({ ...project(latitude, longitude), time, begins: (flags & 1) !== 0, isCarried: (flags & 2) !== 0 });
        }
        break;
      case "altitudeHistory":
        this.takeHistory(message);
        break;
      case "sensor":
        this.sensors.set(message.sensor, message);
        break;
      case "error":
        this.messages.push(message);
        if (this.messages.length > 20) this.messages.shift();
        break;
      case "dropped":
        this.dropped += message.count;
        break;
      default:
        this.takePeriod(message);
        this.newest[message.kind] = message;
        if (message.kind === "altitude" && message.relativeAltitude === undefined) delete this.newest.absoluteAltitude;
    }
  }

  // A pause in which the value before fell out of date is no period.
  takePeriod(message) {
    const before = this.newest[message.kind];
    const gap = message.monotonic - before?.monotonic;
    const period = this.periods[message.kind];
    if (!(gap > 0) || gap > this.lifetime(message.kind)) return;
    this.periods[message.kind] = period === undefined ? gap : period + 0.2 * (gap - period);
  }

  // How long a value of a kind stands, seconds.
  lifetime(kind) {
    const period = this.periods[kind];
    return period === undefined ? FIRST : Math.max(FRESH, PERIODS * period);
  }

  takeHistory(message) {
    if (message.whole) this.history = [];
    const moments = message.moments ?? [];
    for (let i = 0; i < moments.length; i += 1) {
      this.history.push({
        time: moments[i],
        relative: message.relativeAltitude?.[i] ?? null,
        relativeAccuracy: message.relativeAccuracy?.[i] ?? null,
        sea: message.altitude?.[i] ?? null,
        seaAccuracy: message.altitudeAccuracy?.[i] ?? null,
      });
    }
    const newest = this.history.at(-1)?.time ?? 0;
    while (this.history.length > 0 && newest - this.history[0].time > HISTORY + 5) this.history.shift();
  }

  // The board's clock, now.
  get now() {
    return performance.now() / 1000 - this.zero;
  }

  // Seconds since something was true, null where it never was.
  age(message) {
    if (!message || !Number.isFinite(this.zero)) return null;
    return Math.max(0, this.now - message.monotonic);
  }

  isStale(kind) {
    const message = this.newest[kind];
    if (!message) return false;
    // Why there is no value is true until there is one.
    const isValue = VALUES[kind] in message;
    return !this.isConnected || (isValue && this.age(message) > this.lifetime(kind));
  }

  get heading() {
    return this.newest.heading;
  }

  get location() {
    return this.newest.location;
  }

  // The position that is drawn: of an invalid one nothing is left but its reason.
  get position() {
    const location = this.location;
    const isThere = location && location.latitude !== undefined && location.longitude !== undefined;
    return isThere && location.horizontalAccuracy >= 0 ? location : null;
  }

  // Where true north is known, and the heading is to be trusted: degrees and the half-width of its error bar.
  get trueHeading() {
    const heading = this.heading;
    if (!heading || !(heading.headingAccuracy >= 0) || !(heading.trueHeading >= 0)) return null;
    return { degrees: heading.trueHeading, halfWidth: heading.headingAccuracy };
  }
}
