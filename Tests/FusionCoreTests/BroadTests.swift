// The 15 shared trials of the BROAD data set: real sensors, optical truth (data README, "broad").

import Foundation
import LinearAlgebra
import SensorTypes
import SharedData
import Testing

@testable import FusionCore

@Suite struct BroadTests {
  static var trials: [URL] { SharedData.files(in: "data/broad", extension: "f32") }

  static let isReleaseBuild: Bool = {
    #if DEBUG
      return false
    #else
      return true
    #endif
  }()

  struct Result {
    var heading = ErrorStatistics()
    var inclination = ErrorStatistics()
    var total = ErrorStatistics()
    var samples = 0
    var nanoseconds = 0.0
  }

  /// One trial, cold start, error as BROAD defines it.
  ///
  /// A row's rate is the mean over the interval that ends with the row, so its time is half a
  /// sample earlier, and attitude is asked for at the row's own time.
  ///
  /// Smoothed, the time is that of filter and smoother together.
  static func run(_ url: URL, smooth: Bool = false) throws -> Result {
    let bytes = try Data(contentsOf: url)
    let values: [Double] = bytes.withUnsafeBytes { raw in
      (0..<raw.count / 4).map {
        let bits = raw.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)
        return Double(Float(bitPattern: UInt32(littleEndian: bits)))
      }
    }
    let quality = MagnetometerQuality(
      isCalibrated: true, offsetCovariance: Matrix3(diagonal: Vector3(repeating: 0.25)),
      residual: 0)
    var estimator =
      smooth ? AttitudeEstimator(.offline, keepsHistory: true) : AttitudeEstimator()
    var waiting: [(time: Timestamp, truth: Quaternion, heading: HeadingEstimate?)] = []
    var result = Result()
    result.samples = values.count / 14
    let clock = SuspendingClock()
    let began = clock.now
    for row in 0..<result.samples {
      func vector(_ column: Int) -> Vector3 {
        let at = 14 * row + column
        return Vector3(values[at], values[at + 1], values[at + 2])
      }
      let time = Timestamp(nanoseconds: Int64(row) * 3_500_000)
      let middle = Timestamp(nanoseconds: Int64(row) * 3_500_000 - 1_750_000)
      estimator.update(angularRate: vector(0), at: middle)
      estimator.update(acceleration: vector(3), at: time)
      estimator.update(magneticField: vector(6), at: time, quality: quality)
      let w = values[14 * row + 9]
      guard values[14 * row + 13] == 1, !w.isNaN, let attitude = estimator.attitude(at: time)
      else { continue }
      let truth = Quaternion(w: w, vector: vector(10))
      let estimate = try? estimator.heading(at: time).get()
      if smooth {
        waiting.append((time, truth, estimate))
      } else {
        judge(attitude, truth, estimate)
      }
    }
    if smooth {
      let smoother = AttitudeSmoother(estimator)
      for (time, truth, causal) in waiting {
        let attitude = try #require(smoother.attitude(at: time))
        judge(attitude, truth, causal.map { smoother.heading($0) })
      }
    }
    func judge(_ attitude: Quaternion, _ truth: Quaternion, _ estimate: HeadingEstimate?) {
      let error = attitude * truth.conjugate
      let (ew, ez) = (error.w, error.vector.z)
      result.total.add(2 * acos(min(1, abs(ew))) / degree)
      result.inclination.add(2 * acos(min(1, (ew * ew + ez * ez).squareRoot())) / degree)
      result.heading.add(
        2 * atan(ez / ew) / degree, halfWidth: estimate?.accuracy.map { $0 / degree })
    }
    let elapsed = (clock.now - began).components
    let spent = Double(elapsed.seconds) * 1e9 + Double(elapsed.attoseconds) * 1e-9
    result.nanoseconds = spent / Double(max(result.samples, 1))
    return result
  }

  @Test(
    .enabled(if: isReleaseBuild, "skipped: replayed in release mode only, debug is too slow"),
    .enabled(if: !trials.isEmpty, "skipped: no BROAD trials below LODESTONE_SHARED"))
  func theSharedTrialsComeOutBetterThanWithVQF() throws {
    let mean = try Self.mean(smooth: false)
    // VQF 2.1.2 on the same files: 2.46, 0.76, 2.63.
    #expect(mean[0] <= 1.4)
    #expect(mean[1] <= 0.68)
    #expect(mean[2] <= 1.6)
    #expect(mean[3] >= 0.95)
  }

  @Test(
    .enabled(if: isReleaseBuild, "skipped: replayed in release mode only, debug is too slow"),
    .enabled(if: !trials.isEmpty, "skipped: no BROAD trials below LODESTONE_SHARED"))
  func smoothedTheyComeOutBetterThanWithTheFilter() throws {
    let mean = try Self.mean(smooth: true)
    #expect(mean[0] <= 1)
    #expect(mean[1] <= 0.58)
    #expect(mean[2] <= 1.2)
    #expect(mean[3] >= 0.95)
  }

  /// Heading, inclination, total, and the share inside the bound; mean over trials.
  private static func mean(smooth: Bool) throws -> SIMD4<Double> {
    var sum = SIMD4<Double>.zero
    var speed = 0.0
    for trial in trials {
      let result = try run(trial, smooth: smooth)
      let name = trial.deletingPathExtension().lastPathComponent
      print(
        name, "heading \(text(result.heading.rms)) inclination \(text(result.inclination.rms))",
        "total \(text(result.total.rms)) inside \(text(result.heading.coverage))",
        "half-width \(text(result.heading.meanWidth))")
      sum += SIMD4(
        result.heading.rms, result.inclination.rms, result.total.rms, result.heading.coverage)
      speed += result.nanoseconds / Double(trials.count)
    }
    sum /= Double(trials.count)
    print(
      "mean of \(trials.count)\(smooth ? ", smoothed" : ""): heading \(text(sum[0]))",
      "inclination \(text(sum[1])) total \(text(sum[2])) inside 95 %: \(text(sum[3])),",
      "\(speed.rounded()) ns a row")
    return sum
  }
}
