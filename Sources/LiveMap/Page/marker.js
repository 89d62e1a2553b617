// The position on the map: its circle of accuracy to scale, and the heading as a cone as wide as its error bar.

import { project, metresPerUnit } from "./mercator.js";

const LENGTH = 74;
const RADIANS = Math.PI / 180;

export class Marker {
  constructor(store, view) {
    this.store = store;
    this.view = view;
    const part = (id) => document.getElementById(id);
    this.circle = part("accuracy");
    this.group = part("marker");
    this.cone = part("cone");
    this.needle = part("needle");
    this.overlay = part("overlay");
  }

  draw() {
    const position = this.store.position;
    this.group.toggleAttribute("hidden", !position);
    this.circle.toggleAttribute("hidden", !position);
    if (!position) return;
    const { x, y } = this.view.toScreen(project(position.latitude, position.longitude));
    this.group.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    const radius = (position.horizontalAccuracy / metresPerUnit(position.latitude)) * this.view.scale;
    this.circle.setAttribute("cx", x.toFixed(2));
    this.circle.setAttribute("cy", y.toFixed(2));
    this.circle.setAttribute("r", Math.min(radius, 20000).toFixed(2));
    const isStale = this.store.isStale("location");
    this.overlay.dataset.stale = isStale;
    this.overlay.dataset.carried = position.carried !== undefined;
    this.drawHeading();
  }

  drawHeading() {
    // An old heading says nothing about where the board points now.
    const heading = this.store.isStale("heading") ? null : this.store.trueHeading;
    this.cone.toggleAttribute("hidden", !heading);
    this.needle.toggleAttribute("hidden", !heading);
    if (!heading) return;
    const turned = (this.view.turned * 180) / Math.PI;
    const half = Math.max(0.5, Math.min(180, heading.halfWidth));
    this.cone.setAttribute("d", sector(heading.degrees - turned, half, LENGTH));
    this.needle.setAttribute("transform", `rotate(${(heading.degrees - turned).toFixed(2)})`);
    this.needle.setAttribute("d", `M0 -11V${-LENGTH}`);
    this.cone.dataset.degrees = heading.degrees;
    this.cone.dataset.halfWidth = half;
  }
}

// A part of a disc about a direction, degrees clockwise from the top.
export function sector(middle, half, radius, inner = 0) {
  if (half >= 180) return `M0 ${-radius}A${radius} ${radius} 0 1 1 0 ${radius}A${radius} ${radius} 0 1 1 0 ${-radius}Z`;
  const at = (degrees, length) =>
    `${(Math.sin(degrees * RADIANS) * length).toFixed(2)} ${(-Math.cos(degrees * RADIANS) * length).toFixed(2)}`;
  const large = half > 90 ? 1 : 0;
  const [from, to] = [middle - half, middle + half];
  const back = inner > 0 ? `L${at(to, inner)}A${inner} ${inner} 0 ${large} 0 ${at(from, inner)}` : "L0 0";
  return `M${at(from, radius)}A${radius} ${radius} 0 ${large} 1 ${at(to, radius)}${back}Z`;
}
