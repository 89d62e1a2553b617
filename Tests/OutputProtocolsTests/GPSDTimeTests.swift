// gpsd's TOFF, PPS and DEVICE, and what a client is answered that asks for raw data.

import Foundation
import SensorTypes
import Testing

@testable import OutputProtocols

/// TOFF, PPS and DEVICE.
struct GPSDTimeTests {
  @Test("a time offset and a pulse are the pairs of seconds and nanoseconds that they were given")
  func offsets() throws {
    // The example of gpsd_json(5), "TOFF".
    let offset = try #require(
      GPSDTimeOffset(real: (1_330_212_592, 343_182), clock: (1_330_212_592, 343_184)))
    let toff = try GPSDBoard.object(GPSDBoard.reports().timeOffset(offset).bytes)
    #expect(toff["class"] as? String == "TOFF" && toff["device"] as? String == GPSDBoard.receiver)
    #expect(toff["real_sec"] as? Int == 1_330_212_592 && toff["real_nsec"] as? Int == 343_182)
    #expect(toff["clock_sec"] as? Int == 1_330_212_592 && toff["clock_nsec"] as? Int == 343_184)
    #expect(toff["precision"] == nil)
    let pps = try GPSDBoard.object(GPSDBoard.reports().pulse(offset).bytes)
    #expect(pps["class"] as? String == "PPS" && pps["precision"] as? Int == -20)
    #expect(GPSDTimeOffset(real: (1, 1_000_000_000), clock: (1, 0)) == nil)
    #expect(GPSDTimeOffset(real: (-1, 0), clock: (1, 0)) == nil)
  }

  // MARK: Of an epoch

  /// An epoch of a whole second whose message came 90 ms later, with a pulse whose edge the clock saw 25 us late.
  private static func epoch(
    utc: Double = GPSDBoard.utc, _ change: (inout GNSSFix) -> Void = { _ in }
  ) -> GNSSFix {
    var fix = GNSSFix(
      received: GPSDBoard.at(utc - GPSDBoard.utc + 0.09), mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.utc, fix.kind) = (1, 2, utc, .autonomous)
    fix.pulseTime = GPSDBoard.at(utc - GPSDBoard.utc + 25e-6)
    change(&fix)
    return fix
  }

  private static func times(
    _ fix: GNSSFix, isSimulated: Bool = false, carried: DeadReckonedPosition? = nil,
    isSet: Bool = true, receiver: String = GPSDBoard.receiver
  ) throws -> [[String: Any]] {
    var reports = GPSDBoard.reports(isSet: isSet)
    reports.receiver = receiver
    let location = LocationEstimate(fix: fix, isSimulated: isSimulated, carried: carried)
    return try reports.times(of: location).map { try GPSDBoard.object($0.bytes) }
  }

  @Test("an epoch has a TOFF of its message and a PPS of its pulse, by the keys of gpsd's")
  func epoch() throws {
    let times = try Self.times(Self.epoch())
    #expect(times.map { $0["class"] as? String } == ["TOFF", "PPS"])
    // gpsd_json(5): "real_sec", "real_nsec", "clock_sec", "clock_nsec", and of a PPS "precision".
    let keys: Set = ["class", "device", "real_sec", "real_nsec", "clock_sec", "clock_nsec"]
    #expect(Set(times[0].keys) == keys && Set(times[1].keys) == keys.union(["precision"]))
    for (time, late) in zip(times, [90_000_000, 25_000]) {
      #expect(time["real_sec"] as? Int == 1_555_967_967 && time["real_nsec"] as? Int == 0)
      #expect(time["clock_sec"] as? Int == 1_555_967_967)
      // A double of today's seconds has steps of 0.24 us.
      #expect(abs((time["clock_nsec"] as? Int ?? 0) - late) < 500)
    }
  }

  @Test("the pulse of an epoch a little before its second is that of the second")
  func early() throws {
    let times = try Self.times(
      Self.epoch(utc: GPSDBoard.utc - 5e-5) { $0.pulseTime = GPSDBoard.at(-5e-5) })
    #expect(times[0]["real_sec"] as? Int == 1_555_967_966)
    #expect(abs((times[0]["real_nsec"] as? Int ?? 0) - 999_950_000) < 500)
    #expect(times[1]["real_sec"] as? Int == 1_555_967_967 && times[1]["real_nsec"] as? Int == 0)
    let seconds = (times[1]["clock_sec"] as? Int ?? 0) - 1_555_967_967
    #expect(abs(seconds * 1_000_000_000 + (times[1]["clock_nsec"] as? Int ?? 0)) < 500)
  }

  @Test("an epoch between two seconds, and one without a pulse, have no PPS")
  func noPulse() throws {
    for fix in [Self.epoch(utc: GPSDBoard.utc + 0.2), Self.epoch { $0.pulseTime = nil }] {
      #expect(try Self.times(fix).map { $0["class"] as? String } == ["TOFF"])
    }
  }

  @Test("a time that no clock may be set by has neither")
  func noTime() throws {
    let carried = DeadReckonedPosition(fixTime: GPSDBoard.at(-30), isTurnMeasured: true)
    #expect(try Self.times(Self.epoch(), isSet: false).isEmpty)
    #expect(try Self.times(Self.epoch(), isSimulated: true).isEmpty)
    #expect(try Self.times(Self.epoch(), carried: carried).isEmpty)
    // A receiver of another machine, and none at all.
    for receiver in ["tcp://boat:10110", "lodestone"] {
      #expect(try Self.times(Self.epoch(), receiver: receiver).isEmpty)
    }
    let changes: [(inout GNSSFix) -> Void] = [
      { $0.utc = nil }, { $0.utc = .nan }, { $0.weeksAdded = 1_024 }, { $0.timeOfDay = 86_400.5 },
      { $0.isValid = false }, { $0.mode = .none }, { $0.kind = .deadReckoning },
      { $0.kind = .simulated }, { $0.kind = .manual },
    ]
    for change in changes {
      let fix = Self.epoch { change(&$0) }
      #expect(try Self.times(fix).isEmpty, "\(fix)")
    }
  }

  @Test("times come once a second, and not before the fourth fix")
  func reporter() {
    var (reporter, state) = (GPSDReporter(), PublishedState())
    func kinds(_ observation: Observation, after seconds: Double) -> Set<GPSDReportKind> {
      state.take(observation)
      let now = GPSDBoard.at(seconds)
      let reports = reporter.reports(
        after: observation, GPSDBoard.reports(), state: state, at: now)
      return Set(reports.map(\.kind)).intersection([.timeOffset, .pulse])
    }
    func location(_ seconds: Double) -> Set<GPSDReportKind> {
      let fix = Self.epoch(utc: GPSDBoard.utc + seconds)
      return kinds(
        .location(LocationEstimate(fix: fix, isSimulated: false)), after: seconds + 0.09)
    }
    for seconds in [0, 0.5, 1] { #expect(location(seconds).isEmpty) }
    #expect(location(1.5) == [.timeOffset])
    #expect(location(2) == [.timeOffset, .pulse] && location(2.5).isEmpty)
    #expect(location(3) == [.timeOffset, .pulse])
    #expect(kinds(.locationUnavailable(.noFix, at: GPSDBoard.at(4)), after: 4).isEmpty)
    for seconds in [5.0, 6, 7] { #expect(location(seconds).isEmpty) }
    #expect(location(8) == [.timeOffset, .pulse])
  }

  @Test("a device has the keys of gpsd's DEVICE")
  func device() throws {
    let reports = GPSDBoard.reports()
    let receiver = try GPSDBoard.object(reports.device(reports.devices[0]).bytes)
    #expect(
      receiver["class"] as? String == "DEVICE" && receiver["path"] as? String == GPSDBoard.receiver)
    #expect(receiver["activated"] as? String == "2019-04-22T21:19:27.000Z")
    #expect(receiver["flags"] as? Int == 1 && receiver["native"] as? Int == 1)
    #expect(receiver["bps"] as? Int == 38_400 && receiver["stopbits"] as? Int == 1)
    let compass = try GPSDBoard.object(reports.device(reports.devices[1]).bytes)
    #expect(compass["bps"] == nil && compass["parity"] == nil && compass["flags"] == nil)
    let gone = try GPSDBoard.object(reports.deactivation(of: reports.devices[1]).bytes)
    #expect(gone["activated"] as? Int == 0 && gone["path"] as? String == GPSDBoard.compass)
    // A name from a board file may hold anything.
    let odd = try GPSDBoard.object(
      reports.device(GPSDDevice(path: "/dev/\u{1B}[2J\"\\ü" + String(repeating: "x", count: 200)))
        .bytes)
    #expect((odd["path"] as? String)?.count == 127)
    #expect((odd["path"] as? String)?.hasPrefix("/dev/?[2J\"\\??x") == true)
  }

  @Test("where there are no raw data to pass, a client that asks for them is answered by 0")
  func noRaw() throws {
    for watch in ["{\"enable\":true,\"raw\":1}", "{\"enable\":true,\"json\":true,\"raw\":2}"] {
      var session = GPSDSession(
        GPSDRelease(revision: "test"), passesRaw: false, at: GPSDBoard.at(0))
      session.receive(
        Array("?WATCH=\(watch);".utf8), reports: GPSDBoard.reports(), state: PublishedState(),
        at: GPSDBoard.at(0))
      var lines: [[UInt8]] = []
      while !session.output.isEmpty {
        lines.append(Array(session.output))
        session.didWrite(session.output.count, at: GPSDBoard.at(0))
      }
      let answer = try GPSDBoard.object(try #require(lines.last))
      #expect(answer["class"] as? String == "WATCH" && answer["raw"] as? Int == 0)
      #expect(session.policy.isWatching)
      session.send(
        GPSDRawData(lines: [[0x31]], verbatim: [[0x42]]), device: GPSDBoard.receiver,
        at: GPSDBoard.at(1))
      #expect(session.output.isEmpty)
    }
  }
}
