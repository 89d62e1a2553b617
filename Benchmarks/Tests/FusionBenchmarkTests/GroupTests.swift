// The guard: no group of recordings gets worse so that another gets better.

import Foundation
import FusionBenchmark
import LinearAlgebra
import SensorTypes
import Testing

struct GroupTests {
  /// The data sets; `nil` where nobody has them.
  private static let data: URL? = {
    let shared = ProcessInfo.processInfo.environment["LODESTONE_SHARED"] ?? "../shared"
    let data = URL(fileURLWithPath: shared + "/data")
    let folders = ["broad", "repoimu", "phones"].map { data.appendingPathComponent($0).path }
    return folders.allSatisfy(FileManager.default.fileExists(atPath:)) ? data : nil
  }()

  /// What a group may come to.
  struct Limit: Sendable, CustomStringConvertible {
    var name: String
    /// Degrees: 3 % above what the filter came to when it was measured last.
    var heading: Double
    var inclination: Double
    /// The largest mean half-width of the bound, degrees.
    var width: Double
    /// Share without a bound.
    var invalid = 0.02
    /// The most trials whose bound may hold in less than nine rows of ten.
    var uncovered = 1

    var description: String { name }
  }

  static let causal = [
    Limit(name: "broad", heading: 0.98, inclination: 0.62, width: 5.2),
    Limit(name: "start5", heading: 4.87, inclination: 2.11, width: 11.7, uncovered: 2),
    Limit(name: "start17", heading: 4.32, inclination: 2.16, width: 14.7),
    Limit(name: "repoimu", heading: 0.77, inclination: 0.81, width: 4.9),
    Limit(name: "repoimu-unclipped", heading: 0.65, inclination: 0.55, width: 3.4),
    Limit(name: "walking", heading: 3.24, inclination: 1.47, width: 9.0),
    Limit(name: "running", heading: 2.54, inclination: 1.30, width: 10.3),
    Limit(name: "magnets", heading: 7.78, inclination: 1.81, width: 19.3, invalid: 0.14),
    Limit(
      name: "uncalibrated", heading: 5.77, inclination: 1.72, width: 15.2, invalid: 0.08,
      uncovered: 3),
  ]

  static let smoothed = [
    Limit(name: "broad", heading: 0.99, inclination: 0.56, width: 6.7),
    Limit(name: "start5", heading: 1.94, inclination: 0.62, width: 9.1),
    Limit(name: "start17", heading: 2.01, inclination: 0.59, width: 12.2),
    Limit(name: "repoimu", heading: 0.58, inclination: 0.61, width: 6.1),
    Limit(name: "repoimu-unclipped", heading: 0.44, inclination: 0.50, width: 4.8),
    Limit(name: "walking", heading: 2.34, inclination: 1.15, width: 8.1),
    Limit(name: "running", heading: 1.84, inclination: 1.22, width: 8.6),
    Limit(
      name: "magnets", heading: 4.06, inclination: 1.25, width: 17.0, invalid: 0.40, uncovered: 3),
    Limit(name: "uncalibrated", heading: 2.87, inclination: 1.21, width: 12.7, invalid: 0.19),
  ]

  @Test(
    "live: each group of recordings is as good as it was, and 95 of 100 rows are inside the bar",
    .enabled(if: data != nil, "skipped: no recordings below LODESTONE_SHARED"), arguments: causal)
  func live(limit: Limit) throws { try check(limit, smooth: false) }

  @Test(
    "smoothed: the same",
    .enabled(if: data != nil, "skipped: no recordings below LODESTONE_SHARED"), arguments: smoothed)
  func offline(limit: Limit) throws { try check(limit, smooth: true) }

  private func check(_ limit: Limit, smooth: Bool) throws {
    let data = try #require(Self.data)
    let group = try #require(TrialGroup.all.first { $0.name == limit.name })
    let run = try group.score(in: data, smooth: smooth)
    print(smooth ? "smoothed" : "live", Report.group(limit.name, run)[0])
    let rms = try #require(run.rms)
    let (coverage, width) = try (#require(run.coverage), #require(run.width))
    let invalid = try #require(run.invalid)
    #expect(rms.x <= limit.heading)
    #expect(rms.y <= limit.inclination)
    #expect(coverage >= 0.95)
    // The smoother gives none.
    if !smooth { #expect(run.tiltCoverage ?? 0 >= 0.95) }
    #expect(width <= limit.width)
    #expect(invalid <= limit.invalid)
    #expect(run.trials(coveredLessThan: 0.9).count <= limit.uncovered)
  }

  @Test("every group has a limit, and every limit a group")
  func complete() {
    let names = TrialGroup.all.map(\.name)
    #expect(Self.causal.map(\.name) == names)
    #expect(Self.smoothed.map(\.name) == names)
  }

  @Test(
    "trials that are made: as small as they were, and inside the bar",
    arguments: [
      (SyntheticTrial.Kind.turnedField, 0.5, 0.1), (.biasedWalk, 0.3, 0.1), (.clipping, 1.8, 1.8),
      (.magnetPassed, 1.5, 0.1),
    ])
  func synthetic(kind: SyntheticTrial.Kind, heading: Double, inclination: Double) throws {
    let run = SyntheticTrial.score(SyntheticTrial.all(of: kind), smooth: false)
    print(Report.group(kind.rawValue, run)[0])
    let rms = try #require(run.rms)
    #expect(rms.x < heading && rms.y < inclination)
    #expect(run.worstCoverage ?? 0 > 0.95)
  }

  @Test(
    "vehicles with no receiver: no worse than they were, and mostly inside the bar",
    arguments: [
      (SyntheticTrial.Kind.drive, SIMD3(6.9, 4.3, 19.4), 0.95),
      (.bus, SIMD3(0.3, 0.3, 3.2), 0.99), (.road, SIMD3(0.6, 0.4, 3.3), 0.99),
      (.gravel, SIMD3(3.1, 1.4, 5.6), 0.95), (.train, SIMD3(1.7, 1.3, 5.3), 0.99),
      (.circles, SIMD3(0.8, 0.5, 3.2), 0.99), (.swell, SIMD3(2.8, 1.4, 7.3), 0.95),
    ])
  func vehicles(kind: SyntheticTrial.Kind, most: SIMD3<Double>, inside: Double) throws {
    try check(kind, smooth: false, most: most, inside: inside)
  }

  @Test(
    "vehicles with no receiver, smoothed: the same",
    arguments: [
      (SyntheticTrial.Kind.drive, SIMD3(5.4, 2.8, 22.8)), (.bus, SIMD3(0.1, 0.1, 5)),
      (.road, SIMD3(0.2, 0.2, 5)), (.gravel, SIMD3(1.2, 0.7, 6.3)),
      (.train, SIMD3(2.1, 1.7, 6.7)), (.circles, SIMD3(0.6, 0.4, 4.8)),
      (.swell, SIMD3(0.2, 0.2, 10.2)),
    ])
  func smoothedVehicles(kind: SyntheticTrial.Kind, most: SIMD3<Double>) throws {
    try check(kind, smooth: true, most: most, inside: 0.98)
  }

  private func check(
    _ kind: SyntheticTrial.Kind, smooth: Bool, most: SIMD3<Double>, inside: Double
  ) throws {
    let run = SyntheticTrial.score(SyntheticTrial.all(of: kind), smooth: smooth)
    print(smooth ? "smoothed" : "live", Report.group(kind.rawValue, run)[0])
    let (rms, width) = try (#require(run.rms), #require(run.width))
    #expect(rms.x < most.x && rms.y < most.y && width < most.z)
    #expect(run.coverage ?? 0 > inside && run.trials(coveredLessThan: 0.9).count <= 1)
    #expect(run.invalid ?? 1 < 0.02)
  }

  @Test("a drive goes where its legs say, and its acceleration leads there")
  func drives() {
    for drive in [SyntheticDrive.weaving, .bus, .train, .circles] {
      let step = 0.01
      var velocity = Vector3(sin(0.4), cos(0.4), 0) * drive.speed(at: 0)
      for t in stride(from: step / 2, to: 89, by: step) {
        velocity += drive.acceleration(at: t, origin: 0.4) * step
      }
      let course = 0.4 + drive.course(at: 89)
      let end = Vector3(sin(course), cos(course), 0) * drive.speed(at: 89)
      #expect((velocity - end).length < 0.1)
    }
    // Three corners in 90 s.
    #expect(abs(SyntheticDrive.bus.course(at: 89.9) - 1.5 * .pi) < 1e-9)
    #expect(SyntheticDrive.bus.speed(at: 3) == 0 && SyntheticDrive.bus.speed(at: 14) == 10)
    #expect(abs(SyntheticDrive.train.speed(at: 22.5) - 11) < 1e-9)
    #expect(abs(SyntheticDrive.circles.course(at: 52.5) - 8) < 1e-9)
  }

  @Test("a made trial's rate turns its attitude, and its force is gravity where it lies still")
  func made() throws {
    let trial = SyntheticTrial(.biasedWalk, seed: 3)
    var attitude = try #require(trial.rows[0].truth)
    for row in trial.rows.dropFirst() {
      let rate = try #require(row.rate)
      attitude = attitude * Quaternion(rotationVector: rate * 0.01)
      let truth = try #require(row.truth)
      // 1.5 deg/s of bias, and nothing else.
      let error = (attitude * truth.conjugate).rotationVector.length
      #expect(error < 0.0012)
      attitude = truth
    }
    #expect(trial.rows == SyntheticTrial(.biasedWalk, seed: 3).rows)
    #expect(trial.rows != SyntheticTrial(.biasedWalk, seed: 4).rows)
    let still = SyntheticTrial(.clipping, seed: 1).rows.filter {
      ($0.time.seconds - 100).truncatingRemainder(dividingBy: 3) > 1.1
    }
    for row in still { #expect(abs(row.force.length - 9.80665) < 0.2) }
    let clipped = SyntheticTrial(.clipping, seed: 1).rows.filter { !$0.clipped.angularRate.isEmpty }
    #expect(clipped.count > 300)
  }
}
