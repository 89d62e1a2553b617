// Each chip, where it is wired and how it does; and what the board wants a person to know.

import { setText, age } from "./figures.js";

const MESSAGES = 6;

export class SensorsCard {
  constructor(store) {
    this.store = store;
    this.list = document.getElementById("sensors");
    this.summary = document.getElementById("sensors-summary");
    this.messages = document.getElementById("messages");
    this.title = document.getElementById("messages-title");
    this.health = document.getElementById("health");
    this.dropped = document.getElementById("dropped");
  }

  draw() {
    const sensors = [...this.store.sensors.values()].sort((a, b) => a.sensor - b.sensor);
    this.rows(this.list, sensors, 4, (row, sensor) => this.drawSensor(row, sensor));
    const failed = sensors.filter((sensor) => sensor.state === "failed").length;
    const running = sensors.filter((sensor) => sensor.state === "running").length;
    setText(this.summary, sensors.length === 0 ? "" : failed > 0 ? `${failed} failed` : `${running} of ${sensors.length} running`);
    this.health.hidden = failed === 0;
    setText(this.health.firstElementChild, failed === 1 ? "1 chip failed" : `${failed} chips failed`);
    const messages = merged(this.store.messages).slice(-MESSAGES).reverse();
    this.title.hidden = messages.length === 0;
    this.rows(this.messages, messages, 2, (row, message) => {
      setText(row.children[0], message.count > 1 ? `${message.message} (${message.count} times)` : message.message);
      setText(row.children[1], age(this.store.age(message)));
    });
    this.dropped.hidden = this.store.dropped === 0;
    setText(this.dropped, `${this.store.dropped} messages did not reach this page: it or the way to it is slow.`);
  }

  drawSensor(row, sensor) {
    row.dataset.state = sensor.state;
    row.dataset.chip = sensor.chip;
    const [name, position, state, reason] = row.children;
    const isSaid = sensor.name?.startsWith(sensor.chip) ?? false;
    setText(name, isSaid || !sensor.name ? (sensor.name ?? sensor.chip) : `${sensor.chip} (${sensor.name})`);
    setText(position, sensor.position);
    setText(state, sensor.state);
    reason.hidden = !sensor.reason;
    setText(reason, sensor.reason ?? "");
  }

  // As many rows as there are elements, each with so many places for text.
  rows(list, elements, places, fill) {
    while (list.children.length > elements.length) list.lastElementChild.remove();
    while (list.children.length < elements.length) {
      const row = document.createElement("li");
      for (let index = 0; index < places; index += 1) row.append(document.createElement("span"));
      list.append(row);
    }
    elements.forEach((element, index) => fill(list.children[index], element));
  }
}

// The same again is said once, with a count.
function merged(messages) {
  const byText = new Map();
  for (const message of messages) {
    const count = (byText.get(message.message)?.count ?? 0) + 1;
    byText.delete(message.message);
    byText.set(message.message, { ...message, count });
  }
  return [...byText.values()];
}
