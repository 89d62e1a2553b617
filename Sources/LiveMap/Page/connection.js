// The WebSocket, and what is done when it is lost: tried again with growing pauses, and at once when the network or
// the page comes back.

// Seconds before each try; the last one goes on for ever.
const PAUSES = [0.5, 1, 2, 4, 5];
// The board says the time every second. Longer than this without it, and the connection is gone, whatever TCP thinks.
const SILENCE = 4;
// A try that gets no answer at all.
const PATIENCE = 6;

export class Connection {
  constructor({ onMessage, onState }) {
    this.onMessage = onMessage;
    this.onState = onState;
    this.tries = 0;
    this.socket = null;
    this.nextTry = 0;
    this.reason = "";
    addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.hurry();
    });
    setInterval(() => this.watch(), 250);
    this.open();
  }

  open() {
    const url = new URL("live", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.search = location.search;
    const socket = new WebSocket(url);
    this.socket = socket;
    this.isOpen = false;
    this.heard = performance.now();
    socket.addEventListener("message", (event) => {
      if (socket !== this.socket) return;
      this.heard = performance.now();
      let message;
      try {
        message = JSON.parse(event.data);
      } catch {
        return;
      }
      if (!this.isOpen) {
        this.isOpen = true;
        this.tries = 0;
        this.onState("connected", "connected");
      }
      this.onMessage(message);
    });
    socket.addEventListener("close", (event) => {
      if (socket === this.socket) this.lose(event.code === 1013 ? event.reason : "");
    });
  }

  lose(reason) {
    const socket = this.socket;
    this.socket = null;
    this.isOpen = false;
    if (socket && socket.readyState < 2) socket.close();
    this.reason = reason;
    const pause = reason ? PAUSES[PAUSES.length - 1] : PAUSES[Math.min(this.tries, PAUSES.length - 1)];
    this.tries += 1;
    this.nextTry = performance.now() + pause * 1000;
    this.watch();
  }

  hurry() {
    if (!this.socket) this.nextTry = 0;
    this.watch();
  }

  watch() {
    const now = performance.now();
    if (this.socket) {
      const patience = this.isOpen ? SILENCE : PATIENCE;
      if (now - this.heard > patience * 1000) this.lose("");
      return;
    }
    if (now >= this.nextTry) {
      this.onState("lost", this.said("trying again"));
      this.open();
      return;
    }
    const left = Math.ceil((this.nextTry - now) / 1000);
    this.onState("lost", this.said(`trying again in ${left} s`));
  }

  said(next) {
    return `${this.reason || "connection lost"}, ${next}`;
  }
}
