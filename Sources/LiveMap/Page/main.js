// Puts the parts together. Each part reads the store and draws itself; nothing else passes between them.
import { Connection } from "./connection.js";
import { Store } from "./store.js";
import { MapView } from "./map.js";
import { Compass } from "./compass.js";
import { AltitudeCard } from "./altitude.js";
import { PositionCard } from "./position.js";
import { SensorsCard } from "./sensors.js";
import { setText } from "./figures.js";

const store = new Store();
const map = new MapView(store);
const parts = [map, new Compass(store), new PositionCard(store), new AltitudeCard(store), new SensorsCard(store)];

let isWaiting = false;
function draw() {
  isWaiting = false;
  for (const part of parts) part.draw();
}
function invalidate() {
  if (isWaiting) return;
  isWaiting = true;
  requestAnimationFrame(draw);
}
map.invalidate = invalidate;

const place = document.getElementById("connection");
const spoken = document.getElementById("connection-state");
const words = document.getElementById("connection-words");
new Connection({
  onMessage(message) {
    store.take(message);
    if (message.kind === "board") {
      setText(document.getElementById("board"), message.name);
      document.getElementById("simulated").hidden = message.isSimulated !== true;
      document.title = `${message.name} · Lodestone`;
    }
    invalidate();
  },
  onState(state, text) {
    store.isConnected = state === "connected";
    document.body.dataset.connection = state;
    place.dataset.state = state;
    setText(words, text);
    // A screen reader is told the state, and not every second of a pause.
    setText(spoken, state === "lost" ? "connection lost" : state);
    invalidate();
  },
});

// Ages grow while nothing comes.
setInterval(invalidate, 500);
addEventListener("resize", invalidate);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", invalidate);
invalidate();
