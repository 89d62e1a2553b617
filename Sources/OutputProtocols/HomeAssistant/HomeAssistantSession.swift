// What a board publishes to Home Assistant over MQTT, and when.

package import SensorTypes
import TextForms

/// One connection to a broker: which messages are due at a moment.
///
/// Values are not retained: a broker that kept them would hand an old heading to a Home Assistant that has just started, as a new one.
package struct HomeAssistantSession: Sendable {
  /// Seconds between two messages that say that there is still no position. Home Assistant logs each of them as a warning.
  static let lostInterval = 300.0
  /// Seconds after a discovery message in which Home Assistant subscribes the topics of new entities.
  static let settlingTime = 5.0

  /// The entities that tell the place, with their platforms: Home Assistant keeps one, and its last value, until it is removed by name
  /// (home-assistant/core, pull request 118757).
  static let placeEntities = ["position": "device_tracker", "true_heading": "sensor"]

  package private(set) var device: HomeAssistantDevice
  private var isDescribed = false
  private var isBorn = false
  /// When the discovery message comes again without the names of what it has removed.
  private var removalEnd: Timestamp?
  private var headingDue: Timestamp?
  private var positionDue: Timestamp?
  private var airDue: Timestamp?
  private var chipsDue: Timestamp?
  private var hadHeading = false
  private var hadPosition: Bool?
  private var chipStates: [Int: SensorState] = [:]

  package init(device: HomeAssistantDevice) { self.device = device }

  /// The topic to subscribe to.
  package var subscription: String { device.statusTopic }

  /// Notes that the broker has accepted the connection: everything is published again.
  package mutating func connect() { self = HomeAssistantSession(device: device) }

  /// Takes what is now known of the board. The discovery message is published again.
  package mutating func describe(_ device: HomeAssistantDevice) {
    self.device = device
    isDescribed = false
  }

  /// Takes the states of the sensors while no broker is there.
  ///
  /// - Returns: An event for each chip that has failed, or runs again.
  package mutating func events(_ sensors: [SensorStatus]) -> [MQTTMessage] {
    var messages: [MQTTMessage] = []
    takeChips(sensors, isTurn: false, into: &messages)
    return messages
  }

  /// Notes a message to `subscription`.
  package mutating func take(topic: String, payload: [UInt8]) {
    if topic == device.statusTopic, payload.elementsEqual("online".utf8) { connect() }
  }

  /// When to ask for messages again; `nil` before the first time.
  package var deadline: Timestamp? {
    [headingDue, positionDue, airDue, chipsDue, removalEnd].compactMap { $0 }.min()
  }

  /// Returns the messages that are due. A heading, a position or a chip that is lost or found again is due at once.
  package mutating func messages(
    _ state: PublishedState, sensors: [SensorStatus], at now: Timestamp
  ) -> [MQTTMessage] {
    let values = Telemetry(state, at: now, showsPosition: device.showsPosition)
    var messages: [MQTTMessage] = []
    let isNew = !isDescribed
    if !isBorn, !device.showsPosition {
      // An earlier configuration may have shown it.
      messages.append(device.discovery(removing: Self.placeEntities))
      removalEnd = now.advanced(bySeconds: Self.settlingTime)
    } else if !isDescribed || removalEnd.map({ now >= $0 }) ?? false {
      messages.append(device.discovery())
      removalEnd = nil
    }
    if !isBorn { messages.append(device.birth) }
    (isDescribed, isBorn) = (true, true)
    let hasHeading = values.magneticHeading != nil
    if Self.isDue(&headingDue, at: now, device.intervals.heading, hasHeading != hadHeading) {
      messages.append(heading(values, state.heading(at: now)))
    }
    hadHeading = hasHeading
    if device.showsPosition { takePosition(values, at: now, into: &messages) }
    if Self.isDue(&airDue, at: now, device.intervals.air, false) { messages.append(air(values)) }
    let isChipsTurn = Self.isDue(&chipsDue, at: now, device.intervals.chips, false)
    takeChips(sensors, isTurn: isChipsTurn, into: &messages)
    if isNew, let due = chipsDue {
      // Of a chip that is new to it Home Assistant has missed the first message.
      chipsDue = min(due, now.advanced(bySeconds: Self.settlingTime))
    }
    return messages
  }

  private mutating func takeChips(
    _ sensors: [SensorStatus], isTurn: Bool, into messages: inout [MQTTMessage]
  ) {
    let known = Set(device.chips.map(\.index))
    for sensor in sensors where known.contains(sensor.index) {
      let hasChanged = chipStates[sensor.index] != sensor.state
      guard isTurn || hasChanged else { continue }
      chipStates[sensor.index] = sensor.state
      messages.append(chip(sensor, isEvent: hasChanged))
    }
  }

  private mutating func takePosition(
    _ values: Telemetry, at now: Timestamp, into messages: inout [MQTTMessage]
  ) {
    // Home Assistant takes a position without an accuracy for an exact one.
    let hasPosition = values.position?.accuracy != nil
    let interval = hasPosition ? device.intervals.position : Self.lostInterval
    guard Self.isDue(&positionDue, at: now, interval, hasPosition != hadPosition) else { return }
    hadPosition = hasPosition
    messages.append(position(values))
  }

  private static func isDue(
    _ due: inout Timestamp?, at now: Timestamp, _ interval: Double, _ hasChanged: Bool
  ) -> Bool {
    if let due, now < due, !hasChanged { return false }
    due = now.advanced(bySeconds: HomeAssistantDevice.bounded(interval))
    return true
  }

  // MARK: Payloads

  private func heading(_ values: Telemetry, _ estimate: HeadingEstimate?) -> MQTTMessage {
    var line = JSONLine()
    line.set("magnetic", orNull: Self.shown(values.magneticHeading), digits: 1)
    if device.showsPosition { line.set("true", orNull: Self.shown(values.trueHeading), digits: 1) }
    line.set("accuracy", orNull: values.headingAccuracy, digits: 2)
    if let state = Self.calibration(values, estimate) {
      line.set("calibration", state.rawValue)
    } else {
      line.setNull("calibration")
    }
    if let isCarried = values.isHeadingCarried { line.set("carried", isCarried) }
    line.set("reason", values.headingReason?.description)
    return MQTTMessage(topic: device.headingTopic, payload: Array(line.line.utf8))
  }

  private func position(_ values: Telemetry) -> MQTTMessage {
    var line = JSONLine()
    if let position = values.position, let accuracy = position.presentAccuracy {
      line.set("latitude", position.latitude, digits: 7)
      line.set("longitude", position.longitude, digits: 7)
      line.set("gps_accuracy", accuracy, digits: 3)
      line.set("altitude", values.altitude, digits: 1)
      line.set("vertical_accuracy", values.altitudeAccuracy, digits: 1)
      line.set("speed", position.speed, digits: 1)
      line.set("course", Self.shown(position.course), digits: 1)
      line.set("source", position.kind?.rawValue)
      line.set("accuracy_assumed", position.isAccuracyAssumed)
      line.set("carried", position.isCarried)
      line.set("fix_age", position.fixAge, digits: 1)
      if position.isSimulated { line.set("simulated", true) }
    } else {
      // Null makes Home Assistant forget the position: the state becomes unknown.
      line.setNull("latitude")
      line.setNull("longitude")
      let reason = values.positionReason?.description
      line.set("reason", reason ?? "the position has no accuracy")
    }
    return MQTTMessage(topic: device.positionTopic, payload: Array(line.line.utf8))
  }

  private func air(_ values: Telemetry) -> MQTTMessage {
    var line = JSONLine()
    line.set("pressure", orNull: values.pressure.map { $0 / 100 }, digits: 2)
    line.set("sea_level_pressure", orNull: values.seaLevelPressure.map { $0 / 100 }, digits: 2)
    line.set(
      "sea_level_pressure_accuracy", orNull: values.seaLevelPressureAccuracy.map { $0 / 100 },
      digits: 2)
    line.set("altitude", orNull: values.altitude, digits: 1)
    line.set("altitude_accuracy", orNull: values.altitudeAccuracy, digits: 1)
    line.set("temperature", orNull: values.temperature, digits: 2)
    line.set("humidity", orNull: values.humidity, digits: 1)
    return MQTTMessage(topic: device.airTopic, payload: Array(line.line.utf8))
  }

  /// - Parameter isEvent: Whether it says something new, which is not to be lost.
  private func chip(_ sensor: SensorStatus, isEvent: Bool) -> MQTTMessage {
    var line = JSONLine()
    switch sensor.state {
    case .starting: line.setNull("problem")
    case .running, .idle: line.set("problem", "OFF")
    case .failed: line.set("problem", "ON")
    }
    line.set("state", sensor.state.word)
    if case .failed(let reason) = sensor.state { line.set("reason", reason) }
    line.set("bus", sensor.position)
    line.set("bus_errors", Int(clamping: sensor.counters.busErrors))
    line.set("stalls", Int(clamping: sensor.counters.stalls))
    return MQTTMessage(
      topic: device.chipTopic(sensor.index), payload: Array(line.line.utf8),
      quality: isEvent ? 1 : 0)
  }

  /// A direction that one decimal does not round up to a full turn.
  private static func shown(_ degrees: Double?) -> Double? {
    degrees.map { $0 >= 359.95 ? 0 : $0 }
  }

  private static func calibration(
    _ values: Telemetry, _ estimate: HeadingEstimate?
  ) -> HomeAssistantCalibration? {
    if case .uncalibrated? = values.headingReason { return .uncalibrated }
    guard let check = estimate?.fieldCheck, check.calibration != nil else { return nil }
    return check.isDisturbed ? .disturbed : .calibrated
  }
}

extension JSONLine {
  /// A number; `null` for what is not known.
  fileprivate mutating func set(_ key: String, orNull value: Double?, digits: Int) {
    if let value, value.isFinite { set(key, value, digits: digits) } else { setNull(key) }
  }
}
