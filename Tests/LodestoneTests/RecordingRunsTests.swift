import BoardTestSupport
import Foundation
import Recording
import SensorHub
import SensorTypes
import Testing

/// Recordings that are not one whole: with a hole, and of several runs.
struct RecordingRunsTests {
  private func steps(_ lines: [String]) -> [Int] {
    lines.indices.filter { lines[$0].hasPrefix("s ") }
  }

  @Test("a replay gives what stands ahead of a hole, and then says that steps are missing")
  func hole() throws {
    let board = try VirtualBoard(records: true)
    _ = board.run(6)
    board.hub.stop()
    var lines = String(decoding: board.recording, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let starts = steps(lines)
    let (from, to) = (starts[starts.count / 2], starts[starts.count / 2 + 12])
    var short: [Observation] = []
    try Replay.run(
      Recording(Array(lines[..<from].joined(separator: "\n").utf8 + [10])), board: board.board
    ) { short.append($0) }
    lines.replaceSubrange(from..<to, with: ["g 12"])
    let recording = try Recording(Array(lines.joined(separator: "\n").utf8))
    #expect(recording.holes.map(\.missing) == [12])
    #expect(recording.holes.map(\.line) == [from + 1])
    var replayed: [Observation] = []
    do {
      try Replay.run(recording, board: board.board) { replayed.append($0) }
      #expect(Bool(false), "the hole was not said")
    } catch {
      #expect(error.line == from + 1)
      #expect(error.message.hasPrefix("12 steps are missing"), "\(error)")
    }
    #expect(replayed == short && replayed.count > 100)
  }

  @Test("several runs in one file are read one by one, also behind one that was cut off in a line")
  func runs() throws {
    let first = try VirtualBoard(records: true)
    let live = first.run(3)
    first.hub.stop()
    let second = try VirtualBoard(records: true)
    let later = second.run(2)
    second.hub.stop()
    // The end of a full disk: in the middle of a transfer.
    let text = String(decoding: first.recording, as: UTF8.self)
    let cut = try #require(text.range(of: "\nr ", options: .backwards))
    let damaged = text[..<cut.upperBound] + "0 4\n"
    // And of another one: in the middle of its board file.
    let beginning = Array(text.prefix(200).utf8) + [10]
    let runs = try Recording.runs(
      first.recording + second.recording + beginning + Array(damaged.utf8) + second.recording
        + beginning)
    #expect(runs.map(\.endsEarly) == [false, false, true, false])
    for (run, expected) in [(runs[0], live), (runs[1], later), (runs[3], later)] {
      var replayed: [Observation] = []
      try Replay.run(run, board: first.board) { replayed.append($0) }
      #expect(replayed == expected)
    }
    #expect(try Recording.runs(first.recording).count == 1)
    #expect(throws: TraceError.self) { try Recording.runs([]) }
    #expect(throws: TraceError.self) { try Recording.runs(beginning) }
    // A disk that was full from the start.
    #expect(try Recording.runs(Array("\n\n".utf8) + first.recording).count == 1)
  }

  @Test(
    "a recording of a hub that runs begins with the setup of its chips; the hub goes on before it and behind it"
  )
  func running() throws {
    let board = try VirtualBoard()
    let before = board.run(12)
    #expect(before.contains { if case .location = $0 { true } else { false } })
    func record(_ bytes: Kept<UInt8>) throws -> HubRecording {
      try board.hub.beginRecording(boardText: board.text, boardName: "simulated") {
        bytes.append(contentsOf: $0)
      }
    }
    let bytes = Kept<UInt8>()
    let counted = board.hub.status.map(\.counters)
    let recording = try record(bytes)
    #expect(throws: Hub.RecordedAlready.self) { try record(Kept()) }
    let live = board.run(8)
    recording.end()
    let count = bytes.all.count
    let later = board.run(3)
    #expect(bytes.all.count == count && count > 100_000)
    // What was counted before is not forgotten, and what the chips' files say is no news.
    for (before, after) in zip(counted, board.hub.status.map(\.counters)) {
      #expect(after.samples > before.samples && after.starts == before.starts + 1)
    }
    #expect(!(live + later).contains { if case .diagnostic = $0 { true } else { false } })
    #expect(recording.failure == nil && recording.droppedSteps == 0)
    // Nobody is told of a loss, and headings are away for less than a second.
    let losses = live.filter {
      switch $0 {
      case .headingUnavailable, .altitudeUnavailable, .locationUnavailable: true
      default: false
      }
    }
    #expect(losses.isEmpty, "\(losses.prefix(3))")
    let times = (live + later).compactMap { observation -> Double? in
      if case .heading(let heading) = observation { heading.time.seconds } else { nil }
    }
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 < 0.5 })
    // What the chips said then is what a replay gives; what the fusion knew before the beginning it does not know.
    var replayed: [Observation] = []
    try Replay.run(Recording(bytes.all), board: board.board) { replayed.append($0) }
    func fixes(_ observations: [Observation]) -> [GNSSFix] {
      observations.compactMap { if case .location(let estimate) = $0 { estimate.fix } else { nil } }
    }
    #expect(fixes(replayed) == fixes(live) && fixes(live).count > 20)
    let headings = replayed.count { if case .heading = $0 { true } else { false } }
    #expect(headings > 500)
    // Another one can begin.
    let second = Kept<UInt8>()
    let again = try record(second)
    _ = board.run(2)
    again.end()
    replayed = []
    try Replay.run(Recording(second.all), board: board.board) { replayed.append($0) }
    #expect(replayed.count > 100)
  }
}
