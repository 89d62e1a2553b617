// Messages on their way to lines that are missing, take nothing, go away and come back.

import LinuxIO
import LocationServices
import OutputProtocols
import SensorTypes
import Synchronization
import Testing

@testable import LocationDaemon

/// A line that a test decides about.
final class ScriptedLine: OutputLine {
  struct State: Sendable {
    var isHeard = true
    var error: OutputLineError?
    /// The number of bytes that it still takes.
    var room = Int.max
    var text: [UInt8] = []
    var looks = 0
  }

  let place = "/dev/test"
  let state = Mutex(State())

  func check() throws(OutputLineError) -> Bool {
    try state.withLock { state throws(OutputLineError) in
      state.looks += 1
      if let error = state.error { throw error }
      return state.isHeard
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(OutputLineError) -> Int {
    let bytes = Array(bytes)
    return try state.withLock { state throws(OutputLineError) in
      if let error = state.error { throw error }
      let count = min(bytes.count, state.room)
      state.text += bytes[..<count]
      state.room -= count
      return count
    }
  }

  func set(_ change: (inout sending State) -> Void) { state.withLock { change(&$0) } }
  var text: String { String(decoding: state.withLock { $0.text }, as: UTF8.self) }
}

struct LineWriterTests {
  private static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Opens what is next in a list, in place.
  private final class Opener: Sendable {
    let results: Mutex<[Result<ScriptedLine, OutputLineError>]>
    let attempts = Mutex(0)

    init(_ results: [Result<ScriptedLine, OutputLineError>]) { self.results = Mutex(results) }

    func open() throws(OutputLineError) -> any OutputLine {
      attempts.withLock { $0 += 1 }
      let result = results.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
      return try result.get()
    }

    func writer(capacity: Int = 100, knowsListeners: Bool = false) -> LineWriter {
      LineWriter(
        place: "/dev/test", capacity: capacity, knowsListeners: knowsListeners,
        perform: { $0() }
      ) { () throws(OutputLineError) in try self.open() }
    }
  }

  private static let missing = OutputLineError("/dev/test", "there is no such device")

  @Test("messages go as far as there is room, and go on when there is room again")
  func partial() {
    let line = ScriptedLine()
    let writer = Opener([.success(line)]).writer()
    #expect(writer.advance(to: Self.at(0)) == Self.at(0.5))
    #expect(writer.isHeard && writer.summary.problem == nil)
    line.set { $0.room = 5 }
    writer.send(Self.bytes("one\n"), at: Self.at(0.1))
    writer.send(Self.bytes("two\n"), at: Self.at(0.1))
    #expect(writer.advance(to: Self.at(0.1)) == Self.at(0.12))
    #expect(line.text == "one\nt" && writer.waitingCount == 3)
    line.set { $0.room = .max }
    writer.advance(to: Self.at(0.12))
    #expect(line.text == "one\ntwo\n" && writer.waitingCount == 0)
    #expect(writer.summary.sent == 2 && writer.summary.dropped == 0)
  }

  @Test("for a line that takes nothing the oldest messages are left out, whole and counted")
  func full() {
    let line = ScriptedLine()
    let writer = Opener([.success(line)]).writer(capacity: 20)
    writer.advance(to: Self.at(0))
    line.set { $0.room = 2 }
    for index in 0..<10 {
      writer.send(Self.bytes("line\(index)\n"), at: Self.at(0.1))
      writer.advance(to: Self.at(0.1))
      #expect(writer.waitingCount <= 20)
    }
    // What was begun is ended.
    line.set { $0.room = .max }
    writer.advance(to: Self.at(0.2))
    #expect(line.text == "line0\nline8\nline9\n")
    let summary = writer.summary
    #expect(summary.sent == 3 && summary.dropped == 7)
    writer.send([UInt8](repeating: 65, count: 21), at: Self.at(0.3))
    #expect(writer.summary.dropped == summary.dropped + 1)
  }

  @Test("a line that takes nothing for long is a problem until it takes something")
  func stuck() {
    let line = ScriptedLine()
    let writer = Opener([.success(line)]).writer()
    writer.advance(to: Self.at(0))
    line.set { $0.room = 0 }
    writer.send(Self.bytes("one\n"), at: Self.at(1))
    for step in 2..<14 { writer.advance(to: Self.at(Double(step) / 2)) }
    #expect(writer.summary.problem?.contains("takes nothing") == true)
    line.set { $0.room = .max }
    writer.advance(to: Self.at(8))
    writer.advance(to: Self.at(9))
    #expect(writer.summary.problem == nil && line.text == "one\n")
  }

  @Test("a missing line is tried again with growing pauses, and it is said how often")
  func missing() throws {
    let opener = Opener([.failure(Self.missing)])
    let writer = opener.writer()
    var now = Self.at(0)
    var pauses: [Double] = []
    for _ in 0..<9 {
      let next = try #require(writer.advance(to: now))
      pauses.append(next.seconds(since: now))
      // Not before its time.
      #expect(writer.advance(to: next.advanced(bySeconds: -0.01)) == next)
      now = next
    }
    #expect(pauses.map { ($0 * 10).rounded() / 10 } == [0.5, 1, 2, 4, 8, 16, 30, 30, 30])
    #expect(opener.attempts.withLock { $0 } == 9)
    #expect(writer.summary.problem == "there is no such device (tried 9 times)")
    #expect(writer.summary.isLasting)
    writer.send(Self.bytes("one\n"), at: now)
    #expect(!writer.isHeard && writer.summary.dropped == 1)
  }

  @Test("a line that was unplugged is opened again, and nothing of before is sent")
  func unplugged() {
    let (first, second) = (ScriptedLine(), ScriptedLine())
    let opener = Opener([.success(first), .failure(Self.missing), .success(second)])
    let writer = opener.writer()
    writer.advance(to: Self.at(0))
    writer.advance(to: Self.at(20))
    first.set { $0.room = 1 }
    writer.send(Self.bytes("old\n"), at: Self.at(20))
    writer.advance(to: Self.at(20))
    first.set { $0.error = OutputLineError("/dev/test", "the device went away", errno: 5) }
    #expect(writer.advance(to: Self.at(20.1)) == Self.at(20.6))
    #expect(writer.summary.problem == "the device went away" && writer.summary.dropped == 1)
    #expect(!writer.summary.isLasting)
    #expect(writer.advance(to: Self.at(20.6)) == Self.at(21.6))
    writer.advance(to: Self.at(21.6))
    #expect(writer.isHeard && writer.openings == 2 && writer.summary.problem == nil)
    writer.send(Self.bytes("new\n"), at: Self.at(21.7))
    writer.advance(to: Self.at(21.7))
    #expect(first.text == "o" && second.text == "new\n")
  }

  @Test("a line that fails as soon as it is open is not opened again and again")
  func failing() throws {
    let broken = ScriptedLine()
    broken.set { $0.error = OutputLineError("/dev/test", "the device went away", errno: 5) }
    let opener = Opener([.success(broken)])
    let writer = opener.writer()
    var now = Self.at(0)
    while now < Self.at(60) { now = try #require(writer.advance(to: now)) }
    #expect(opener.attempts.withLock { $0 } <= 8)
  }

  @Test("while nobody is at the other end nothing is written, and a new reader gets nothing old")
  func unheard() {
    let line = ScriptedLine()
    line.set { $0.isHeard = false }
    let writer = Opener([.success(line)]).writer(knowsListeners: true)
    #expect(writer.advance(to: Self.at(0)) == Self.at(0.5))
    #expect(!writer.isHeard && writer.summary.listeners == 0)
    line.set { ($0.isHeard, $0.room) = (true, 0) }
    writer.advance(to: Self.at(0.5))
    #expect(writer.isHeard && writer.summary.listeners == 1)
    writer.send(Self.bytes("old\n"), at: Self.at(0.6))
    writer.advance(to: Self.at(0.6))
    line.set { ($0.isHeard, $0.room) = (false, .max) }
    writer.advance(to: Self.at(1))
    line.set { $0.isHeard = true }
    writer.advance(to: Self.at(1.5))
    #expect(line.text.isEmpty && writer.summary.dropped == 1)
  }

  @Test("a line that takes long to open makes nobody wait, and is opened once")
  func slow() {
    let work = Mutex<[@Sendable () -> Void]>([])
    let line = ScriptedLine()
    let wakes = Mutex(0)
    let writer = LineWriter(
      place: "/dev/test", capacity: 100, perform: { job in work.withLock { $0.append(job) } }
    ) { () throws(OutputLineError) in line }
    writer.begin { wakes.withLock { $0 += 1 } }
    #expect(writer.advance(to: Self.at(0)) == nil)
    #expect(writer.advance(to: Self.at(30)) == nil)
    #expect(work.withLock { $0.count } == 1 && !writer.isHeard)
    work.withLock { $0.removeFirst() }()
    #expect(wakes.withLock { $0 } == 1)
    writer.advance(to: Self.at(31))
    #expect(writer.isHeard)
  }

  @Test("an output of NMEA 0183 asks for nothing while its line is not there")
  func sentences() {
    let (first, second) = (ScriptedLine(), ScriptedLine())
    let opener = Opener([.success(first), .failure(Self.missing), .success(second)])
    var configuration = NMEAConfiguration()
    configuration.set(.hdg, interval: 1)
    let output = NMEAOutput(
      .line(opener.writer(capacity: 1_000)), place: "/dev/test", configuration, positions: .none,
      isSimulated: false
    ) { ClockReading(seconds: $0.seconds, isSet: true) }
    #expect(output.demand == Demand())
    let state = PublishedState()
    #expect(output.advance(state, to: Self.at(0)) == Self.at(0.5))
    #expect(output.demand.heading && first.text == "$HCHDG,,,,,*6C\r\n")
    _ = output.advance(state, to: Self.at(0.5))
    #expect(output.summary.sent == 1)
    first.set { $0.error = OutputLineError("/dev/test", "the device went away", errno: 5) }
    _ = output.advance(state, to: Self.at(1))
    #expect(output.demand == Demand())
    #expect(output.summary.problem == "the device went away")
    for step in 2..<8 { _ = output.advance(state, to: Self.at(Double(step))) }
    #expect(second.text.hasPrefix("$HCHDG,,,,,*6C\r\n") && output.demand.heading)
  }
}
