// The base map, where the server has one. What is missing stays away, and the graticule is seen there.

import { TILE } from "./mercator.js";

const KEPT = 256;
// How often a tile that did not come is asked for again, milliseconds.
const AGAIN = 30000;

export class Tiles {
  constructor(onLoad) {
    this.onLoad = onLoad;
    this.images = new Map();
    this.query = location.search;
  }

  // Draws into a context whose origin is the middle of the screen, turned as the map is. Returns whether the screen is
  // covered by tiles.
  draw(context, view, about) {
    const zoom = Math.max(about.minimumZoom, Math.min(about.maximumZoom, Math.round(view.zoom)));
    // Far below the coarsest tiles there would be too many of them.
    if (view.zoom < about.minimumZoom - 2) return false;
    const count = 2 ** zoom;
    const size = view.scale / count;
    const { west, east, north, south } = view.bounds;
    let isCovered = true;
    for (let y = Math.floor(north * count); y <= Math.min(count - 1, Math.floor(south * count)); y += 1) {
      for (let x = Math.floor(west * count); x <= Math.floor(east * count); x += 1) {
        const image = this.image(zoom, ((x % count) + count) % count, y);
        if (!image) {
          isCovered = false;
          continue;
        }
        const left = (x - view.centre.x * count) * size;
        const top = (y - view.centre.y * count) * size;
        // A hair larger: no seams where pixels are rounded.
        context.drawImage(image, left, top, size + 0.5, size + 0.5);
      }
    }
    return isCovered;
  }

  image(zoom, x, y) {
    const name = `tiles/${zoom}/${x}/${y}`;
    let entry = this.images.get(name);
    if (entry && entry.failed !== undefined && performance.now() - entry.failed > AGAIN) entry = undefined;
    if (!entry) {
      entry = { image: new Image(TILE, TILE), isThere: false };
      const made = entry;
      made.image.addEventListener("load", () => {
        made.isThere = true;
        this.onLoad();
      });
      made.image.addEventListener("error", () => {
        made.failed = performance.now();
      });
      made.image.src = name + this.query;
    }
    // The newest stands last, the one that was not needed for longest first.
    this.images.delete(name);
    this.images.set(name, entry);
    if (this.images.size > KEPT) this.images.delete(this.images.keys().next().value);
    return entry.isThere ? entry.image : null;
  }
}
