// A canvas that is sharp on every screen, and the page's colours for it.

export class Surface {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  // Makes the canvas as large as its place. Returns its size in CSS pixels.
  fit() {
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return { width, height, ratio };
  }
}

// The colours as the style sheet has them now for an element, light or dark.
export function colours(element) {
  const style = getComputedStyle(element);
  const colour = (name) => style.getPropertyValue(name).trim();
  return {
    page: colour("--page"),
    ground: colour("--ground"),
    ink: colour("--ink"),
    soft: colour("--soft"),
    line: colour("--line"),
    grid: colour("--grid"),
    data: colour("--data"),
    off: colour("--off"),
    band: colour("--band"),
    casing: colour("--casing"),
  };
}

export const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
