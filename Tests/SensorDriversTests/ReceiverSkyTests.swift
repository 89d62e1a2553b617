// The satellites from a receiver's twin through its driver, and how the driver says that it is set.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct ReceiverSkyTests {
  // Not in the attribute: Swift 6.0.3 dies of closures there.
  private static let withSatellites = ReceiverContract.all
    .filter { $0.model == .ubloxM9 || $0.model == .ubloxM10 }

  @Test(
    "a u-blox receiver's satellites come as its twin has them, once each round",
    arguments: withSatellites)
  func satellites(_ contract: ReceiverContract) throws {
    let bench = ReceiverBench(contract)
    let receiver = try bench.open()
    #expect(bench.run(receiver, seconds: 20) == [])
    let sky = try #require(receiver.takeSky())
    #expect(receiver.takeSky() == nil)
    #expect(bench.clock.now().seconds(since: sky.received) < 6)
    let truth = SimulatedSatellite.all
    try #require(sky.satellites.count == truth.count)
    for (said, twin) in zip(sky.satellites, truth) {
      #expect(said.system.rawValue == twin.system && said.number == Int(twin.number))
      #expect(said.elevation == (twin.elevation < -90 ? nil : Double(twin.elevation)))
      #expect(said.azimuth == (twin.elevation < -90 ? nil : Double(twin.azimuth)))
      #expect(said.carrierToNoise == (twin.strength == 0 ? nil : Double(twin.strength)))
    }
    #expect(sky.satellites.filter { $0.isUsed == true }.count == 12)
    #expect(receiver.takeSky() == nil)
    // Five seconds lie between two.
    #expect(bench.run(receiver, seconds: 5.5) == [])
    #expect(receiver.takeSky() != nil)
    var link = ReceiverLink(
      baudRate: contract.wire == .ddc ? nil : 38_400, language: .ubxKeys)
    link.interval = 0.2
    var condition = ReceiverCondition()
    (condition.antenna, condition.interference, condition.spoofing) = (
      .connected, .insignificant, .notDetected
    )
    link.condition = condition
    #expect(receiver.link == link)
  }

  @Test(
    "a u-blox receiver without NAV-SAT tells those that it hears by NAV-SVINFO",
    arguments: [ReceiverTwinModel.ublox6, .ublox7])
  func channels(model: ReceiverTwinModel) throws {
    // The rate makes the line faster, so that there is room.
    let bench = ReceiverBench(
      ReceiverContract(chip: "u-blox", model: model, wire: .serial), rate: 10)
    let receiver = try bench.open()
    #expect(bench.run(receiver, seconds: 25) == [])
    let sky = try #require(receiver.takeSky())
    let truth = SimulatedSatellite.all.filter { $0.system <= 1 }
    #expect(sky.satellites.map(\.number) == truth.map { Int($0.number) })
    #expect(sky.satellites.map(\.system) == truth.map { $0.system == 0 ? .gps : .sbas })
    #expect(receiver.link?.notTaken == (model == .ublox7 ? ["the next leap second"] : []))
  }

  @Test("where the line is too slow for the satellites, that is said")
  func slowLine() throws {
    let contract = ReceiverContract(chip: "u-blox", model: .ubloxM8, wire: .serial)
    let bench = ReceiverBench(contract)
    let receiver = try bench.open()
    #expect(receiver.link == ReceiverLink(baudRate: 38_400))
    #expect(bench.run(receiver, seconds: 25) == [])
    #expect(receiver.takeSky() == nil)
    var link = ReceiverLink(baudRate: 9_600, language: .ubxMessages)
    link.interval = 0.2
    link.notTaken = ["the satellites (the line is too slow)"]
    #expect(receiver.link == link)
    // It is no wish of a person's that was not met.
    #expect(receiver.note == nil)
  }

  @Test("one that is only read is not said to be set")
  func readOnly() throws {
    let bench = ReceiverBench(ReceiverContract(chip: "NMEA", model: .nmea, wire: .serial))
    let receiver = try bench.open()
    #expect(bench.run(receiver, seconds: 10) == [])
    #expect(receiver.takeSky() == nil)
    #expect(receiver.link == ReceiverLink(baudRate: 9_600))
  }

  @Test("gpsd's satellites are told, and not again when its receiver has stopped")
  func gpsd() throws {
    let bench = GPSDBench()
    #expect(bench.receiver.link == nil)
    #expect(bench.run(4) == [])
    let sky = try #require(bench.receiver.takeSky())
    // What its twin says in every SKY.
    var satellite = GNSSSatellite(.gps, 5)
    (satellite.elevation, satellite.azimuth) = (35, 120)
    (satellite.carrierToNoise, satellite.isUsed) = (41, true)
    #expect(sky.satellites == [satellite])
    #expect(bench.clock.now().seconds(since: sky.received) <= 1.1)
    #expect(bench.receiver.link == ReceiverLink(language: .gpsd))
    bench.begin(.stuckData)
    #expect(bench.run(5) == [])
    _ = bench.receiver.takeSky()
    #expect(bench.run(5) == [])
    #expect(bench.receiver.takeSky() == nil)
  }
}
