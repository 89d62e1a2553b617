import LinearAlgebra
import SensorTypes
import TerminalUI
import Testing

@testable import CalibrationUI

/// A swing through known headings, by a clock that is an argument.
struct CompassSwingTests {
  /// A magnetometer that speaks ten times a second, as long as it does.
  private struct TenHertz: SwingSamples {
    var samples: [CalibrationSample] = []
    private(set) var fieldSamples = 0
    let silence = CommandError("the compass is silent")

    mutating func speak(at now: Timestamp) {
      samples.append(CalibrationSample(time: now, field: Vector3(20, 0, -40), force: nil))
      fieldSamples += 1
    }
  }

  private static func time(_ tenths: Int) -> Timestamp {
    Timestamp(nanoseconds: 1_000_000_000 + Int64(tenths) * 100_000_000)
  }

  /// Steps every tenth of a second; the chip speaks where `speaks` says so. Returns how many tenths it went on.
  private static func run(
    _ swing: inout CompassSwing, _ tenths: Range<Int>, speaks: (Int) -> Bool = { _ in true }
  ) throws -> Int? {
    var bench = TenHertz()
    for tenth in tenths {
      if speaks(tenth) { bench.speak(at: time(tenth)) }
      guard try swing.step(&bench, at: time(tenth)) else { return tenth }
    }
    return nil
  }

  private func swing(_ headings: [Double], every: Double? = 5) -> CompassSwing {
    CompassSwing(headings: headings, hold: 2, every: every, format: .json)
  }

  @Test("each heading is held for its time, and what was measured on the way to it is left out")
  func headings() throws {
    var swing = swing([10, 200])
    // Three seconds to turn and two to hold, twice; each hold ends with a sample that is as late.
    let end = try #require(try Self.run(&swing, 0..<300))
    #expect((99...103).contains(end))
    #expect(swing.taken.map(\.heading) == [10, 200])
    for (place, held) in swing.taken.enumerated() {
      let first = try #require(held.samples.first).time
      let last = try #require(held.samples.last).time
      #expect((20...22).contains(held.samples.count))
      #expect(abs(last.seconds(since: first) - 2) < 0.15)
      #expect(abs(first.seconds(since: Self.time(0)) - (3 + 5 * Double(place))) < 0.25)
    }
  }

  @Test("a chip that pauses during a heading has it held once more")
  func pause() throws {
    var swing = swing([10])
    let end = try #require(try Self.run(&swing, 0..<300) { !(29...62).contains($0) })
    #expect(swing.taken.count == 1 && end > 80)
    #expect(swing.taken.first?.samples.isEmpty == false)
  }

  @Test("a chip that never speaks is an error after five seconds")
  func silence() throws {
    var swing = swing([10])
    #expect(try Self.run(&swing, 0..<50) { _ in false } == nil)
    #expect(throws: CommandError.self) { try Self.run(&swing, 50..<60) { _ in false } }
  }

  @Test("a chip that falls silent for a minute ends the swing, with the headings that were taken")
  func fallsSilent() throws {
    var swing = swing([10, 200, 300])
    let end = try #require(try Self.run(&swing, 0..<2_000) { $0 < 70 })
    #expect((669...672).contains(end) && swing.taken.map(\.heading) == [10])
    // With none it is an error.
    var empty = self.swing([10, 200])
    #expect(throws: CommandError.self) { try Self.run(&empty, 0..<2_000) { $0 < 10 } }
  }

  @Test("a person may skip a heading, name another, end the swing or mistype")
  func answers() throws {
    var swing = swing([10, 200, 300], every: nil)
    func answer(_ typed: String, _ tenth: Int) -> Bool {
      swing.answer(typed, at: Self.time(tenth))
    }
    #expect(answer(" S ", 0) && answer("361", 1) && answer("what", 1) && answer("205.5", 2))
    // It is held at once.
    let held = try Self.run(&swing, 3..<23)
    #expect(held == nil && swing.taken.map(\.heading) == [205.5])
    #expect(!answer("q", 30) && answer("", 31))
    #expect(try Self.run(&swing, 32..<60) != nil)
    #expect(swing.taken.map(\.heading) == [205.5, 300])
    #expect(!answer("s", 90))
  }
}
