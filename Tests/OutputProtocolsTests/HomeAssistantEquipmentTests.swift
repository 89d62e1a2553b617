// What a board is seen to have.

import SensorTypes
import Testing

@testable import OutputProtocols

struct HomeAssistantEquipmentTests {
  private static let now = TelemetryStates.now

  @Test("a board has what its observations show, and what is lost stays")
  func grows() {
    var equipment = HomeAssistantEquipment()
    func shows(_ observation: Observation) -> Bool { equipment.take(observation) }
    let none = HardwareCapabilities(heading: false, location: false, relativeAltitude: false)
    for observation: Observation in [
      .headingUnavailable(.notYet, at: Self.now),
      .headingUnavailable(.notEquipped("no magnetometer"), at: Self.now),
      .locationUnavailable(.notAuthorized("the owner"), at: Self.now),
      .altitudeUnavailable(.notYet, at: Self.now), .diagnostic("x", at: Self.now),
    ] { #expect(!shows(observation)) }
    #expect(equipment.capabilities == none && equipment.chips.isEmpty)

    #expect(shows(.headingUnavailable(.uncalibrated, at: Self.now)))
    #expect(equipment.capabilities.heading && equipment.capabilities.motion.magnetometer)
    #expect(shows(.locationUnavailable(.noFix, at: Self.now)))
    #expect(!shows(.locationUnavailable(.noFix, at: Self.now)))
    var altitude = AltitudeEstimate(
      time: Self.now, relativeAltitude: 0, relativeAccuracy: 1, pressure: 101_325)
    #expect(shows(.altitude(altitude)) && !equipment.hasHumidity)
    altitude.humidity = 50
    #expect(shows(.altitude(altitude)) && equipment.hasHumidity)
    let lost = NoData.sensorLost("gone")
    #expect(!shows(.altitudeUnavailable(lost, at: Self.now)))
    #expect(equipment.capabilities.relativeAltitude && !equipment.capabilities.absoluteAltitude)
  }

  @Test("chips are listed in the order of the board file, 64 of them")
  func chips() {
    var equipment = HomeAssistantEquipment()
    func shows(_ observation: Observation) -> Bool { equipment.take(observation) }
    for index in (0..<100).reversed() {
      let status = SensorStatus(
        index: index, chip: "C\(index)", position: "/dev/i2c-1:0x1e", state: .running,
        since: Self.now)
      #expect(shows(.sensor(status)) == (index >= 36))
      #expect(!shows(.sensor(status)))
    }
    #expect(equipment.chips.map(\.index) == Array(36..<100))
  }

  @Test("a chip that changes is an event, while a broker is there and while it is not")
  func events() {
    var equipment = HomeAssistantEquipment()
    var status = SensorStatus(
      index: 0, chip: "LIS3MDL", position: "/dev/i2c-1:0x1e", state: .running, since: Self.now)
    _ = equipment.take(.sensor(status))
    let device = HomeAssistantDevice(
      id: "boat", name: "boat", version: "1", capabilities: equipment.capabilities,
      chips: equipment.chips, showsPosition: false)
    var session = HomeAssistantSession(device: device)
    func qualities(_ seconds: Double) -> [UInt8] {
      session.messages(
        PublishedState(), sensors: [status], at: Self.now.advanced(bySeconds: seconds)
      ).filter { $0.topic.contains("/chip/") }.map(\.quality)
    }
    #expect(qualities(0) == [1] && qualities(1) == [] && qualities(5.1) == [0])
    status.state = .failed("gone")
    #expect(session.events([status]).map(\.quality) == [1] && session.events([status]).isEmpty)
    status.state = .running
    #expect(qualities(6) == [1] && qualities(7) == [])
    // The board has more now: the discovery message comes again, the birth does not.
    session.describe(device)
    let again = session.messages(
      PublishedState(), sensors: [status], at: Self.now.advanced(bySeconds: 8))
    #expect(again.filter(\.isRetained).map(\.topic) == [device.discoveryTopic])
  }
}
