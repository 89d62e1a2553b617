// The map: what lies below, the track, and how the view follows.

import { View, TILE, project, unproject, metresPerUnit } from "./mercator.js";
import { Surface, colours } from "./surface.js";
import { Tiles } from "./tiles.js";
import { drawGraticule } from "./graticule.js";
import { Gestures } from "./gestures.js";
import { Marker } from "./marker.js";
import { setText, sentence, age } from "./figures.js";

// A first fix is shown with its circle so large, pixels; but no nearer and no farther than this.
const FIRST_RADIUS = 26;
const FIRST_ZOOMS = { nearest: 20, farthest: 13 };

export class MapView {
  constructor(store) {
    this.store = store;
    this.view = new View();
    this.element = document.getElementById("map");
    this.surface = new Surface(document.getElementById("ground"));
    this.marker = new Marker(store, this.view);
    this.tiles = new Tiles(() => this.invalidate());
    this.follows = true;
    this.isHeadingUp = false;
    this.hasShown = false;
    this.invalidate = () => {};
    this.connectControls();
  }

  connectControls() {
    const button = (id) => document.getElementById(id);
    new Gestures(this.element, {
      onMove: (dx, dy) => this.moveBy(dx, dy),
      onZoom: (change, x, y) => this.zoomBy(change, x, y),
      onKey: (key) => this.press(key),
    });
    button("zoom-in").addEventListener("click", () => this.zoomBy(1));
    button("zoom-out").addEventListener("click", () => this.zoomBy(-1));
    button("turn").addEventListener("click", () => this.press("n"));
    button("follow").addEventListener("click", () => this.press("f"));
    this.buttons = { turn: button("turn"), follow: button("follow"), needle: button("turn-needle") };
    this.notice = {
      box: document.getElementById("notice"),
      title: document.getElementById("notice-title"),
      reason: document.getElementById("notice-reason"),
    };
    this.scale = {
      box: document.getElementById("scale"),
      words: document.getElementById("scale-words"),
      bar: document.getElementById("scale-bar"),
    };
    this.layers = [document.getElementById("ground"), document.getElementById("overlay")];
    this.attribution = document.getElementById("attribution");
  }

  moveBy(dx, dy) {
    this.follows = false;
    this.view.moveBy(dx, dy);
    this.invalidate();
  }

  zoomBy(change, x, y) {
    // Whoever follows keeps the position where it is.
    const isFollowing = this.follows && this.store.position;
    this.view.zoomTo(this.view.zoom + change, isFollowing ? undefined : x, isFollowing ? undefined : y);
    this.invalidate();
  }

  press(key) {
    switch (key) {
      case "+":
      case "=":
        this.zoomBy(1);
        break;
      case "-":
      case "_":
        this.zoomBy(-1);
        break;
      case "n":
      case "N":
        this.isHeadingUp = !this.isHeadingUp;
        break;
      case "f":
      case "F":
        this.follows = true;
        break;
      default:
        return false;
    }
    this.invalidate();
    return true;
  }

  draw() {
    const { width, height } = this.surface.fit();
    if (width === 0 || height === 0) return;
    this.view.width = width;
    this.view.height = height;
    this.follow();
    this.drawGround(width, height);
    this.marker.draw();
    this.showControls();
    this.showScale();
    this.showNotice();
    const centre = unproject(this.view.centre);
    // What is seen, for whoever looks from outside.
    Object.assign(this.element.dataset, {
      latitude: centre.latitude.toFixed(8),
      longitude: centre.longitude.toFixed(8),
      zoom: this.view.zoom.toFixed(4),
      turned: ((this.view.turned * 180) / Math.PI).toFixed(3),
    });
  }

  follow() {
    const position = this.store.position;
    if (position && !this.hasShown) {
      this.hasShown = true;
      const perMetre = FIRST_RADIUS / Math.max(position.horizontalAccuracy, 0.1);
      const zoom = Math.log2((metresPerUnit(position.latitude) * perMetre) / TILE);
      this.view.zoom = Math.max(FIRST_ZOOMS.farthest, Math.min(FIRST_ZOOMS.nearest, Math.round(zoom)));
      this.view.centre = project(position.latitude, position.longitude);
    }
    if (position && this.follows) this.view.centre = project(position.latitude, position.longitude);
    // Without a heading there is nothing to turn by: north is up, and the button says what was asked for.
    const heading = this.isHeadingUp ? this.store.trueHeading : null;
    this.view.turned = heading ? (heading.degrees * Math.PI) / 180 : 0;
  }

  drawGround(width, height) {
    const context = this.surface.context;
    const about = this.store.board?.tiles;
    for (const layer of this.layers) layer.dataset.tiles = about !== undefined;
    const palette = colours(this.surface.canvas);
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, width, height);
    let isCovered = false;
    if (about) {
      context.save();
      context.translate(width / 2, height / 2);
      context.rotate(-this.view.turned);
      isCovered = this.tiles.draw(context, this.view, about);
      context.restore();
    }
    drawGraticule(context, this.view, palette, { isFaint: isCovered, hasAttribution: Boolean(about?.attribution) });
    // Maps are made for light paper: at night there is less light on it.
    if (about && matchMedia("(prefers-color-scheme: dark)").matches) {
      context.fillStyle = "rgb(0 0 0 / .3)";
      context.fillRect(0, 0, width, height);
    }
    this.drawTrack(context, palette);
    this.attribution.hidden = !about?.attribution;
    setText(this.attribution, about?.attribution ?? "");
  }

  drawTrack(context, palette) {
    const pieces = [new Path2D(), new Path2D()];
    // Where the last line has ended, and in which of the two.
    let [last, lastPiece] = [null, null];
    const go = (place, begins, isCarried, isEnd) => {
      const point = this.view.toScreen(place);
      // Of points that fall together on the screen one is drawn.
      if (last && !begins && !isEnd && Math.hypot(point.x - last.x, point.y - last.y) < 1) return;
      const piece = pieces[isCarried ? 1 : 0];
      if (last && !begins) {
        if (piece !== lastPiece) piece.moveTo(last.x, last.y);
        piece.lineTo(point.x, point.y);
        lastPiece = piece;
      } else lastPiece = null;
      last = point;
    };
    const track = this.store.track;
    track.forEach((point, index) => go(point, point.begins, point.isCarried, index === track.length - 1));
    const position = this.store.position;
    if (position) go(project(position.latitude, position.longitude), false, position.carried !== undefined, true);
    context.save();
    context.lineJoin = "round";
    context.lineCap = "round";
    for (const [index, piece] of pieces.entries()) {
      context.setLineDash([]);
      context.strokeStyle = palette.casing;
      context.lineWidth = 6;
      context.stroke(piece);
      context.strokeStyle = palette.data;
      context.lineWidth = 3;
      // Carried on without a fix.
      if (index === 1) context.setLineDash([1, 6]);
      context.stroke(piece);
    }
    context.restore();
  }

  showControls() {
    const { turn, follow, needle } = this.buttons;
    const name = this.isHeadingUp ? "Heading up" : "North up";
    if (turn.getAttribute("aria-label") !== name) turn.setAttribute("aria-label", name);
    turn.setAttribute("aria-pressed", String(!this.isHeadingUp));
    turn.classList.toggle("waits", this.isHeadingUp && !this.store.trueHeading);
    needle.setAttribute("transform", `rotate(${((-this.view.turned * 180) / Math.PI).toFixed(1)} 10 10)`);
    follow.setAttribute("aria-pressed", String(this.follows));
  }

  showScale() {
    const perPixel = this.view.metresPerPixel;
    const most = perPixel * Math.min(120, this.view.width / 3);
    const power = 10 ** Math.floor(Math.log10(most));
    const metres = [5, 2, 1].map((factor) => factor * power).find((length) => length <= most) ?? power;
    const words = metres >= 1000 ? `${metres / 1000} km` : metres >= 1 ? `${metres} m` : `${Math.round(metres * 100)} cm`;
    setText(this.scale.words, words);
    this.scale.bar.style.width = `${(metres / perPixel).toFixed(1)}px`;
    this.scale.box.setAttribute("aria-label", `Scale: the bar is ${words} long`);
  }

  showNotice() {
    const { box, title, reason } = this.notice;
    const location = this.store.location;
    box.hidden = !location || this.store.position !== null;
    if (box.hidden) return;
    setText(title, "No position");
    // Over a track it lies at the edge.
    box.dataset.hasTrack = this.store.track.length > 0;
    const before = this.store.track.at(-1);
    const ago = before && Number.isFinite(this.store.zero) ? `; the last one is ${age(this.store.now - before.time)}` : "";
    setText(reason, sentence(location.reason ?? "") + ago);
  }
}
