// Base stations that do not do what they were told, lose it, or are not heard for a while, against their twins.

import SensorTypes
import Testing

@testable import SensorDrivers
@testable import SimulatedDevices

struct ReceiverBaseFaultTests {
  /// 1.4 km north of where the twin is, and 55 m.
  private static let elsewhere = BasePlace.known(
    latitude: 48.15, longitude: 11.5755, height: 564.7, accuracy: 0.05)
  private static let near = BasePlace.known(
    latitude: 48.1379, longitude: 11.5755, height: 564.7, accuracy: 0.05)

  private struct Rig {
    let bench: ReceiverBench
    let receiver: GNSSReceiver

    init(
      _ model: ReceiverTwinModel, _ base: BasePlace,
      conduct: (inout BaseConduct) -> Void = { _ in }
    ) throws {
      let contract = ReceiverContract(chip: "GNSS", model: model, wire: .serial)
      bench = ReceiverBench(contract, base: base)
      bench.conduct(conduct)
      receiver = try bench.open()
      _ = fixes(contract.findingTime)
    }

    func fixes(_ seconds: Double) -> [GNSSFix] {
      var fixes: [GNSSFix] = []
      #expect(bench.run(receiver, seconds: seconds) { fixes.append($0) } == [])
      return fixes
    }

    var phase: BaseStatus.BasePhase? { receiver.link?.base?.phase }
  }

  @Test(
    "a receiver that is elsewhere is not told as the place that it was given, though it has acknowledged that"
  )
  func elsewhere() throws {
    let rig = try Rig(.unicore, Self.elsewhere) { $0.holdsPlace = false }
    let fixes = rig.fixes(4)
    #expect(rig.bench.conduct() == 1 && fixes.count >= 15)
    for fix in fixes {
      #expect(fix.kind == .autonomous && abs((fix.latitude ?? 0) - 48.1374) < 1e-5)
      #expect(fix.horizontalAccuracy != 0.05)
    }
    #expect(rig.phase == .waiting && rig.receiver.note == nil)
    // One that measures where it was said to be holds the place.
    let near = try Rig(.unicore, Self.near) { $0.holdsPlace = false }
    #expect(near.fixes(2).allSatisfy { $0.kind == .manual && $0.latitude == 48.1379 })
    #expect(near.phase == .fixed)
  }

  @Test("an acknowledgement alone makes no u-blox receiver a base station at its place")
  func acknowledged() throws {
    let rig = try Rig(.ubloxF9P, Self.near) { $0.holdsPlace = false }
    #expect(rig.fixes(4).allSatisfy { $0.kind == .autonomous })
    #expect(rig.bench.conduct() == 1 && rig.receiver.link?.notTaken == [])
    #expect(rig.phase == .waiting && rig.receiver.note == nil)
    rig.bench.conduct { $0.holdsPlace = true }
    _ = rig.fixes(1)
    #expect(rig.fixes(2).allSatisfy { $0.kind == .manual })
    #expect(rig.phase == .fixed)
  }

  @Test("positions of a simulator stay simulated, also at the place that was given")
  func simulator() throws {
    let rig = try Rig(.unicore, Self.near) { ($0.holdsPlace, $0.isSimulator) = (false, true) }
    let fixes = rig.fixes(4)
    #expect(fixes.count >= 15 && fixes.allSatisfy { $0.kind == .simulated })
    #expect(rig.phase == .waiting)
  }

  @Test(
    "after a silence a survey does not begin again, and one that has finished counts",
    arguments: [ReceiverTwinModel.ubloxF9P, .unicore])
  func silence(model: ReceiverTwinModel) throws {
    let rig = try Rig(model, .survey(seconds: 20, accuracy: 2))
    #expect(rig.phase == .surveying)
    for seconds in [4.0, 15.0] {
      rig.bench.begin(.receiverSilent)
      _ = rig.fixes(seconds)
      rig.bench.endFaults()
      _ = rig.fixes(25)
      #expect(rig.receiver.isConfigured && rig.bench.conduct() == 1)
      #expect(rig.phase == .fixed, "after \(seconds) s")
      #expect(rig.fixes(2).allSatisfy { $0.kind == .manual && $0.isValid })
    }
    // Nor because somebody wants another rate.
    rig.receiver.setInterval(1)
    _ = rig.fixes(10)
    #expect(rig.bench.conduct() == 1 && rig.phase == .fixed)
  }

  @Test(
    "a receiver that was without power is told again, and surveys again",
    arguments: [ReceiverTwinModel.ubloxF9P, .unicore])
  func powerCut(model: ReceiverTwinModel) throws {
    let rig = try Rig(model, .survey(seconds: 30, accuracy: 2))
    _ = rig.fixes(35)
    #expect(rig.phase == .fixed)
    rig.bench.begin(.brownOut)
    _ = rig.fixes(0.5)
    rig.bench.endFaults()
    _ = rig.fixes(20)
    #expect(rig.bench.conduct() == 2 && rig.phase == .surveying)
    _ = rig.fixes(30)
    #expect(rig.phase == .fixed)
  }

  @Test("a survey that goes on saying the same after it was commanded again counts as finished")
  func sameReport() throws {
    let rig = try Rig(.ubloxF9P, .survey(seconds: 20, accuracy: 2))
    _ = rig.fixes(20)
    #expect(rig.phase == .fixed)
    // NMEA is taken for the receiver's own settings after a power cut; the twin's survey is the same, and is not begun again.
    rig.bench.speakNMEA()
    _ = rig.fixes(30)
    #expect(rig.receiver.isConfigured && rig.bench.conduct() == 2)
    #expect(rig.phase == .fixed)
    #expect(rig.fixes(2).allSatisfy { $0.kind == .manual })
  }

  @Test("a receiver that acknowledges nothing names what it is not set to, and waits for no base")
  func mute() throws {
    let bench = ReceiverBench(
      ReceiverContract(chip: "GNSS", model: .nmea, wire: .serial), dynamicModel: .stationary,
      readsHeading: true, base: .survey(seconds: 20, accuracy: 2))
    let receiver = try bench.open()
    #expect(bench.run(receiver, seconds: 20) == [])
    let missing = ["'antennas' (a heading by two antennas)", "'base'", "'dynamicModel'"]
    #expect(receiver.link?.notTaken == missing && receiver.link?.base == nil)
    #expect(
      receiver.note
        == "acknowledges nothing: it is read as it is, without \(missing.joined(separator: " and "))"
    )
  }
}
