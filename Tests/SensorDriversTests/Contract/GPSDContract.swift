// gpsd's client against gpsd's twin: everything that it says, and every fault that it can have.

import SensorBus
import SensorDrivers
import SensorTypes
import Synchronization
import Testing

@testable import SimulatedDevices

/// A gpsd with an exact receiver, and a client on a connection to it.
final class GPSDBench {
  static let address = ServerAddress.tcp(host: "localhost", port: 2_947)
  private static let step = 0.05

  let clock = VirtualClock()
  let truth: ScriptedTruth
  let slot: GPSDSlot
  private let device: String?
  private(set) var receiver: GPSDReceiver

  init(
    device: String? = nil,
    motion: @escaping @Sendable (_ seconds: Double) -> ScriptedTruth.Motion = { _ in .init() }
  ) {
    self.device = device
    truth = ScriptedTruth(start: clock.now(), motion: motion)
    slot = GPSDSlot(address: Self.address, source: truth, seed: 1, isExact: true)
    receiver = Self.connect(slot, clock, device)
  }

  private static func connect(
    _ slot: GPSDSlot, _ clock: VirtualClock, _ device: String?
  ) -> GPSDReceiver {
    GPSDReceiver(
      SimulatedConnection(slot: slot, clock: clock), at: "\(address)", device: device)
  }

  /// As the hub does after errors.
  func reconnect() { receiver = Self.connect(slot, clock, device) }

  func begin(_ fault: SimulatedFault) {
    let now = clock.now()
    slot.state.withLock { $0.faults.add(fault, from: now, until: .distantFuture, now: now) }
  }

  func endFaults() {
    let now = clock.now()
    slot.state.withLock { $0.faults.end(at: now) }
  }

  /// Polls for so many seconds: the failures, in order.
  func run(_ seconds: Double, each: (GNSSFix) -> Void = { _ in }) -> [DriverError] {
    var errors: [DriverError] = []
    for _ in 0..<Int((seconds / Self.step).rounded()) {
      clock.advance(bySeconds: Self.step)
      do throws(DriverError) {
        while let fix = try receiver.poll(now: clock.now()) { each(fix) }
      } catch {
        errors.append(error)
      }
    }
    return errors
  }

  /// The epochs of so many seconds, each of which must be the truth of its moment, now.
  func epochs(_ seconds: Double, _ location: SourceLocation = #_sourceLocation) -> Int {
    var count = 0
    let errors = run(seconds) { fix in
      count += 1
      let said = (fix.utc ?? 0) - ScriptedTruth.utcStart
      let motion = truth.motion(said)
      let age = clock.now().seconds(since: truth.start) - said
      let isRight =
        abs((fix.latitude ?? .nan) - motion.latitude) <= 1e-9
        && abs((fix.altitude ?? .nan) - motion.altitude) <= 1e-4 && age < 0.35
      #expect(isRight, "\(fix), \(age) s old", sourceLocation: location)
    }
    #expect(errors == [], sourceLocation: location)
    return count
  }
}

extension Sweep {
  /// gpsd prints 1e-9 degree, 0.1 mm, 1 mm/s and 1e-4 degree of course.
  static let gpsd = Sweep(
    chip: "gpsd", setting: "1 Hz", minimum: 244,
    channels: ["time", "latitude", "longitude", "altitude", "height", "speed", "course", "climb"]
  ) {
    let count = 244
    let bench = GPSDBench { seconds in
      receiverMotion((Int(seconds.rounded()) % count + count) % count, of: count)
    }
    var result = SweepResult()
    var visited: Set<Int> = []
    let errors = bench.run(Double(count) + 3) { fix in
      guard let utc = fix.utc else { return }
      let seconds = utc - ScriptedTruth.utcStart
      let truth = bench.truth.motion(seconds.rounded())
      result.note("time", seconds, seconds.rounded(), lsb: 1e-3)
      result.note("latitude", fix.latitude ?? .nan, truth.latitude, lsb: 1e-9)
      result.note(
        "longitude", turned(fix.longitude ?? .nan, to: truth.longitude), truth.longitude, lsb: 1e-9)
      result.note("altitude", fix.altitude ?? .nan, truth.altitude, lsb: 1e-4)
      result.note(
        "height", fix.ellipsoidalAltitude ?? .nan, truth.altitude + truth.separation, lsb: 1e-4)
      result.note("speed", fix.speed ?? .nan, truth.speed, lsb: 1e-3)
      result.note(
        "course", turned(fix.course ?? .nan, to: truth.course), truth.course, lsb: 1e-4)
      result.note("climb", fix.verticalSpeed ?? .nan, truth.climb, lsb: 1e-3)
      if visited.insert(Int(seconds.rounded()) % count).inserted { result.count() }
    }
    #expect(errors.isEmpty)
    return result
  }
}

@Suite("Contract: gpsd") struct GPSDContractTests {
  @Test("every epoch once, whole, with the receiver's own accuracies")
  func epochs() {
    let bench = GPSDBench()
    var last: GNSSFix?
    #expect(bench.epochs(5) == 5)
    #expect(bench.run(1.2) { last = $0 } == [])
    #expect(bench.receiver.release == "3.22")
    #expect(last?.mode == .threeDimensional && last?.satellitesUsed == 12 && last?.hdop == 0.8)
    #expect(last?.horizontalAccuracy == 1.6 && last?.verticalAccuracy == 2.4)
    #expect(last?.speedAccuracy == 0.08 && last?.accuracySource == .receiver)
  }

  @Test("of gpsd's receivers the named one is watched; one that it has not is said")
  func device() {
    let bench = GPSDBench(device: "/dev/ttyACM0")
    #expect(bench.epochs(5) == 5)
    #expect(bench.receiver.hasReceiver == true)
    let other = GPSDBench(device: "/dev/ttyACM1")
    #expect(other.epochs(7) == 0)
    #expect(other.receiver.hasReceiver == false)
    #expect(other.receiver.silence(of: 1.7).contains("no receiver /dev/ttyACM1"))
  }

  @Test("gpsd that is not there, or ends, is an error at every poll; a new connection recovers")
  func gone() {
    let bench = GPSDBench()
    _ = bench.epochs(3)
    bench.begin(.noAnswer)
    let ended = BusError(.noConnection("the server has ended it"), bus: "localhost:2947")
    #expect(bench.run(0.2) == Array(repeating: .bus(ended), count: 4))
    bench.reconnect()
    let refused = BusError(
      .noConnection("nobody listens there"), bus: "localhost:2947", errno: 111)
    #expect(bench.run(0.1) == Array(repeating: .bus(refused), count: 2))
    bench.endFaults()
    #expect(bench.run(0.1) == Array(repeating: .bus(refused), count: 2))
    bench.reconnect()
    #expect((3...4).contains(bench.epochs(4)))
  }

  @Test("gpsd that was started anew ends its connections")
  func restarted() {
    let bench = GPSDBench()
    _ = bench.epochs(3)
    bench.begin(.brownOut)
    #expect(bench.run(0.1).count == 2)
    bench.reconnect()
    #expect((3...4).contains(bench.epochs(4)))
  }

  @Test("a silent receiver is said; gpsd is asked and goes on answering")
  func silent() {
    let bench = GPSDBench()
    _ = bench.epochs(3)
    bench.begin(.receiverSilent)
    #expect(bench.epochs(30) <= 1)
    #expect(bench.receiver.silence(of: 1.7).contains("gpsd's receiver is silent"))
    bench.endFaults()
    #expect((3...4).contains(bench.epochs(4)))
  }

  @Test("a receiver that has stopped gives one fix, whose repetitions are told")
  func stale() {
    let bench = GPSDBench()
    _ = bench.epochs(3)
    let before = bench.receiver.repetitions
    bench.begin(.stuckData)
    var count = 0
    #expect(bench.run(20) { _ in count += 1 } == [])
    #expect(count <= 1)
    #expect(bench.receiver.repetitions - before >= 36)
    #expect(bench.receiver.silence(of: 1.7).contains("time stands still"))
    bench.endFaults()
    #expect((3...4).contains(bench.epochs(4)))
  }

  @Test(
    "a connection on which nothing comes, or noise, is given up ten seconds later",
    arguments: [SimulatedFault.timeout, .receiverGarbage])
  func dead(fault: SimulatedFault) {
    let bench = GPSDBench()
    _ = bench.epochs(3)
    bench.begin(fault)
    #expect(bench.run(9) == [])
    let errors = bench.run(2.5)
    #expect(!errors.isEmpty)
    for error in errors {
      guard case .bus(let failure) = error, case .noConnection(let why) = failure.reason else {
        Issue.record("\(error)")
        continue
      }
      #expect(why == "gpsd does not answer any more")
    }
    // A connection that nobody greets at is given up as well.
    bench.reconnect()
    #expect(bench.run(4.9) == [])
    #expect("\(bench.run(0.2).last.map { "\($0)" } ?? "")".contains("nobody greets"))
    bench.endFaults()
    bench.reconnect()
    #expect((3...4).contains(bench.epochs(4)))
  }

  @Test("reports in crumbs are put together", arguments: [40, 100, 1_000])
  func crumbs(bytes: Int) {
    let bench = GPSDBench()
    bench.begin(.shortRead(bytes: bytes))
    #expect(bench.run(3) == [])
    #expect(bench.receiver.damaged == 0)
    bench.endFaults()
    _ = bench.run(1)
    #expect((3...4).contains(bench.epochs(4)))
  }
}
