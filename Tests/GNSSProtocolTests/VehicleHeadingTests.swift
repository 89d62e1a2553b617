import Foundation
import GNSSProtocol
import SensorTypes
import SharedData
import Testing

/// Headings of u-blox receivers with two antennas or with inertial sensors, and of gpsd's ATT.
struct VehicleHeadingTests {
  /// Payloads by the u-blox M8 protocol description, sections 32.13.1 and 32.18.2: roll 1.5, pitch -2.25, heading 251 degrees.
  private func attitude(
    _ messageClass: UInt8 = 1, _ id: UInt8 = 5, version: Int = 0, heading: Int = 25_100_000,
    accuracies: (Int, Int, Int) = (30_000, 40_000, 85_000), length: Int = 32
  ) -> [UInt8] {
    Stream.message(
      messageClass, id, length: length,
      [
        (0, 4, 7_000), (4, 1, version), (8, 4, 150_000), (12, 4, -225_000), (16, 4, heading),
        (20, 4, accuracies.0), (24, 4, accuracies.1), (28, 4, accuracies.2),
      ].filter { $0.0 + $0.1 <= length })
  }

  @Test("NAV-ATT and HNR-ATT are the vehicle's heading, roll and pitch, each with its accuracy")
  func attitude() throws {
    for bytes in [attitude(), attitude(0x28, 1, version: 1)] {
      let said = try #require(Stream.headings(bytes).first)
      #expect(said.source == .vehicle && said.received == Timestamp(nanoseconds: 7))
      #expect(abs(try #require(said.trueHeading) - 251) < 1e-9 && said.magneticHeading == nil)
      #expect(abs(try #require(said.accuracy) - 0.85) < 1e-9)
      #expect(abs(try #require(said.roll) - 1.5) < 1e-9)
      #expect(abs(try #require(said.pitch) + 2.25) < 1e-9)
      #expect(abs(try #require(said.rollAccuracy) - 0.3) < 1e-9)
      #expect(abs(try #require(said.pitchAccuracy) - 0.4) < 1e-9)
    }
    #expect(Stream.headings(attitude(heading: -9_000_000)).first?.trueHeading == 270)
    #expect(Stream.headings(attitude(heading: 36_000_000)).first?.trueHeading == 0)
    // An accuracy of zero marks an angle that is not known.
    let level = try #require(Stream.headings(attitude(accuracies: (0, 0, 85_000))).first)
    #expect(level.roll == nil && level.pitch == nil && level.rollAccuracy == nil)
    for bytes in [
      attitude(accuracies: (30_000, 40_000, 0)), attitude(accuracies: (30_000, 40_000, 18_000_000)),
      attitude(version: 1), attitude(0x28, 1), attitude(heading: 36_000_001), attitude(length: 28),
      attitude(heading: -18_000_001),
    ] {
      #expect(Stream.headings(bytes).isEmpty)
    }
  }

  @Test("NAV-PVT has the vehicle's heading where its flag says so, else the course")
  func navPVT() throws {
    func pvt(flags: Int, length: Int = 92, accuracy: Int = 120_000) -> [UInt8] {
      Stream.message(
        1, 7, length: length,
        [
          (20, 1, 4), (21, 1, flags), (24, 4, 130_000_000), (28, 4, 520_000_000),
          (64, 4, 9_000_000), (72, 4, accuracy), (84, 4, 9_300_000),
        ].filter { $0.0 + $0.1 <= length })
    }
    let events = Stream.events(pvt(flags: 0x21))
    let said = try #require(Stream.headings(pvt(flags: 0x21)).first)
    #expect(events.count == 2 && said.source == .vehicle)
    #expect(abs(try #require(said.trueHeading) - 93) < 1e-9)
    #expect(abs(try #require(said.accuracy) - 1.2) < 1e-9)
    #expect(abs(try #require(Stream.fixes(pvt(flags: 0x21)).first?.course) - 90) < 1e-9)
    for bytes in [
      pvt(flags: 0x01), pvt(flags: 0x20), pvt(flags: 0x21, length: 84),
      pvt(flags: 0x21, accuracy: 0), pvt(flags: 0x21, accuracy: 18_000_000),
    ] {
      #expect(Stream.headings(bytes).isEmpty)
    }
  }

  @Test(
    "NAV-DAHEADING is the direction of a receiver's two antennas, where their carrier phases are fixed"
  )
  func twoAntennas() throws {
    // UBXDOC-304424225-21470: millimeters from offset 8, accuracies from 32, flags at 56.
    func relative(_ flags: Int, version: Int = 2, length: Int = 1_000, accuracy: Int = 21_000)
      -> [UInt8]
    {
      Stream.message(
        1, 0x45, length: 60,
        [
          (0, 1, version), (8, 4, 600), (12, 4, -800), (20, 4, length), (24, 4, 30_687_000),
          (48, 4, accuracy), (56, 4, flags),
        ])
    }
    let said = try #require(Stream.headings(relative(0x57)).first)
    #expect(said.source == .antennas && said.roll == nil && said.pitch == nil)
    #expect(abs(try #require(said.trueHeading) - 306.87) < 1e-9)
    #expect(abs(try #require(said.accuracy) - 0.21) < 1e-9)
    // No fix, no position, float, no carrier phases, no heading.
    for flags in [0x56, 0x53, 0x4F, 0x47, 0x17] {
      #expect(Stream.headings(relative(flags)).isEmpty, "\(flags)")
    }
    for bytes in [
      relative(0x57, version: 1), relative(0x57, length: 0), relative(0x57, length: 500_001),
      relative(0x57, accuracy: 0), Stream.message(1, 0x45, length: 56, [(0, 1, 2)]),
    ] {
      #expect(Stream.headings(bytes).isEmpty)
    }
  }

  @Test("messages of two antennas are told from those of an instrument")
  func sources() throws {
    func source(_ content: String) -> HeadingSource? {
      Stream.headings(Stream.sentence(content)).first?.source
    }
    #expect(source("GPHDT,123.456,T") == .instrument)
    #expect(source("HCHDM,93.8,M") == .instrument)
    #expect(source("PTNL,AVR,212405.20,+52.1531,Yaw,-0.0806,Tilt,,,12.575,3,1.4,16") == .antennas)
  }

  @Test("gpsd's ATT: true and magnetic heading, roll and pitch, and no accuracy, for it has none")
  func gpsd() throws {
    func heard(_ content: String, device: String = "") -> [ReceiverHeading] {
      var listener = GPSDListener()
      listener.hear("{\"class\":\"ATT\"\(device),\(content)}", at: 3)
      return listener.events.compactMap {
        if case .heading(let heading) = $0 { heading } else { nil }
      }
    }
    let antennas = try #require(heard(#""heading":274.07,"pitch":8.748,"roll":-0.591"#).first)
    #expect(antennas.trueHeading == 274.07 && antennas.magneticHeading == nil)
    #expect(antennas.pitch == 8.748 && antennas.roll == -0.591 && antennas.accuracy == nil)
    #expect(antennas.source == .instrument && antennas.received == Timestamp(seconds: 3))
    let compass = try #require(heard(#""mheading":360.0,"mag_st":"N","pitch":91"#).first)
    #expect(compass.magneticHeading == 0 && compass.trueHeading == nil && compass.pitch == nil)
    #expect(heard(#""heading":1,"acc_x":1.62,"gyro_z":0.9"#).first?.source == .vehicle)
    #expect(heard(#""heading":1,"acc_x":1.62,"mag_x":22"#).first?.source == .instrument)
    for content in [
      #""heading":361"#, #""heading":-1"#, #""heading":"1""#, #""roll":1"#,
      #""heading":12,"mag_st":"C""#, #""heading":12,"mag_st":"V""#,
    ] {
      #expect(heard(content).isEmpty, "\(content)")
    }
    // Of a receiver that is not followed it says nothing.
    var listener = GPSDListener()
    listener.hear(tpv: "42.000", device: "/dev/a", at: 0)
    listener.hear(#"{"class":"ATT","device":"/dev/b","heading":12}"#, at: 0)
    #expect(listener.events.allSatisfy { $0 == .message })
    #expect(listener.decoder.counters.foreign == 1)
  }

  @Test("a NEO-M8L's log has the headings that gpsd prints beside it")
  func recorded() throws {
    guard let log = Stream.logs.first(where: { $0.lastPathComponent == "ublox-neo-m8l.log" }) else {
      return
    }
    let said = Stream.headings([UInt8](try Data(contentsOf: log)))
    let first = try #require(said.first { $0.roll != nil })
    #expect(abs(try #require(first.trueHeading) - 250.909) < 6e-4)
    #expect(abs(try #require(first.pitch) - 8.748) < 6e-4)
    #expect(abs(try #require(first.roll) + 0.591) < 6e-4)
    #expect(said.allSatisfy { $0.source == .vehicle })
    // One of each HNR-ATT, and of each NAV-PVT whose flag is set.
    #expect(said.count { $0.roll != nil } == 189 && said.count { $0.roll == nil } == 19)
  }
}
