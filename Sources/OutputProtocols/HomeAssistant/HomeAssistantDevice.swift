// A board as Home Assistant discovers it over MQTT: topics, and the discovery message of a device with its entities
// (home-assistant.io/integrations/mqtt, "Device discovery payload"; Home Assistant 2024.11 and later).

package import SensorTypes
import TextForms

/// A message to publish.
package struct MQTTMessage: Sendable, Hashable {
  package var topic: String
  package var payload: [UInt8]
  /// 0 at most once, 1 at least once.
  package var quality: UInt8
  /// Whether the broker keeps it for those who subscribe later.
  package var isRetained: Bool

  package init(topic: String, payload: [UInt8], quality: UInt8 = 0, isRetained: Bool = false) {
    (self.topic, self.payload) = (topic, payload)
    (self.quality, self.isRetained) = (quality, isRetained)
  }
}

/// The description of a board for Home Assistant: its name, its entities and the topics of their values.
package struct HomeAssistantDevice: Sendable {
  /// How often values are published, in seconds.
  package struct Intervals: Sendable, Hashable {
    package var heading = 1.0
    package var position = 5.0
    package var air = 10.0
    package var chips = 60.0

    package init() {}
  }

  /// A chip of the board.
  package struct Chip: Sendable, Hashable {
    /// The place in the board file, from 0.
    package var index: Int
    package var name: String

    package init(index: Int, name: String) { (self.index, self.name) = (index, name) }
  }

  /// The identifier: letters, digits, `_` and `-`, at most 64 of them.
  package let id: String
  /// The name for people.
  package var name: String
  /// The version of Lodestone.
  package var version: String
  package var capabilities: HardwareCapabilities
  /// Whether the barometer measures humidity.
  package var hasHumidity = false
  package var chips: [Chip]
  /// Whether the owner lets Home Assistant know where the board is.
  package var showsPosition: Bool
  package var intervals = Intervals()
  private let discoveryPrefix: String
  private let base: String

  /// Describes a board.
  ///
  /// - Parameters:
  ///   - id: What tells this board from others; characters that a topic may not have become `_`.
  ///   - topicPrefix: What all topics of values begin with.
  ///   - discoveryPrefix: The prefix that Home Assistant is configured for.
  package init(
    id: String, name: String, version: String, capabilities: HardwareCapabilities, chips: [Chip],
    showsPosition: Bool, topicPrefix: String = "lodestone",
    discoveryPrefix: String = "homeassistant"
  ) {
    self.id = Self.identifier(id)
    (self.name, self.version, self.capabilities) = (name, version, capabilities)
    (self.chips, self.showsPosition) = (Array(chips.prefix(64)), showsPosition)
    self.discoveryPrefix = Self.prefix(discoveryPrefix, else: "homeassistant")
    base = Self.prefix(topicPrefix, else: "lodestone") + "/" + self.id
  }

  // MARK: Topics

  package var discoveryTopic: String { "\(discoveryPrefix)/device/\(id)/config" }
  /// Where Home Assistant says `online` when it has started: then everything has to be published again.
  package var statusTopic: String { "\(discoveryPrefix)/status" }
  package var availabilityTopic: String { "\(base)/availability" }
  package var headingTopic: String { "\(base)/heading" }
  package var positionTopic: String { "\(base)/position" }
  package var airTopic: String { "\(base)/air" }
  package func chipTopic(_ index: Int) -> String { "\(base)/chip/\(index)" }

  // MARK: Messages that are kept

  /// The last will: what the broker publishes when the connection breaks.
  package var will: MQTTMessage { availability("offline") }
  /// What to publish once connected.
  package var birth: MQTTMessage { availability("online") }

  private func availability(_ word: String) -> MQTTMessage {
    MQTTMessage(
      topic: availabilityTopic, payload: Array(word.utf8), quality: 1, isRetained: true)
  }

  /// Removes the device with its entities from Home Assistant.
  package var removal: MQTTMessage {
    MQTTMessage(topic: discoveryTopic, payload: [], quality: 1, isRetained: true)
  }

  /// The discovery message.
  ///
  /// - Parameter removed: Entities that an earlier message had and this one has no more, with their platforms.
  package func discovery(removing removed: [String: String] = [:]) -> MQTTMessage {
    var line = JSONLine()
    var device = JSONLine()
    device.set("ids", [id])
    device.set("name", name)
    device.set("mf", "Lodestone")
    let model = chips.map(\.name).joined(separator: ", ")
    if !model.isEmpty { device.set("mdl", model) }
    device.set("sw", version)
    line.set("dev", device)
    var origin = JSONLine()
    origin.set("name", "Lodestone")
    origin.set("sw", version)
    line.set("o", origin)
    line.set("availability_topic", availabilityTopic)
    var entities = JSONLine()
    for (key, platform) in removed.sorted(by: { $0.key < $1.key }) {
      var entity = JSONLine()
      entity.set("p", platform)
      entities.set(key, entity)
    }
    writePosition(into: &entities)
    writeHeading(into: &entities)
    writeAir(into: &entities)
    writeChips(into: &entities)
    line.set("cmps", entities)
    return MQTTMessage(
      topic: discoveryTopic, payload: Array(line.line.utf8), quality: 1, isRetained: true)
  }

  // MARK: Entities

  private func writePosition(into entities: inout JSONLine) {
    guard showsPosition, capabilities.location else { return }
    var entity = begin("device_tracker", "position", "Position")
    entity.set("json_attributes_topic", positionTopic)
    entity.set("source_type", "gps")
    entities.set("position", entity)
  }

  private func writeHeading(into entities: inout JSONLine) {
    guard capabilities.heading || capabilities.vehicleHeading else { return }
    func sensor(_ key: String, _ name: String, _ value: String) -> JSONLine {
      self.sensor(key, name, headingTopic, value, every: intervals.heading)
    }
    // No state class: Home Assistant's statistics would take the mean of 359 and 1 for 180.
    var magnetic = sensor("magnetic_heading", "Magnetic heading", "magnetic")
    magnetic.setUnit("°", precision: 1)
    magnetic.set("icon", "mdi:compass")
    magnetic.set("json_attributes_topic", headingTopic)
    entities.set("magnetic_heading", magnetic)
    if showsPosition {
      var heading = sensor("true_heading", "True heading", "true")
      heading.setUnit("°", precision: 1)
      heading.set("icon", "mdi:compass")
      entities.set("true_heading", heading)
    }
    var accuracy = sensor("heading_accuracy", "Heading accuracy", "accuracy")
    accuracy.setUnit("°", precision: 1)
    accuracy.set("state_class", "measurement")
    accuracy.set("entity_category", "diagnostic")
    entities.set("heading_accuracy", accuracy)
    guard capabilities.motion.magnetometer else { return }
    var calibration = sensor("calibration", "Compass calibration", "calibration")
    calibration.set("device_class", "enum")
    calibration.set("options", HomeAssistantCalibration.allCases.map(\.rawValue))
    calibration.set("entity_category", "diagnostic")
    entities.set("calibration", calibration)
  }

  private func writeAir(into entities: inout JSONLine) {
    func sensor(
      _ key: String, _ name: String, _ kind: String, _ unit: String, _ precision: Int
    ) -> JSONLine {
      var entity = self.sensor(key, name, airTopic, key, every: intervals.air)
      entity.set("device_class", kind)
      entity.setUnit(unit, precision: precision)
      entity.set("state_class", "measurement")
      return entity
    }
    if capabilities.relativeAltitude {
      entities.set("pressure", sensor("pressure", "Pressure", "atmospheric_pressure", "hPa", 1))
      entities.set(
        "temperature", sensor("temperature", "Board temperature", "temperature", "°C", 1))
      if hasHumidity {
        entities.set("humidity", sensor("humidity", "Humidity", "humidity", "%", 0))
      }
    }
    guard capabilities.absoluteAltitude else { return }
    entities.set("altitude", sensor("altitude", "Altitude", "distance", "m", 1))
    entities.set(
      "sea_level_pressure",
      sensor("sea_level_pressure", "Sea-level pressure", "atmospheric_pressure", "hPa", 1))
  }

  private func writeChips(into entities: inout JSONLine) {
    for chip in chips {
      let key = "chip_\(chip.index)"
      var entity = begin("binary_sensor", key, chip.name)
      entity.set("state_topic", chipTopic(chip.index))
      entity.set("value_template", "{{ value_json.problem }}")
      entity.set("json_attributes_topic", chipTopic(chip.index))
      entity.set("expire_after", Self.expiry(intervals.chips))
      entity.set("device_class", "problem")
      entity.set("entity_category", "diagnostic")
      entities.set(key, entity)
    }
  }

  private func begin(_ platform: String, _ key: String, _ name: String) -> JSONLine {
    var entity = JSONLine()
    entity.set("p", platform)
    entity.set("unique_id", "\(id)_\(key)")
    entity.set("name", name)
    return entity
  }

  private func sensor(
    _ key: String, _ name: String, _ topic: String, _ value: String, every interval: Double
  ) -> JSONLine {
    var entity = begin("sensor", key, name)
    entity.set("state_topic", topic)
    // The template of a null is "None", which makes the state unknown.
    entity.set("value_template", "{{ value_json['\(value)'] }}")
    entity.set("expire_after", Self.expiry(interval))
    return entity
  }

  /// Seconds after which a value that is not repeated becomes unavailable.
  static func expiry(_ interval: Double) -> Int {
    max(10, Int((3 * bounded(interval)).rounded(.up)))
  }

  /// An interval of 0.05 s up to a day.
  static func bounded(_ interval: Double) -> Double {
    interval >= 0.05 ? min(interval, 86_400) : 0.05
  }

  /// Returns the identifier of a name: letters, digits, `_` and `-`, at most 64 of them.
  package static func identifier(_ text: String) -> String {
    let bytes = text.utf8.prefix(64).map { byte -> UInt8 in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        byte
      default: UInt8(ascii: "_")
      }
    }
    return bytes.isEmpty ? "lodestone" : String(decoding: bytes, as: UTF8.self)
  }

  /// A prefix of topics without wildcards, control characters, and slashes at its ends.
  private static func prefix(_ text: String, else fallback: String) -> String {
    var bytes = text.utf8.prefix(128).filter {
      $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "#")
    }
    while bytes.first == UInt8(ascii: "/") { bytes.removeFirst() }
    while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return bytes.isEmpty ? fallback : String(decoding: bytes, as: UTF8.self)
  }
}

/// The state of the compass's calibration, as Home Assistant shows it.
enum HomeAssistantCalibration: String, CaseIterable {
  case calibrated
  case uncalibrated
  /// Calibrated, and the field is not the earth's.
  case disturbed
}

extension JSONLine {
  fileprivate mutating func setUnit(_ unit: String, precision: Int) {
    set("unit_of_measurement", unit)
    set("suggested_display_precision", precision)
  }
}
