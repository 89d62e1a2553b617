// Web Mercator: the world as a square of side 1, x to the east, y to the south.

export const MAX_LATITUDE = 85.0511287798066;
export const TILE = 256;
const RADIANS = Math.PI / 180;
// WGS 84.
const A = 6378137;
const E2 = 0.00669437999014;

export function project(latitude, longitude) {
  const phi = Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude)) * RADIANS;
  return { x: longitude / 360 + 0.5, y: 0.5 - Math.asinh(Math.tan(phi)) / (2 * Math.PI) };
}

export function unproject({ x, y }) {
  return { latitude: Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) / RADIANS, longitude: (x - 0.5) * 360 };
}

// Metres on the ellipsoid per unit of the square, at a latitude: the mean of the scales along the meridian and across.
export function metresPerUnit(latitude) {
  const phi = Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude)) * RADIANS;
  const w = 1 - E2 * Math.sin(phi) ** 2;
  const across = A / Math.sqrt(w);
  const along = (A * (1 - E2)) / w ** 1.5;
  return 2 * Math.PI * Math.cos(phi) * Math.sqrt(across * along);
}

// What is seen: a centre, a zoom, and how far the map is turned, in radians; the pixels are those of CSS.
export class View {
  constructor() {
    this.centre = project(20, 10);
    this.zoom = 1.5;
    this.turned = 0;
    this.width = 1;
    this.height = 1;
  }

  get scale() {
    return TILE * 2 ** this.zoom;
  }

  get metresPerPixel() {
    return metresPerUnit(unproject(this.centre).latitude) / this.scale;
  }

  // The nearest of the places that the world repeats at.
  toScreen(point) {
    let dx = point.x - this.centre.x;
    dx -= Math.round(dx);
    const [px, py] = [dx * this.scale, (point.y - this.centre.y) * this.scale];
    const [cos, sin] = [Math.cos(this.turned), Math.sin(this.turned)];
    return { x: this.width / 2 + px * cos + py * sin, y: this.height / 2 - px * sin + py * cos };
  }

  fromScreen(x, y) {
    const [dx, dy] = [x - this.width / 2, y - this.height / 2];
    const [cos, sin] = [Math.cos(this.turned), Math.sin(this.turned)];
    return {
      x: this.centre.x + (dx * cos - dy * sin) / this.scale,
      y: this.centre.y + (dx * sin + dy * cos) / this.scale,
    };
  }

  // Moves what is below the fingers.
  moveBy(dx, dy) {
    this.centre = this.kept(this.fromScreen(this.width / 2 - dx, this.height / 2 - dy));
  }

  // Zooms, and keeps what is at a place of the screen where it is.
  zoomTo(zoom, x = this.width / 2, y = this.height / 2) {
    const before = this.fromScreen(x, y);
    this.zoom = Math.max(0.5, Math.min(22, zoom));
    const after = this.fromScreen(x, y);
    this.centre = this.kept({ x: this.centre.x + before.x - after.x, y: this.centre.y + before.y - after.y });
  }

  kept({ x, y }) {
    return { x: x - Math.floor(x), y: Math.max(0, Math.min(1, y)) };
  }

  // The square's part that the screen shows, turned or not.
  get bounds() {
    const corners = [
      this.fromScreen(0, 0),
      this.fromScreen(this.width, 0),
      this.fromScreen(0, this.height),
      this.fromScreen(this.width, this.height),
    ];
    const xs = corners.map((corner) => corner.x);
    const ys = corners.map((corner) => corner.y);
    return {
      west: Math.min(...xs),
      east: Math.max(...xs),
      north: Math.max(0, Math.min(...ys)),
      south: Math.min(1, Math.max(...ys)),
    };
  }
}
