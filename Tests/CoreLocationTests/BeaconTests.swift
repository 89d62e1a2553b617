import FacadeTestSupport
import Lodestone
import SensorBus
import SensorTypes
import Synchronization
import Testing

@testable import CoreLocation

private let uuid = UUID(
  uuid: (
    0x92, 0xAB, 0x49, 0xBE, 0x41, 0x27, 0x42, 0xF4, 0xB5, 0x32, 0x90, 0xFA, 0xF1, 0xE2, 0x64, 0x91
  ))

/// What a program of 2014 calls.
private protocol OldRanging {
  func startRangingBeacons(in region: CLBeaconRegion)
  func stopRangingBeacons(in region: CLBeaconRegion)
  var rangedRegions: Set<CLRegion> { get }
}
extension CLLocationManager: OldRanging {}

/// A manager whose radio and clock a test moves; belongs to one thread.
private final class Bench {
  let clock = AlarmClock()
  let radio = ScriptedBeacons()
  let runtime: LodestoneRuntime
  let manager: CLLocationManager

  init(in folder: URL? = nil) {
    let (source, clocks) = (ScriptedSource(), clock.clocks)
    runtime =
      folder.map { LodestoneRuntime(source: source, regionsIn: $0, clocks: clocks) }
      ?? LodestoneRuntime(source: source, clocks: clocks)
    runtime.install(beacons: radio)
    runtime.follow(clock.barrier)
    manager = CLLocationManager(port: runtime)
  }

  func listen() { radio.say(.listening(clock.now)) }

  func hear(_ minor: UInt16, _ strength: Int = -59) {
    radio.hear(major: 1, minor: minor, strength: strength, at: clock.now.seconds)
  }

  /// Moves the clock, and has everything told that happened.
  func move(to seconds: Double, _ spy: BeaconSpy, until count: Int) {
    clock.move(to: seconds)
    turn { spy.calls.count >= count }
  }
}

struct BeaconTests {
  @Test("D13 M13: ranged once a second, nearest first; the radio runs only while somebody ranges")
  func ranging() async throws {
    let (log, states) = await onThread {
      let bench = Bench()
      let spy = NewSpy()
      bench.manager.delegate = spy
      let constraint = CLBeaconIdentityConstraint(uuid: uuid, major: 1)
      var states = [bench.radio.isOn]
      bench.manager.startRangingBeacons(satisfying: constraint)
      bench.manager.startRangingBeacons(satisfying: constraint)
      states.append(bench.radio.isOn && bench.manager.rangedBeaconConstraints == [constraint])
      bench.listen()
      bench.move(to: 1, spy, until: 1)
      bench.hear(7, -70)
      bench.hear(8, -45)
      bench.radio.hear(major: 2, minor: 9, strength: -40, at: 1)
      bench.radio.hear(major: 1, minor: 6, strength: 127, at: 1)
      bench.move(to: 2, spy, until: 2)
      bench.manager.stopRangingBeacons(satisfying: constraint)
      states.append(bench.radio.isOn || !bench.manager.rangedBeaconConstraints.isEmpty)
      bench.clock.move(to: 10)
      _ = RunLoop.current.run(mode: .default, before: Date())
      return (spy.log, states)
    }
    #expect(log.calls == ["range ", "range 8,7,6"] && states == [false, true, false])
    let beacons = try #require(log.beacons.last)
    #expect(beacons.map(\.proximity) == [.immediate, .far, .unknown])
    #expect(beacons.map(\.rssi) == [-45, -70, 0] && beacons[2].accuracy == -1)
    #expect(beacons[0].uuid == uuid && beacons[0].major == 1 && beacons[0].minor == 8)
    #expect(beacons[0].timestamp == Date(timeIntervalSince1970: 1))
    // 10^((-59 + 45) / 20) and 10^((-59 + 70) / 20), by another calculator.
    #expect(
      abs(beacons[0].accuracy - 0.199_526) < 1e-5 && abs(beacons[1].accuracy - 3.548_134) < 1e-5)
  }

  @Test(
    "D13 D14: what was started by a region is told by the older methods, each region on its own")
  func regions() async {
    let calls = await onThread {
      let bench = Bench()
      let spy = OldBeaconSpy()
      bench.manager.delegate = spy
      let old: any OldRanging = bench.manager
      let shop = CLBeaconRegion(uuid: uuid, major: 1, identifier: "shop")
      let door = CLBeaconRegion(uuid: uuid, major: 1, minor: 1, identifier: "door")
      old.startRangingBeacons(in: shop)
      old.startRangingBeacons(in: door)
      bench.listen()
      bench.hear(1)
      bench.hear(2, -80)
      bench.move(to: 1, spy, until: 2)
      let ranged = old.rangedRegions.map(\.identifier).sorted()
      old.stopRangingBeacons(in: CLBeaconRegion(uuid: UUID(), identifier: "shop"))
      bench.move(to: 2, spy, until: 3)
      bench.radio.say(.failed(.failed("gone"), bench.clock.now))
      turn { spy.calls.count >= 4 }
      old.stopRangingBeacons(in: door)
      // Started by a constraint, heard by the older method with a region of its own.
      bench.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: uuid))
      bench.listen()
      bench.hear(1)
      bench.move(to: 3, spy, until: 5)
      return [spy.calls, ranged]
    }
    #expect(
      calls == [
        ["shop 1,2", "door 1", "door 1", "door failed 17", "\(uuid.uuidString) 1"],
        ["door", "shop"],
      ])
  }

  @Test("D14: no adapter, one that is off, and no permission are told with what to do, and once")
  func failures() async {
    let calls = await onThread {
      let bench = Bench()
      let spy = NewSpy()
      bench.manager.delegate = spy
      bench.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: uuid))
      let failures: [AdvertisementFailure] = [
        .noAdapter, .noAdapter, .poweredOff("hci0"), .notPermitted("org.bluez"), .failed("gone"),
      ]
      for (index, failure) in failures.enumerated() {
        bench.radio.say(.failed(failure, bench.clock.now))
        turn { spy.calls.count >= max(1, index) }
      }
      bench.listen()
      bench.move(to: 1, spy, until: 5)
      return spy.calls
    }
    #expect(calls.count == 5 && calls.last == "range ")
    for (call, words) in zip(
      calls,
      [
        "16 no Bluetooth", "16 Bluetooth adapter hci0 is off",
        "16 this user may not use Bluetooth: the group `bluetooth`", "17 gone",
      ])
    { #expect(call.hasPrefix("fail " + words)) }
  }

  @Test("D9 M12 M13: a recording of a walk through a doorway: nearer, farther, in and out")
  func recording() async throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Beacons/doorway.txt").path
    let log = try await onThread { () -> Result<BeaconSpy.Log, any Error> in
      Result {
        let clock = AlarmClock()
        let runtime = LodestoneRuntime(source: ScriptedSource(), clocks: clock.clocks)
        runtime.follow(clock.barrier)
        runtime.install(beacons: try RecordedAdvertisements(path: path, clocks: clock.clocks))
        let manager = CLLocationManager(port: runtime)
        let spy = NewSpy()
        manager.delegate = spy
        manager.startMonitoring(
          for: CLBeaconRegion(uuid: uuid, major: 1, minor: 1, identifier: "door"))
        manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: uuid))
        for second in 1...100 {
          clock.move(to: Double(second))
          turn { spy.log.beacons.count >= second }
        }
        return spy.log
      }
    }.get()
    let others = log.calls.filter { !$0.hasPrefix("range") }
    #expect(
      others == ["started door", "state 1 door", "entered door", "state 2 door", "left door"])
    #expect(log.beacons.count == 100)
    // Index 0 is second 1; what is heard at a second is told with the next. The distances that the recording was made with, the mean of five seconds behind it.
    func seen(_ minor: Int) -> [Int: CLBeacon] {
      var all: [Int: CLBeacon] = [:]
      for (index, beacons) in log.beacons.enumerated() {
        if let beacon = beacons.first(where: { $0.minor.intValue == minor }) {
          all[index + 1] = beacon
        }
      }
      return all
    }
    let (door, lamp) = (seen(1), seen(2))
    #expect(door.keys.min() == 36 && door.keys.max() == 75)
    #expect(lamp.keys.min() == 1 && lamp.keys.max() == 69)
    #expect(door[38]?.proximity == .far && door[51]?.proximity == .near)
    #expect(door[64]?.proximity == .far && door[71]?.proximity == .unknown)
    for second in 6...59 { #expect(lamp[second].map { abs($0.accuracy - 4) < 1.2 } == true) }
    #expect(log.beacons[51].map(\.minor) == [1, 2] && log.beacons[36].map(\.minor) == [2, 1])
    #expect(log.beacons[80].isEmpty)
  }

  @Test("D9 M12: a beacon region survives the program with its side and its flags")
  func restart() async {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-beacons-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let calls = await onThread {
      func run(_ body: (Bench, NewSpy) -> Void) -> [String] {
        let bench = Bench(in: folder)
        let spy = NewSpy()
        bench.manager.delegate = spy
        bench.listen()
        body(bench, spy)
        // A question is answered after all that was told before it.
        bench.manager.requestState(for: CLBeaconRegion(uuid: UUID(), identifier: "mark"))
        turn { spy.calls.last == "state 0 mark" }
        return spy.calls.dropLast()
      }
      var flags: [Bool] = []
      return [
        run { bench, _ in
          let door = CLBeaconRegion(uuid: uuid, major: 1, identifier: "door")
          door.notifyEntryStateOnDisplay = true
          door.notifyOnEntry = false
          bench.manager.startMonitoring(for: door)
          bench.listen()
          bench.hear(3)
        },
        run { bench, _ in
          let kept = bench.manager.monitoredRegions.first as? CLBeaconRegion
          flags = [
            kept?.notifyEntryStateOnDisplay == true, kept?.notifyOnEntry == false,
            kept?.major == 1, kept?.minor == nil, kept?.uuid == uuid,
          ]
          bench.clock.move(to: 30)
        },
        run { bench, _ in
          bench.hear(4)
          bench.manager.stopMonitoring(for: CLBeaconRegion(uuid: uuid, identifier: "door"))
        },
        run { bench, _ in bench.hear(5) },
        [flags.contains(false) ? "flags \(flags)" : "flags"],
      ]
    }
    #expect(calls == [["started door"], ["state 2 door", "left door"], [], [], ["flags"]])
  }

  @Test("L: a recording that is none is refused, by file and line")
  func brokenRecordings() {
    let header = "lodestone advertisements 1\n"
    for (text, words) in [
      ("", "it is empty"), ("lodestone", ":1: the first line"), ("# only\n", "it is empty"),
      (header + "1 -60", ":2: not seconds"), (header + "x -60 00", ":2: seconds are"),
      (header + "-1 -60 00", ":2: seconds are"), (header + "nan -60 00", ":2: seconds are"),
      (header + "\n2 -60 00\n1 -60 00", ":4: earlier"), (header + "1 21 00", ":2: a strength"),
      (header + "1 x 00", ":2: a strength"), (header + "1 - 0", ":2: data are"),
      (header + "1 - 0g", ":2: data are"),
      (header + "1 - " + String(repeating: "0", count: 3_302), ":2: data are"),
    ] {
      do throws(InvalidAdvertisements) {
        _ = try RecordedAdvertisements.parse(text, name: "file")
        Issue.record("taken: \(text)")
      } catch { #expect(error.description.contains(words), "\(error) for \(text)") }
    }
  }
}
