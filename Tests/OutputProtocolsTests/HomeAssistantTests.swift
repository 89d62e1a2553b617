// What Home Assistant is told, against the keys and rules of its documentation (home-assistant.io/integrations/mqtt, sensor.mqtt,
// binary_sensor.mqtt, device_tracker.mqtt). The schemas of homeassistant 2024.3.3 (homeassistant.components.mqtt) accepted the same
// entities, and its units and state classes fit their device classes; that version has no device discovery yet.

import Foundation
import SensorTypes
import Testing

@testable import OutputProtocols

struct HomeAssistantTests {
  private static let now = TelemetryStates.now

  private static func device(
    id: String = "boat-1", showsPosition: Bool = true, capabilities: HardwareCapabilities? = nil
  ) -> HomeAssistantDevice {
    let all = HardwareCapabilities(
      heading: true, location: true, relativeAltitude: true, absoluteAltitude: true,
      motion: MotionCapabilities(magnetometer: true))
    var device = HomeAssistantDevice(
      id: id, name: "My \"boat\"", version: "1.0", capabilities: capabilities ?? all,
      chips: [.init(index: 0, name: "LIS3MDL"), .init(index: 1, name: "BME280")],
      showsPosition: showsPosition)
    device.hasHumidity = true
    return device
  }

  private static func object(_ message: MQTTMessage?) throws -> [String: Any] {
    let data = Data(try #require(message).payload)
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  private static func message(_ messages: [MQTTMessage], _ end: String) -> MQTTMessage? {
    messages.first { $0.topic.hasSuffix(end) }
  }

  @Test(
    "the discovery message has a device, an origin and entities")
  func discovery() throws {
    let message = Self.device().discovery()
    #expect(message.topic == "homeassistant/device/boat-1/config")
    #expect(message.isRetained && message.quality == 1)
    let json = try Self.object(message)
    let device = try #require(json["dev"] as? [String: Any])
    #expect(device["ids"] as? [String] == ["boat-1"] && device["name"] as? String == "My \"boat\"")
    #expect((json["o"] as? [String: Any])?["name"] as? String == "Lodestone")
    #expect(json["availability_topic"] as? String == "lodestone/boat-1/availability")
    let entities = try #require(json["cmps"] as? [String: [String: Any]])
    #expect(
      Set(entities.keys) == [
        "position", "magnetic_heading", "true_heading", "heading_accuracy", "calibration",
        "pressure", "temperature", "humidity", "altitude", "sea_level_pressure", "chip_0", "chip_1",
      ])
    let names = entities.values.compactMap { $0["unique_id"] as? String }
    #expect(Set(names).count == entities.count && names.allSatisfy { $0.hasPrefix("boat-1_") })
    let platforms = Set(entities.values.compactMap { $0["p"] as? String })
    #expect(platforms == ["sensor", "binary_sensor", "device_tracker"])
  }

  @Test("units belong to their device classes, and what is not repeated expires")
  func entities() throws {
    let json = try Self.object(Self.device().discovery())
    let entities = try #require(json["cmps"] as? [String: [String: Any]])
    for (key, kind, unit) in [
      ("pressure", "atmospheric_pressure", "hPa"), ("temperature", "temperature", "°C"),
      ("sea_level_pressure", "atmospheric_pressure", "hPa"), ("altitude", "distance", "m"),
      ("humidity", "humidity", "%"),
    ] {
      let entity = try #require(entities[key])
      #expect(entity["device_class"] as? String == kind, "\(key)")
      #expect(entity["unit_of_measurement"] as? String == unit, "\(key)")
      #expect(entity["state_class"] as? String == "measurement", "\(key)")
      #expect(entity["expire_after"] as? Int == 30, "\(key)")
    }
    // The mean of a heading would be wrong at north.
    #expect(entities["magnetic_heading"]?["state_class"] == nil)
    #expect(entities["magnetic_heading"]?["expire_after"] as? Int == 10)
    #expect(entities["heading_accuracy"]?["entity_category"] as? String == "diagnostic")
    #expect(entities["chip_0"]?["device_class"] as? String == "problem")
    #expect(entities["chip_0"]?["expire_after"] as? Int == 180)
    let tracker = try #require(entities["position"])
    #expect(tracker["json_attributes_topic"] as? String == "lodestone/boat-1/position")
    #expect(tracker["source_type"] as? String == "gps" && tracker["state_topic"] == nil)
  }

  @Test("the last will is offline, kept by the broker, where the birth is online")
  func availability() {
    let device = Self.device()
    #expect(device.will.payload == Array("offline".utf8))
    #expect(device.birth.payload == Array("online".utf8))
    #expect(device.will.topic == device.birth.topic && device.will.isRetained)
    #expect(device.will.quality == 1 && device.birth.isRetained)
    #expect(device.removal.payload.isEmpty && device.removal.isRetained)
  }

  @Test("an identifier has only what a topic may have")
  func identifiers() {
    #expect(Self.device(id: "a/b+c#d é").id == "a_b_c_d___")
    #expect(Self.device(id: "").id == "lodestone")
    #expect(Self.device(id: String(repeating: "x", count: 500)).id.count == 64)
    let device = HomeAssistantDevice(
      id: "a", name: "", version: "", capabilities: Self.device().capabilities, chips: [],
      showsPosition: false, topicPrefix: "/home/+/#\n/", discoveryPrefix: "#")
    #expect(device.headingTopic == "home/a/heading")
    #expect(device.discoveryTopic == "homeassistant/device/a/config")
  }

  @Test("a board without a chip has no entity for it, and without leave no position")
  func without() throws {
    let none = HardwareCapabilities(heading: false, location: false, relativeAltitude: false)
    let json = try Self.object(Self.device(capabilities: none).discovery())
    #expect(Set((json["cmps"] as? [String: Any])?.keys.map { $0 } ?? []) == ["chip_0", "chip_1"])
    let withheld = try Self.object(Self.device(showsPosition: false).discovery())
    let entities = try #require(withheld["cmps"] as? [String: Any])
    #expect(entities["position"] == nil && entities["true_heading"] == nil)
    let removing = try Self.object(Self.device().discovery(removing: ["chip_7": "binary_sensor"]))
    let removed = (removing["cmps"] as? [String: [String: Any]])?["chip_7"]
    #expect(removed?.count == 1 && removed?["p"] as? String == "binary_sensor")
  }

  @Test("values are numbers in the units of the entities")
  func values() throws {
    var session = HomeAssistantSession(device: Self.device())
    let messages = session.messages(
      TelemetryStates.full, sensors: TelemetryStates.sensors, at: Self.now)
    #expect(messages.prefix(2).map(\.isRetained) == [true, true])
    #expect(messages.dropFirst(2).allSatisfy { !$0.isRetained })
    let heading = try Self.object(Self.message(messages, "/heading"))
    #expect(heading["magnetic"] as? Double == 130.9 && heading["true"] as? Double == 134.4)
    #expect(heading["accuracy"] as? Double == 2.3)
    #expect(heading["calibration"] as? String == "calibrated")
    let position = try Self.object(Self.message(messages, "/position"))
    #expect(position["latitude"] as? Double == 48.1234568)
    #expect(position["gps_accuracy"] as? Double == 1.75 && position["carried"] as? Bool == false)
    var later = HomeAssistantSession(device: Self.device())
    let carried = DeadReckonedPosition(fixTime: TelemetryStates.now, isTurnMeasured: true)
    let dead = TelemetryStates.state(
      .location(
        LocationEstimate(fix: TelemetryStates.fix(), isSimulated: false, carried: carried)))
    let carriedOn = try Self.object(
      Self.message(
        later.messages(dead, sensors: [], at: Self.now.advanced(bySeconds: 0.8)), "/position"))
    // With its speed of 2.5 m/s and one sigma of that, 0.125 m/s.
    #expect(carriedOn["gps_accuracy"] as? Double == 3.85 && carriedOn["carried"] as? Bool == true)
    let air = try Self.object(Self.message(messages, "/air"))
    #expect(air["pressure"] as? Double == 1013.25)
    #expect(air["sea_level_pressure"] as? Double == 1026.5 && air["humidity"] as? Double == 45.5)
    let chip = try Self.object(Self.message(messages, "/chip/0"))
    #expect(chip["problem"] as? String == "OFF")
    let failed = try Self.object(Self.message(messages, "/chip/1"))
    #expect(failed["problem"] as? String == "ON")
    #expect(failed["reason"] as? String == "no \"answer\"\nat all")
  }

  @Test("what is lost is null, never a number")
  func lost() throws {
    var session = HomeAssistantSession(device: Self.device())
    let messages = session.messages(PublishedState(), sensors: [], at: Self.now)
    for (topic, keys) in [
      ("/heading", ["magnetic", "true", "accuracy", "calibration"]),
      ("/position", ["latitude", "longitude"]),
      (
        "/air", ["pressure", "sea_level_pressure", "altitude", "temperature", "humidity"]
      ),
    ] {
      let json = try Self.object(Self.message(messages, topic))
      for key in keys { #expect(json[key] is NSNull, "\(topic) \(key)") }
    }
    // Home Assistant would take a position without an accuracy for an exact one.
    var fix = TelemetryStates.fix()
    fix.horizontalAccuracy = nil
    session.connect()
    let state = TelemetryStates.state(.location(LocationEstimate(fix: fix, isSimulated: false)))
    let vague = session.messages(state, sensors: [], at: Self.now)
    #expect(try Self.object(Self.message(vague, "/position"))["latitude"] is NSNull)
  }

  @Test("a heading that rounds up to a full turn is zero")
  func fullTurn() throws {
    for (heading, shown) in [(359.96, 0.0), (359.94, 359.9), (0.04, 0)] {
      var session = HomeAssistantSession(device: Self.device())
      let state = TelemetryStates.state(.heading(TelemetryStates.heading(heading)))
      let messages = session.messages(state, sensors: [], at: Self.now)
      let json = try Self.object(Self.message(messages, "/heading"))
      #expect(json["magnetic"] as? Double == shown, "\(heading)")
    }
  }

  @Test("an uncalibrated compass says so, and has no heading")
  func uncalibrated() throws {
    var session = HomeAssistantSession(device: Self.device())
    let state = TelemetryStates.state(
      .heading(TelemetryStates.heading(accuracy: nil, reason: .uncalibrated)))
    let json = try Self.object(
      Self.message(session.messages(state, sensors: [], at: Self.now), "/heading"))
    #expect(json["calibration"] as? String == "uncalibrated" && json["magnetic"] is NSNull)
    #expect(json["reason"] as? String == NoData.uncalibrated.description)
  }

  @Test(
    "values come at their intervals, a loss at once, and all after a restart"
  )
  func schedule() {
    var session = HomeAssistantSession(device: Self.device())
    func topics(_ state: PublishedState, _ seconds: Double) -> [String] {
      session.messages(
        state, sensors: TelemetryStates.sensors, at: Self.now.advanced(bySeconds: seconds)
      )
      .map { $0.topic.split(separator: "/").last.map(String.init) ?? "" }
    }
    let full = TelemetryStates.full
    #expect(
      topics(full, 0)
        == ["config", "availability", "heading", "position", "air", "0", "1"])
    #expect(session.deadline == Self.now.advanced(bySeconds: 1))
    #expect(topics(full, 0.5) == [])
    #expect(topics(full, 1) == ["heading"])
    let lost = TelemetryStates.state(
      .headingUnavailable(.notYet, at: Self.now), .locationUnavailable(.noFix, at: Self.now))
    #expect(topics(lost, 1.1) == ["heading", "position"])
    // That there is still no position is not repeated every few seconds.
    #expect(topics(lost, 2.2) == ["heading"])
    // An entity that Home Assistant has just made has missed the first message of its chip.
    #expect(topics(lost, 5.1) == ["heading", "0", "1"])
    #expect(topics(lost, 20) == ["heading", "air"])
    #expect(!topics(lost, 299).contains("position") && topics(lost, 302).contains("position"))
    session.take(topic: "other/status", payload: Array("online".utf8))
    session.take(topic: session.subscription, payload: Array("offline".utf8))
    #expect(!topics(lost, 302.1).contains("config"))
    session.take(topic: session.subscription, payload: Array("online".utf8))
    #expect(topics(lost, 302.2).contains("config"))
  }

  @Test("an interval that is none is the shortest one, and no value lives longer than three days")
  func intervals() {
    let intervals = [Double.nan, -1, 0, .infinity, 1e300, 7]
    #expect(intervals.map(HomeAssistantDevice.bounded) == [0.05, 0.05, 0.05, 86_400, 86_400, 7])
    #expect(
      intervals.map(HomeAssistantDevice.expiry) == [10, 10, 10, 259_200, 259_200, 21])
  }

  @Test("without leave no message tells where the board is")
  func withheld() throws {
    var session = HomeAssistantSession(device: Self.device(showsPosition: false))
    let messages = session.messages(TelemetryStates.full, sensors: [], at: Self.now)
    #expect(Self.message(messages, "/position") == nil)
    #expect(try Self.object(Self.message(messages, "/heading"))["true"] == nil)
    #expect(try Self.object(Self.message(messages, "/air"))["altitude"] is NSNull)
    // Home Assistant forgets where the board was, and is then told of the entities that there are.
    func entity(_ messages: [MQTTMessage]) throws -> [String: Any]? {
      let entities = try Self.object(Self.message(messages, "/config"))["cmps"] as? [String: Any]
      return entities?["position"] as? [String: Any]
    }
    #expect(try entity(messages)?.keys.sorted() == ["p"])
    let later = session.messages(
      TelemetryStates.full, sensors: [], at: Self.now.advanced(bySeconds: 5))
    #expect(try Self.message(later, "/config") != nil && entity(later) == nil)
    let last = session.messages(
      TelemetryStates.full, sensors: [], at: Self.now.advanced(bySeconds: 10))
    #expect(Self.message(last, "/config") == nil)
  }
}
