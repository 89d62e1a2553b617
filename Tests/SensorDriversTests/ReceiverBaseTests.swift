// Receivers as base stations, against their twins.

import SensorTypes
import Testing

@testable import SensorDrivers
@testable import SimulatedDevices

@Suite struct ReceiverBaseTests {
  private static let place = BasePlace.known(
    latitude: 48.137412345, longitude: 11.575498765, height: 565.4321, accuracy: 0.05)

  private func bench(
    _ model: ReceiverTwinModel, _ base: BasePlace, chip: String = "GNSS",
    wire: ReceiverContract.Wire = .serial
  ) throws -> (bench: ReceiverBench, receiver: GNSSReceiver, findingTime: Double) {
    let contract = ReceiverContract(chip: chip, model: model, wire: wire)
    let bench = ReceiverBench(contract, base: base)
    return (bench, try bench.open(), contract.findingTime)
  }

  private func fixes(
    _ bench: ReceiverBench, _ receiver: GNSSReceiver, _ seconds: Double
  ) -> [GNSSFix] {
    var fixes: [GNSSFix] = []
    #expect(bench.run(receiver, seconds: seconds) { fixes.append($0) } == [])
    return fixes
  }

  @Test("a ZED-F9P surveys its place, says how far it is, and then holds the mean")
  func survey() throws {
    let (bench, receiver, findingTime) = try bench(.ubloxF9P, .survey(seconds: 30, accuracy: 0.8))
    _ = fixes(bench, receiver, findingTime)
    #expect(receiver.isConfigured && receiver.link?.notTaken == [])
    let begun = try #require(receiver.link?.base)
    #expect(begun.phase == .surveying)
    #expect(receiver.note == "surveys its place, which it is to hold as a base station")
    let during = fixes(bench, receiver, 6)
    #expect(during.allSatisfy { $0.kind == .autonomous && $0.isValid })
    let later = try #require(receiver.link?.base)
    #expect(later.phase == .surveying)
    #expect(
      try #require(later.surveySeconds) > (begun.surveySeconds ?? 0) && later.accuracy ?? 0 < 1)
    #expect(receiver.link?.condition?.survey == nil)
    // Another rate does not begin it again.
    receiver.setInterval(1)
    _ = fixes(bench, receiver, 40)
    let status = try #require(receiver.link?.base)
    #expect(status.phase == .fixed && (30...32).contains(status.surveySeconds ?? 0), "\(status)")
    #expect(try #require(status.accuracy) <= 0.8)
    #expect(receiver.note == "is a base station at the place that it has surveyed")
    let held = fixes(bench, receiver, 4)
    #expect(held.count >= 3)
    for fix in held {
      // It is no measurement, and has the accuracy of the mean for a bound of each.
      #expect(fix.kind == .manual && fix.isValid && fix.mode == .threeDimensional)
      #expect(abs(try #require(fix.latitude) - 48.1374) < 1e-7)
      #expect(abs(try #require(fix.longitude) - 11.5755) < 1e-7)
      #expect(abs(try #require(fix.ellipsoidalAltitude) - 564.7) < 0.01)
      #expect(fix.horizontalAccuracy == status.accuracy && fix.verticalAccuracy == status.accuracy)
      #expect(fix.accuracySource == .receiver && fix.speed == nil && fix.course == nil)
      #expect(fix.utc != nil && fix.corrections == nil)
    }
  }

  @Test("a survey without end is one: the accuracy is never reached")
  func endless() throws {
    let (bench, receiver, findingTime) = try bench(.ubloxF9P, .survey(seconds: 5, accuracy: 0.3))
    #expect(fixes(bench, receiver, findingTime + 30).allSatisfy { $0.kind != .manual })
    #expect(receiver.link?.base?.phase == .surveying)
  }

  @Test(
    "a place that is known is held at once, to the tenth of a millimeter",
    arguments: [ReceiverContract.Wire.serial, .ddc])
  func known(wire: ReceiverContract.Wire) throws {
    let (bench, receiver, findingTime) = try bench(
      .ubloxF9P, Self.place, chip: "u-blox", wire: wire)
    _ = fixes(bench, receiver, findingTime)
    var status = BaseStatus(phase: .fixed)
    status.accuracy = 0.05
    #expect(receiver.link?.base == status && receiver.link?.notTaken == [])
    #expect(receiver.note == "is a base station at the place that it was given")
    let held = fixes(bench, receiver, 4)
    #expect(held.count >= 18)
    for fix in held {
      #expect(fix.kind == .manual && fix.isValid)
      #expect(fix.latitude == 48.137412345 && fix.longitude == 11.575498765)
      #expect(fix.ellipsoidalAltitude == 565.4321 && fix.horizontalAccuracy == 0.05)
    }
    guard wire == .serial else { return }
    let mode = try #require(bench.configuration?.baseMode)
    #expect(mode.mode == .fixed && mode.isGeodetic && mode.placeAccuracy == 500)
    #expect(abs(mode.given.x - 48.137412345) < 1e-10 && abs(mode.given.z - 565.4321) < 1e-5)
  }

  @Test(
    "a receiver that cannot says so in words, and is read as ever",
    arguments: [
      (ReceiverTwinModel.ubloxM9, "it has no base mode"), (.ubloxM10, "it has no base mode"),
      (.ubloxM8, "it is set by CFG-VALSET alone, which this receiver does not take"),
      (.ublox6, "it is set by CFG-VALSET alone, which this receiver does not take"),
      (.quectel, "its base mode counts after it is saved and restarted, which is not done"),
      (.mediaTek, "no command for it is known"), (.airoha, "no command for it is known"),
      (.casic, "no command for it is known"),
    ])
  func refused(model: ReceiverTwinModel, reason: String) throws {
    let (bench, receiver, findingTime) = try bench(model, .survey(seconds: 10, accuracy: 2))
    _ = fixes(bench, receiver, findingTime)
    #expect(receiver.isConfigured && receiver.link?.base == nil)
    #expect(receiver.link?.notTaken.contains("'base' (\(reason))") ?? false)
    #expect(receiver.note == "does not take 'base' (\(reason))")
    let read = fixes(bench, receiver, 4)
    #expect(!read.isEmpty && read.allSatisfy { $0.kind == .autonomous })
  }

  @Test("Unicore: a survey lasts its time; what its command does not have is said")
  func unicoreSurvey() throws {
    let (bench, receiver, findingTime) = try bench(.unicore, .survey(seconds: 20, accuracy: 2))
    _ = fixes(bench, receiver, findingTime)
    #expect(receiver.link?.base?.phase == .surveying)
    #expect(
      receiver.link?.notTaken
        == ["'accuracy' of 'base' (its survey lasts its time, and no longer)"])
    _ = fixes(bench, receiver, 22)
    #expect(receiver.link?.base == BaseStatus(phase: .fixed))
    let held = fixes(bench, receiver, 2)
    #expect(
      !held.isEmpty && held.allSatisfy { $0.kind == .manual && $0.isValid && $0.latitude != nil })

    let tooLong = try self.bench(.unicore, .survey(seconds: 4_000, accuracy: 2))
    _ = fixes(tooLong.bench, tooLong.receiver, tooLong.findingTime)
    #expect(tooLong.receiver.note == "does not take 'base' (its survey takes 3600 s at most)")
  }

  @Test("Unicore: a place is repeated in its sentences, and told as given")
  func unicorePlace() throws {
    let (bench, receiver, findingTime) = try bench(.unicore, Self.place)
    _ = fixes(bench, receiver, findingTime)
    #expect(receiver.link?.base?.phase == .fixed && receiver.link?.notTaken == [])
    let held = fixes(bench, receiver, 2)
    #expect(!held.isEmpty)
    for fix in held {
      #expect(fix.kind == .manual && fix.isValid && fix.horizontalAccuracy == 0.05)
      // Minutes of five decimals.
      #expect(abs(try #require(fix.latitude) - 48.137412345) < 2e-7)
      #expect(fix.speed == nil)
    }
    let equator = try self.bench(
      .unicore, .known(latitude: 0.1, longitude: 11.5, height: 0, accuracy: nil))
    _ = fixes(equator.bench, equator.receiver, equator.findingTime)
    #expect(equator.receiver.note?.hasPrefix("does not take 'base' (so near the equator") ?? false)
  }

  @Test("a receiver that nobody made a base station is none; in timing mode it has no position")
  func others() {
    var setup = ReceiverSetup.identifying()
    #expect(setup.next(after: .condition, .keys) == .leapSecond)
    #expect(setup.next(after: .leapSecond, .keys) == .rate)
    (setup.setsBase, setup.surveys) = (true, true)
    #expect(setup.next(after: .leapSecond, .keys) == .base)
    #expect(setup.next(after: .base, .keys) == .survey)
    #expect(setup.next(after: .survey, .keys) == .rate)
    // Once it is one, it is not made one again; one that refused is not asked for its survey.
    setup.isBaseSet = true
    #expect(setup.next(after: .leapSecond, .keys) == .survey)
    #expect(setup.next(after: .base, .keys) == .survey)
    (setup.isBaseSet, setup.notTaken) = (false, [.base])
    #expect(setup.next(after: .base, .keys) == .rate)
    #expect(setup.next(after: .sentences, .unicore) == .base)
    #expect(setup.next(after: .base, .unicore) == .rate)
  }
}
