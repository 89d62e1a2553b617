// Two antennas that measure which way the board points, five times a second and a tenth of a second late.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct MeasuredHeadingTests {
  /// The antennas of a run: when they are silent, and by how much they are wrong.
  private struct Antennas {
    var silence: ClosedRange<Double>?
    var error: (Double) -> Double = { _ in 0 }

    /// Runs a drive of 150 s, and gives `body` errors and half-widths in degrees.
    func run(
      _ board: SimulatedBoard, seed: UInt64, seconds: Double = 150,
      _ body: (Double, _ error: Double, _ halfWidth: Double?) -> Void
    ) -> AttitudeEstimator {
      var noise = Noise(seed + 100)
      var estimator = AttitudeEstimator()
      var next = 1.0
      let drive = CourseTests.Drive(seed: seed)
      board.run(drive.trajectory, seconds: seconds, seed: seed, &estimator) {
        t, truth, estimator in
        if t >= next {
          next += 0.2
          let then = t - 0.1
          if silence?.contains(t) != true {
            let heading = drive.heading(then) + error(t) + noise.vector(0.3 * degree).x
            estimator.update(
              heading: heading, deviation: 0.3 * degree, at: Timestamp(seconds: 100 + then))
          }
        }
        guard let estimate = estimator.headingOrNil(at: t) else { return }
        body(
          t, angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree,
          estimate.accuracy.map { $0 / degree })
      }
      return estimator
    }
  }

  private static func board(seed: UInt64) -> SimulatedBoard {
    var board = SimulatedBoard()
    board.hasMagnetometer = false
    var noise = Noise(seed + 70)
    board.bias = noise.vector(0.5 * degree)
    return board
  }

  @Test("without a magnetometer heading is the antennas', from standstill on", arguments: 1...6)
  func alone(seed: Int) {
    var (result, first) = (ErrorStatistics(), nil as Double?)
    _ = Antennas().run(Self.board(seed: UInt64(seed)), seed: UInt64(seed)) { t, error, width in
      first = first ?? t
      result.add(error, halfWidth: width)
    }
    print(
      "by antennas, seed \(seed): rms \(text(result.rms)) worst \(text(result.worst)) inside",
      "\(text(result.coverage)) half-width \(text(result.meanWidth)) from \(text(first ?? -1)) s")
    #expect((first ?? 99) < 4)
    #expect(result.rms < 0.7 && result.worst < 3)
    #expect(result.coverage >= 0.95)
    #expect(result.meanWidth < 4)
  }

  @Test("the gyro carries heading through an outage, and the bound grows", arguments: 1...4)
  func outage(seed: Int) throws {
    var result = ErrorStatistics()
    var widths: (before: Double?, after: Double?)
    let antennas = Antennas(silence: 60...120)
    _ = antennas.run(Self.board(seed: UInt64(seed)), seed: UInt64(seed)) { t, error, width in
      if t < 60 { widths.before = width } else if t < 120 { widths.after = width }
      if t > 60 { result.add(error, halfWidth: width) }
    }
    #expect(result.coverage >= 0.95 && result.worst < 6)
    #expect(try #require(widths.after) > 1.02 * #require(widths.before))
  }

  @Test(
    "a wrong ambiguity for 10 s is rejected, and the bound holds both headings meanwhile",
    arguments: [4.0, 8, 25, -90, 180], [1, 2])
  func wrongAmbiguity(degrees: Double, seed: Int) {
    var result = ErrorStatistics()
    var least = Double.infinity
    let antennas = Antennas(error: { (60...70).contains($0) ? degrees * degree : 0 })
    _ = antennas.run(Self.board(seed: UInt64(seed)), seed: UInt64(seed)) { t, error, width in
      result.add(error, halfWidth: width)
      if (60.5...70).contains(t) { least = min(least, width ?? .infinity) }
    }
    #expect(result.coverage >= 0.95)
    #expect(result.worst < 4, "\(result.worst)")
    #expect(least >= 0.9 * abs(degrees))
  }

  @Test("one at the start is found out by the right headings, and mended", arguments: [1, 2, 3])
  func wrongAtTheStart(seed: Int) {
    var (later, atTheEnd) = (ErrorStatistics(), ErrorStatistics())
    let antennas = Antennas(error: { $0 < 10 ? 40 * degree : 0 })
    _ = antennas.run(Self.board(seed: UInt64(seed)), seed: UInt64(seed)) { t, error, width in
      if t > 11 { later.add(error, halfWidth: width) }
      if t > 60 { atTheEnd.add(error, halfWidth: width) }
    }
    #expect(later.coverage >= 0.95)
    #expect(atTheEnd.coverage >= 0.95 && atTheEnd.rms < 1.5)
  }

  @Test("a magnetometer that the board's iron turns does not turn heading", arguments: [1, 2, 3])
  func iron(seed: Int) {
    var board = SimulatedBoard()
    board.offset = Vector3(12, -9, 6)
    board.quality = MagnetometerQuality(
      isCalibrated: true, offsetCovariance: Matrix3(diagonal: Vector3(100, 100, 100)),
      residual: 0.3)
    var result = ErrorStatistics()
    _ = Antennas().run(board, seed: UInt64(seed)) { t, error, width in
      if t > 20 { result.add(error, halfWidth: width) }
    }
    #expect(result.rms < 2.5)
    #expect(result.coverage >= 0.95)
  }

  @Test("what is no heading is rejected, and what is old is dropped")
  func hostile() {
    var estimator = AttitudeEstimator()
    for (heading, deviation) in [
      (Double.nan, 0.01), (.infinity, 0.01), (1, 0), (1, -1), (1, .nan), (1, 4),
    ] {
      estimator.update(heading: heading, deviation: deviation, at: Timestamp(seconds: 1))
    }
    #expect(estimator.state.counters.rejected == 6)
    estimator.update(heading: 1, deviation: 0.01, at: Timestamp(seconds: 3))
    estimator.update(heading: 1, deviation: 0.01, at: Timestamp(seconds: 2.9))
    #expect(estimator.state.counters.outOfOrder == 1)
    #expect(estimator.headingOrNil(at: 3) == nil)
  }
}
