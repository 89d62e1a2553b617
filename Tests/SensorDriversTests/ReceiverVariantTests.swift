// What is asked of receivers that differ within a family, and of those whose commands have names.

import GNSSProtocol
import SensorTypes
import Testing

@testable import SensorDrivers
@testable import SimulatedDevices

@Suite struct ReceiverVariantTests {
  /// A codec that has heard lines.
  private func codec(_ lines: [String]) -> StandardCodec {
    var codec = StandardCodec()
    let bytes = lines.flatMap { ReceiverSentences.frame($0) }
    bytes.withUnsafeBytes { codec.append($0, at: .at(0)) }
    while codec.next(at: .at(0)) != nil {}
    return codec
  }

  private func asked(
    _ codec: StandardCodec, _ item: ReceiverSetting, _ dialect: ReceiverSetup.Dialect,
    interval: Double = 0.2, model: DynamicModel? = nil, hasRoom: Bool = true
  ) -> [String] {
    codec.requests(
      setting: item, in: dialect, port: .uart,
      settings: ReceiverSettings(interval: interval, model: model, hasRoom: hasRoom)
    ).map { String(decoding: $0.bytes.dropLast(2), as: UTF8.self) }
  }

  // DR & RTK application note of LC29H: (DA) 1 Hz at most, (EA) 10 Hz. Protocol specification V1.4: (EA) has messages with every
  // epoch or not at all.
  @Test("an LC29H (DA) is not asked for more than an epoch a second, an (EA) for no fifth GSV")
  func airoha() {
    let (aa, da, ea, lc76g) = (
      codec(["PQTMVERNO,LC29HAANR11A03S,2022/08/31,14:22:50"]),
      codec(["PQTMVERNO,LC29HDANR11A03S_RSA"]), codec(["PQTMVERNO,LC29HEANR11A03S_RSA"]),
      codec(["PQTMVERNO,LC76GPBNR12A01S,2023/05/17,16:11:27"])
    )
    for fast in [aa, ea, lc76g] { #expect(asked(fast, .rate, .pair) == ["$PAIR050,200*21"]) }
    #expect(asked(da, .rate, .pair).isEmpty)
    #expect(asked(da, .rate, .pair, interval: 1) == ["$PAIR050,1000*12"])
    for other in [aa, da, lc76g] {
      #expect(asked(other, .sentences, .pair).contains { $0.hasPrefix("$PAIR062,3,5*") })
    }
    #expect(asked(ea, .sentences, .pair).contains { $0.hasPrefix("$PAIR062,3,1*") })
  }

  @Test("Unicore: what is sent, and the first word that the answer carries")
  func unicore() {
    let codec = codec([])
    #expect(
      asked(codec, .sentences, .unicore)
        == ["UNLOG", "GPRMC 1", "GPGGA 1", "GPGSA 1", "GPGST 1", "GPGSV 5"])
    #expect(asked(codec, .sentences, .unicore, hasRoom: false).last == "GPGST 1")
    #expect(
      asked(codec, .rate, .unicore) == ["GPRMC 0.2", "GPGGA 0.2", "GPGSA 0.2", "GPGST 0.2"])
    #expect(asked(codec, .heading, .unicore) == ["UNIHEADINGA 0.2"])
    #expect(asked(codec, .model, .unicore, model: .automotive) == ["MODE ROVER AUTOMOTIVE"])
    #expect(asked(codec, .model, .unicore, model: .sea).isEmpty)
    for item in [ReceiverSetting.speed(460_800), .sleep, .enablePVT, .disableNMEA, .satellites] {
      #expect(asked(codec, item, .unicore).isEmpty && asked(codec, item, .pqtm).isEmpty)
    }
    #expect(
      codec.questions(ofAll: true).last == Array("VERSIONA\r\n".utf8)
        && codec.questions(ofAll: false).count == 1)
    let request = codec.requests(
      setting: .heading, in: .unicore, port: .uart,
      settings: ReceiverSettings(interval: 1, model: nil, hasRoom: true))
    let number = ReceiverAnswer.number(of: "UNIHEADINGA".utf8)
    #expect(request.first?.answer == number.map { StandardCodec.number(.unicore, $0) })
  }

  @Test(
    "Quectel: messages by the fixes that it says it has, where the interval is a number of them")
  func quectel() {
    let unknown = codec([])
    #expect(asked(unknown, .rate, .pqtm).isEmpty)
    #expect(asked(unknown, .sentences, .pqtm).first == "$PQTMCFGFIXRATE,R*71")
    for (said, interval, fixes) in [
      ("OK,100", 0.2, 2), ("OK,100", 2, 20), ("OK,200", 0.2, 1), ("OK,1000", 1, 1),
      ("OK,50", 0.2, 4),
    ] {
      let codec = codec(["PQTMCFGFIXRATE,\(said)"])
      #expect(
        asked(codec, .rate, .pqtm, interval: interval).first?.hasPrefix(
          "$PQTMCFGMSGRATE,W,RMC,\(fixes)*") ?? false, "\(said) \(interval)")
    }
    for (said, interval) in [
      ("OK,1000", 0.2), ("OK,150", 0.2), ("OK,50", 2.0), ("OK,0", 1), ("OK,-100", 1), ("OK", 1),
      ("ERROR,3", 1), ("OK,x", 1),
    ] {
      let codec = codec(["PQTMCFGFIXRATE,\(said)"])
      #expect(asked(codec, .rate, .pqtm, interval: interval).isEmpty, "\(said) \(interval)")
      // As many as before the answer, so that each has its turn.
      #expect(asked(codec, .sentences, .pqtm).count == asked(unknown, .sentences, .pqtm).count)
    }
    // A navigation mode counts after a restart only.
    #expect(asked(codec(["PQTMCFGFIXRATE,OK,100"]), .model, .pqtm, model: .airborne).isEmpty)
  }

  @Test("one of Unicore's that has fallen silent is asked at once; of others is only listened")
  func silent() {
    for (dialect, isAsked) in [
      (ReceiverSetup.Dialect.unicore, true), (.pmtk, false), (.pqtm, false),
    ] {
      var setup = ReceiverSetup.identifying(.configures)
      setup.identified(dialect)
      _ = setup.step(now: .at(0.1))
      _ = setup.accept(at: 0.2)
      _ = setup.accept(at: 0.3)
      #expect(setup.phase == .running)
      #expect(setup.step(now: .at(3.4)) == nil)
      #expect(setup.phase == .listening)
      #expect(setup.step(now: .at(3.5)) == (isAsked ? .identify(all: true) : nil))
    }
  }

  @Test("a heading by antennas is asked for where a command gives it")
  func plan() {
    for (dialect, isAsked) in [
      (ReceiverSetup.Dialect.unicore, true), (.pqtm, true), (.pmtk, false), (.pair, false),
      (.casic, false), (.skyTraq, true),
    ] {
      var setup = ReceiverSetup.identifying(.configures)
      setup.setsHeading = true
      #expect(setup.next(after: .sentences, dialect) == (isAsked ? .heading : .rate))
      #expect(setup.next(after: .heading, dialect) == (isAsked ? .rate : nil))
    }
  }

  @Test(
    "intervals that receiver and line can do",
    arguments: [
      (0.04, 115_200, 0.1, 0.1), (0.15, 115_200, 0.2, 0.2), (0.3, 115_200, 0.5, 0.3),
      (0.7, 115_200, 1, 0.7), (1.2, 115_200, 2, 1.2), (100, 115_200, 60, 2), (0.1, 9_600, 1, 0.7),
    ] as [(Double, Int, Double, Double)])
  func intervals(wanted: Double, baudRate: Int, unicore: Double, quectel: Double) {
    func possible(_ dialect: ReceiverSetup.Dialect?) -> Double {
      dialect.possible(wanted, baudRate: baudRate)
    }
    #expect(abs(possible(.unicore) - unicore) < 1e-9)
    #expect(abs(possible(.pqtm) - quectel) < 1e-9)
    #expect(ReceiverSetup.Dialect?.some(.unicore).neededSpeed(interval: wanted) == nil)
    #expect(ReceiverSetup.Dialect?.some(.pqtm).neededSpeed(interval: wanted) == nil)
  }

  /// A receiver with two antennas, read for so many seconds: the headings, and what it says of itself.
  private func headings(
    _ model: ReceiverTwinModel, antennas: Double?
  ) throws -> (values: [Double], receiver: GNSSReceiver) {
    let contract = ReceiverContract(chip: "GNSS", model: model, wire: .serial)
    let bench = ReceiverBench(contract, antennas: antennas, readsHeading: true)
    let receiver = try bench.open()
    _ = bench.run(receiver, seconds: contract.findingTime)
    var values: [Double] = []
    for _ in 0..<40 {
      #expect(bench.run(receiver, seconds: 0.1) == [])
      if let heading = receiver.takeHeading(), let north = heading.trueHeading {
        values.append(north)
        #expect(abs((heading.accuracy ?? 9) - 0.3) < 1e-9)
      }
    }
    return (values, receiver)
  }

  @Test(
    "two antennas: their heading comes at the rate of the epochs",
    arguments: [ReceiverTwinModel.unicore, .quectel, .ubloxX20D])
  func antennas(model: ReceiverTwinModel) throws {
    let (values, receiver) = try headings(model, antennas: 0.5)
    #expect((19...21).contains(values.count), "\(values.count)")
    // The truth's heading is its course, 77 degrees.
    let line = 77 + 0.5 * 180 / Double.pi
    #expect(values.allSatisfy { abs($0 - line) < 0.001 })
    #expect(receiver.isConfigured && receiver.note == nil)
    #expect(receiver.link?.notTaken == [])
    #expect(receiver.link?.interval == 0.2)
    let names: [ReceiverTwinModel: String] = [
      .unicore: "Unicore UM982", .quectel: "Quectel LG580P", .ubloxX20D: "u-blox ZED-X20D",
    ]
    #expect(receiver.identity?.name == names[model])
  }

  @Test(
    "u-blox: a ZED-X20D is asked for NAV-DAHEADING, by its name or its firmware's, others for NAV-RELPOSNED",
    arguments: [
      (["FWVER=HDG 2.00", "PROTVER=57.02", "MOD=ZED-X20D"], true), (["FWVER=HDG 2.00"], true),
      (["MOD=ZED-X20D"], true), (["FWVER=HPG 2.10", "MOD=ZED-X20P"], false),
      (["FWVER=HPG 1.32", "MOD=ZED-F9P"], false), ([], false),
    ])
  func twoAntennas(extensions: [String], hasTwo: Bool) {
    func field(_ text: String, _ width: Int) -> [UInt8] {
      Array(text.utf8) + [UInt8](repeating: 0, count: width - text.utf8.count)
    }
    let version =
      field("EXT CORE 2.00 (4be2e1)", 30) + field("000C0000", 10)
      + extensions.flatMap { field($0, 30) }
    var codec = StandardCodec()
    UBXMessages.frame(messageClass: 0x0A, id: 0x04, payload: version).withUnsafeBytes {
      codec.append($0, at: .at(0))
    }
    while codec.next(at: .at(0)) != nil {}
    let keys: [(ReceiverPort, UInt32)] =
      hasTwo
      ? [(.ddc, 0x2091_03DF), (.uart, 0x2091_03E0)]
      : [(.ddc, 0x2091_008D), (.uart, 0x2091_008E)]
    for (port, key) in keys {
      let requests = codec.requests(
        setting: .heading, in: .keys, port: port,
        settings: ReceiverSettings(interval: 1, model: nil, hasRoom: true))
      #expect(requests.map(\.bytes) == [UBXMessages.valset([(key, 1)])])
      #expect(requests.first?.answer == StandardCodec.number(.ubx, 0x068A))
    }
  }

  @Test("an LG290P has one antenna, and says so")
  func oneAntenna() throws {
    let (values, receiver) = try headings(.quectel, antennas: nil)
    #expect(values.isEmpty && receiver.isConfigured)
    #expect(receiver.note == "does not take 'antennas' (a heading by two antennas)")
    #expect(receiver.link?.language == .quectel && receiver.link?.interval == 0.2)
  }

  @Test("accuracies are the receiver's own", arguments: [ReceiverTwinModel.unicore, .quectel])
  func accuracies(model: ReceiverTwinModel) throws {
    let contract = ReceiverContract(chip: "GNSS", model: model, wire: .serial)
    let bench = ReceiverBench(contract)
    let receiver = try bench.open()
    _ = bench.run(receiver, seconds: contract.findingTime)
    var fixes: [GNSSFix] = []
    #expect(bench.run(receiver, seconds: 2) { fixes.append($0) } == [])
    #expect(fixes.count >= 9)
    for fix in fixes {
      #expect(abs(try #require(fix.verticalAccuracy) - 2.4) < 0.01)
      #expect(abs(try #require(fix.horizontalAccuracy) - 1.6) < 0.05, "\(fix)")
    }
  }
}
