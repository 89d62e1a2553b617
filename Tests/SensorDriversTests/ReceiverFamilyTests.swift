// Receivers of each family from the first byte to sleep, against their twins.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct ReceiverFamilyTests {
  /// A family, what it says of itself, and what it is set to.
  struct Family: Sendable, CustomTestStringConvertible {
    let contract: ReceiverContract
    let name: String
    let firmware: String
    /// The number of "pedestrian", by the maker's manual; 0 where there is none to be set.
    let pedestrian: Int
    /// The shortest and the longest time between epochs, milliseconds.
    let shortest: Int
    let longest: Int
    /// The one that is set where 500 are wanted.
    let half: Int
    /// Commands that it refuses while it is set up.
    let refusals: UInt64

    var testDescription: String { contract.testDescription }

    init(
      _ model: ReceiverTwinModel, _ name: String, _ firmware: String, chip: String = "GNSS",
      pedestrian: Int, shortest: Int, longest: Int, half: Int = 500, refusals: UInt64 = 0
    ) {
      contract = ReceiverContract(chip: chip, model: model, wire: .serial)
      (self.name, self.firmware, self.pedestrian) = (name, firmware, pedestrian)
      (self.shortest, self.longest, self.half) = (shortest, longest, half)
      self.refusals = refusals
    }

    /// Epochs in ten seconds at a wanted rate.
    func epochs(at rate: Double) -> ClosedRange<Int> {
      let count = Int(10 * min(rate, contract.fastestRate))
      return (count - 1)...(count + 1)
    }

    static let all = [
      // GPS.G6-SW-10018 (u-blox 6), CFG-NAV5: 3.
      Family(
        .ublox5, "u-blox 5", "5.00", chip: "u-blox", pedestrian: 3, shortest: 250, longest: 60_000),
      Family(
        .ublox6, "u-blox 6", "7.03 (45969)", pedestrian: 3, shortest: 200, longest: 60_000),
      Family(
        .ublox7, "u-blox 7", "1.00 (59842)", chip: "u-blox", pedestrian: 3, shortest: 100,
        // NAV-TIMELS: whether it has that, a u-blox 7 does not tell by its name.
        longest: 60_000, refusals: 1),
      // UBX-13003221 (M8) and UBX-19035940 (M9), CFG-NAV5: 3.
      Family(
        .ubloxM8, "u-blox M8", "SPG 3.01", chip: "u-blox", pedestrian: 3, shortest: 40,
        longest: 60_000),
      Family(.ubloxM9, "u-blox M9 or F9", "SPG 4.04", pedestrian: 3, shortest: 40, longest: 60_000),
      Family(.ubloxM10, "u-blox M10", "SPG 5.10", pedestrian: 3, shortest: 40, longest: 60_000),
      // PMTK886, PAIR080: 1 is fitness.
      Family(
        .mediaTek, "PA6H", "AXN_2.31_3339_13101700", pedestrian: 1, shortest: 100, longest: 10_000),
      Family(
        .airoha, "Quectel LC29HAA", "LC29HAANR11A03S", pedestrian: 1, shortest: 100,
        longest: 1_000),
      // PCAS11: 2.
      Family(
        .casic, "ATGM336H", "URANUS5 V5.3.0.0", pedestrian: 2, shortest: 100, longest: 1_000),
      // MODE ROVER SURVEY is the twin's 1.
      Family(
        .unicore, "Unicore UM982", "R4.10Build15434", pedestrian: 1, shortest: 100, longest: 60_000),
      // Every 20th of ten fixes a second.
      Family(
        .quectel, "Quectel LG290P", "LG290P03AANR01A03S", pedestrian: 0, shortest: 100,
        longest: 2_000),
      // 0x64/0x17: 1.
      Family(
        .skyTraq, "SkyTraq receiver", "2.0.74-1.7.27, revision 14.7.21", pedestrian: 1,
        shortest: 100, longest: 1_000),
      // The type of messages with attributes, and 0x64/0x17.
      Family(
        .skyTraqVenus6, "SkyTraq receiver", "1.4.23-1.10.23, revision 9.2.10", pedestrian: 0,
        shortest: 100, longest: 1_000, refusals: 2),
      Family(
        .allystar, "Allystar HD8040D", "3.018.aab95e7", pedestrian: 0, shortest: 100,
        longest: 1_000),
      Family(
        .allystarRTK, "Allystar HD9510", "3.018.aab95e7", pedestrian: 0, shortest: 200,
        longest: 1_000, half: 1_000),
    ]
  }

  /// Polls for so many seconds and counts epochs; nothing may fail.
  private func epochs(
    _ bench: ReceiverBench, _ receiver: GNSSReceiver, _ seconds: Double,
    _ location: SourceLocation = #_sourceLocation
  ) -> Int {
    var count = 0
    let errors = bench.run(receiver, seconds: seconds) { _ in count += 1 }
    #expect(errors == [], sourceLocation: location)
    return count
  }

  @Test(
    "each says who it is, and takes model and rate, with nothing left unanswered",
    arguments: Family.all)
  func configured(_ family: Family) throws {
    let bench = ReceiverBench(family.contract, rate: 5, dynamicModel: .pedestrian)
    let receiver = try bench.open()
    _ = epochs(bench, receiver, family.contract.findingTime)
    #expect(receiver.isConfigured)
    #expect(receiver.identity == SensorIdentity(name: family.name, firmware: family.firmware))
    #expect(bench.configuration?.dynamicModel == family.pedestrian)
    #expect(bench.period == max(200, family.shortest))
    #expect(family.epochs(at: 5).contains(epochs(bench, receiver, 10)))
    let lacks = family.pedestrian == 0
    #expect(receiver.note == (lacks ? "does not take 'dynamicModel'" : nil))
    #expect(receiver.link?.interval == Double(max(200, family.shortest)) / 1_000)
    #expect(receiver.refusals == family.refusals)
  }

  @Test("the wanted interval is set as far as the receiver and its line go", arguments: Family.all)
  func intervals(_ family: Family) throws {
    let bench = ReceiverBench(family.contract, rate: 25)
    let receiver = try bench.open()
    _ = epochs(bench, receiver, family.contract.findingTime)
    #expect(bench.period == family.shortest)
    receiver.setInterval(1_000)
    _ = epochs(bench, receiver, 3)
    #expect(bench.period == family.longest)
    #expect(receiver.interval == Double(family.longest) / 1_000)
    receiver.setInterval(0.5)
    // It answers before its next epoch, and is not given up while there is none.
    _ = epochs(bench, receiver, 3)
    #expect(bench.period == family.half)
    let count = 10_000 / family.half
    #expect(((count - 1)...(count + 1)).contains(epochs(bench, receiver, 10)))
    receiver.setInterval(nil)
    _ = epochs(bench, receiver, 2)
    #expect(bench.period == family.shortest)
    #expect(receiver.isConfigured)
  }

  @Test(
    "epochs that the line cannot carry make it faster, and after a power cut again",
    arguments: Family.all)
  func fasterLine(_ family: Family) throws {
    let bench = ReceiverBench(family.contract, rate: 10)
    let own = family.contract.model.defaultBaudRate
    let receiver = try bench.open()
    for _ in 0..<2 {
      _ = epochs(bench, receiver, 25)
      let line = try #require(bench.configuration?.baudRate)
      #expect(line >= 38_400 && line >= own)
      #expect(receiver.baudRate == line && receiver.isConfigured)
      #expect(family.epochs(at: 10).contains(epochs(bench, receiver, 10)))
      bench.begin(.brownOut)
      _ = epochs(bench, receiver, 0.2)
      #expect(bench.configuration?.baudRate == own)
      bench.endFaults()
    }
  }

  @Test("a faster rate that is wanted later makes the line faster too", arguments: Family.all)
  func fasterLineLater(_ family: Family) throws {
    let bench = ReceiverBench(family.contract, rate: 10)
    let receiver = try bench.open()
    receiver.setInterval(10)
    _ = epochs(bench, receiver, 25)
    #expect(receiver.isConfigured)
    #expect(bench.configuration?.baudRate == family.contract.model.defaultBaudRate)
    receiver.setInterval(nil)
    _ = epochs(bench, receiver, 5)
    let line = try #require(bench.configuration?.baudRate)
    #expect(line >= 38_400 && receiver.baudRate == line)
    #expect(receiver.isConfigured && receiver.note == nil)
    #expect(family.epochs(at: 10).contains(epochs(bench, receiver, 10)))
  }

  @Test(
    "a receiver that the line can wake sleeps and wakes; another runs on", arguments: Family.all)
  func sleep(_ family: Family) throws {
    let bench = ReceiverBench(family.contract)
    let receiver = try bench.open()
    _ = epochs(bench, receiver, family.contract.findingTime)
    // A u-blox 5 does not have RXM-PMREQ, and runs on.
    let canSleep =
      (family.contract.speaksUBX && family.contract.model != .ublox5)
      || family.contract.model == .mediaTek
    var rest: ReceiverSleepState?
    for _ in 0..<50 {
      rest = try receiver.rest(now: bench.clock.now())
      if rest != .underWay { break }
      bench.clock.advance(bySeconds: 0.1)
    }
    #expect(rest == (canSleep ? .asleep : .impossible))
    #expect(bench.isAsleep == canSleep)
    guard canSleep else {
      return #expect(family.epochs(at: 5).contains(epochs(bench, receiver, 10)))
    }
    bench.clock.advance(bySeconds: 600)
    #expect(try receiver.rest(now: bench.clock.now()) == .asleep)
    #expect(bench.isAsleep)
    try receiver.wake(now: bench.clock.now())
    // A second to start, two to a fix, one for the talk; the first epochs may come before.
    #expect(epochs(bench, receiver, 8) > 10)
    #expect(receiver.isConfigured && !bench.isAsleep)
    #expect((19...21).contains(epochs(bench, receiver, 4)))
  }

  @Test(
    "a receiver without NAV-PVT that does not say its generation is asked in every dialect",
    arguments: [ReceiverTwinModel.ublox6, .ublox7])
  func unknownGeneration(model: ReceiverTwinModel) throws {
    let bench = ReceiverBench(
      ReceiverContract(chip: "u-blox", model: model, wire: .serial), rate: 4,
      dynamicModel: .sea)
    bench.hideGeneration()
    let receiver = try bench.open()
    _ = epochs(bench, receiver, 15)
    #expect(receiver.isConfigured && receiver.identity?.name == "u-blox receiver")
    #expect(bench.configuration?.epochPeriod == 250 && bench.configuration?.dynamicModel == 5)
    #expect((39...41).contains(epochs(bench, receiver, 10)))
    #expect(receiver.note == nil)
    // CFG-VALSET, and NAV-PVT or NAV-TIMELS.
    #expect(receiver.refusals == 2)
  }

  @Test(
    "a u-blox receiver's antenna, interference, spoofing and leap second are known, and told",
    arguments: [ReceiverTwinModel.ublox6, .ubloxM8, .ubloxM9, .ubloxM10])
  func conditions(model: ReceiverTwinModel) throws {
    let bench = ReceiverBench(
      ReceiverContract(chip: "u-blox", model: model, wire: .serial), rate: 1)
    let receiver = try bench.open()
    _ = epochs(bench, receiver, 40)
    #expect(receiver.note == nil)
    #expect(receiver.link?.condition?.antenna == .connected)
    #expect(receiver.link?.condition?.interference == .insignificant)
    #expect(receiver.link?.condition?.spoofing == .notDetected)
    #expect(receiver.link?.condition?.leapSecond == nil)
    bench.change { condition in
      (condition.antenna, condition.jamming, condition.spoofing) = (3, 3, 2)
      // 2026-07-01.
      condition.leapSecond = .init(change: -1, midnight: 1_782_864_000)
    }
    _ = epochs(bench, receiver, 62)
    let condition = try #require(receiver.link?.condition)
    #expect(condition.antenna == .shorted && condition.interference == .severe)
    #expect(condition.spoofing == .suspected)
    #expect(
      condition.leapSecond
        == (model == .ublox6
          ? nil : ReceiverCondition.LeapSecond(change: -1, midnight: 1_782_864_000)))
    #expect(
      receiver.note
        == "reports a short circuit of its antenna; it has no position because of interference (jamming); it "
        + "suspects that its signals are forged (spoofing)")
    bench.change { $0 = SimulatedCondition() }
    _ = epochs(bench, receiver, 12)
    #expect(receiver.note == nil)
  }

  @Test("an epoch in several messages is told with the last of them, not with the next epoch")
  func promptParts() throws {
    let bench = ReceiverBench(
      ReceiverContract(chip: "u-blox", model: .ublox6, wire: .serial), rate: 1)
    let receiver = try bench.open()
    _ = epochs(bench, receiver, 20)
    var lags: [Double] = []
    let errors = bench.run(receiver, seconds: 10) { fix in
      let told = bench.clock.now().seconds(since: bench.truth.start)
      lags.append(told - ((fix.utc ?? 0) - ScriptedTruth.utcStart))
    }
    #expect(errors == [] && lags.count == 10)
    // 40 ms to compute, 194 bytes at 9600 baud, and 100 ms from one look to the next.
    #expect(lags.allSatisfy { $0 < 0.35 }, "\(lags)")
  }

  @Test("one that acknowledges nothing is read as it is, and that is said")
  func mute() throws {
    let bench = ReceiverBench(ReceiverContract(chip: "GNSS", model: .nmea, wire: .serial))
    let receiver = try bench.open()
    _ = epochs(bench, receiver, 20)
    #expect(!receiver.isConfigured && receiver.identity == nil)
    #expect(receiver.note == "acknowledges nothing: it is read as it is")
    #expect(receiver.refusals == 3)
    #expect((9...11).contains(epochs(bench, receiver, 10)))
  }

  @Test("a dynamic model that a family has not is said, and the rest is set")
  func lacking() throws {
    let bench = ReceiverBench(
      ReceiverContract(chip: "GNSS", model: .airoha, wire: .serial), dynamicModel: .airborne)
    let receiver = try bench.open()
    _ = epochs(bench, receiver, 12)
    #expect(receiver.isConfigured && bench.configuration?.epochPeriod == 200)
    #expect(receiver.note == "does not take 'dynamicModel'")
  }
}
