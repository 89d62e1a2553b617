// Dragging, pinching, the wheel and the keys.

// What a press of an arrow key moves, pixels.
const STEP = 80;

export class Gestures {
  constructor(element, { onMove, onZoom, onKey }) {
    this.onMove = onMove;
    this.onZoom = onZoom;
    this.pointers = new Map();
    element.addEventListener("pointerdown", (event) => {
      if (event.target.closest("button, a")) return;
      element.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, this.place(event, element));
    });
    element.addEventListener("pointermove", (event) => this.drag(event, element));
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
      element.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
    element.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { x, y } = this.place(event, element);
        const lines = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 240 : 1;
        // A pinch on a touchpad comes as a wheel with the control key, and in small steps.
        const speed = event.ctrlKey ? 0.012 : 0.0022;
        const change = Math.max(-1, Math.min(1, -event.deltaY * lines * speed));
        this.onZoom(change, x, y);
      },
      { passive: false },
    );
    element.addEventListener("dblclick", (event) => {
      if (event.target.closest("button")) return;
      const { x, y } = this.place(event, element);
      this.onZoom(1, x, y);
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const moves = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
      // Arrows scroll the page elsewhere.
      const move = event.target === element ? moves[event.key] : undefined;
      if (move) this.onMove(...move);
      else if (!onKey(event.key)) return;
      event.preventDefault();
    });
  }

  place(event, element) {
    const frame = element.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  }

  drag(event, element) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.place(event, element);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.pointers.set(event.pointerId, now);
    if (!other) {
      this.onMove(now.x - before.x, now.y - before.y);
      return;
    }
    // Two fingers: the middle between them moves the map, their distance zooms it.
    this.onMove((now.x - before.x) / 2, (now.y - before.y) / 2);
    const [was, is] = [before, now].map((point) => Math.hypot(point.x - other.x, point.y - other.y));
    if (was > 8 && is > 8) this.onZoom(Math.log2(is / was), (now.x + other.x) / 2, (now.y + other.y) / 2);
  }
}
