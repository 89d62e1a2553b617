import BoardTestSupport
import SensorTypes
import SimulatedDevices
import Testing

/// The first second of a run, and what is said when something is back.
struct BeginningTests {
  @Test("the bar of the first headings has no gap where the filter takes over")
  func firstBars() throws {
    let board = try VirtualBoard()
    let headings = board.run(2).compactMap { observation -> HeadingEstimate? in
      if case .heading(let heading) = observation { heading } else { nil }
    }
    #expect(headings.count > 100)
    for (last, next) in zip(headings, headings.dropFirst()) {
      let (before, after) = (try #require(last.accuracy), try #require(next.accuracy))
      #expect(after < 2 * before, "\(before) to \(after) rad at \(next.time)")
    }
  }

  @Test("a board with an accelerometer never complains that it has none")
  func firstTilt() throws {
    let board = try VirtualBoard()
    for case .headingUnavailable(let reason, _) in board.run(2) {
      Issue.record("\(reason)")
    }
  }

  @Test("a receiver that speaks again without a fix says so, and is no longer called lost")
  func receiverBack() throws {
    let board = try VirtualBoard()
    _ = board.run(2)
    let now = board.clock.now()
    // The way has no fix for its first eight seconds.
    board.simulation.inject(
      .receiverSilent, chip: 3, from: now, until: now.advanced(bySeconds: 3.5))
    let reasons = board.run(5.5).compactMap { observation -> NoData? in
      if case .locationUnavailable(let reason, _) = observation { reason } else { nil }
    }
    #expect(reasons.count == 2)
    if case .sensorLost = reasons.first {} else { Issue.record("\(reasons)") }
    #expect(reasons.last == .noFix)
  }
}
