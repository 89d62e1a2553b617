// Fixes taken out of real logs, 30 s at a time: where the carried position is, and what its circle is worth.

import Foundation
import Geodesy
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct PhoneLossTests {
  static let seed: UInt64 = 7
  static let loss = 30

  static let losses = 300

  /// What the losses of one log came to.
  struct Result {
    /// Seconds of all losses at which the log's fix lay inside the circle, and how many there were.
    var inside = 0
    var seconds = 0
    /// After 30 s, metres: the circle's radius and the distance from the log's fix, for the filter, for the last fix
    /// held, and for straight on by the last speed and course.
    var radius: [Double] = []
    var carried: [Double] = []
    var held: [Double] = []
    var straight: [Double] = []

    var share: Double { 100 * Double(inside) / Double(max(1, seconds)) }
  }

  /// Feeds a log, and at places drawn by a seed lets a copy of the estimator go on without fixes.
  ///
  /// A fix that states more than 100 m is of cells and not of satellites: no truth, and nothing to carry on from.
  static func run(_ rows: [PhoneRow], seed: UInt64, usesGyro: Bool = true) -> Result {
    func isTruth(_ row: PhoneRow) -> Bool { (row.fix?.horizontalAccuracy ?? .infinity) <= 100 }
    var result = Result()
    let candidates = rows.indices.filter {
      $0 > 60 && $0 + loss < rows.count - 1 && isTruth(rows[$0])
    }
    guard !candidates.isEmpty else { return result }
    var generator = Noise(seed)
    var places: Set<Int> = []
    while places.count < min(losses, candidates.count) {
      places.insert(candidates[Int(generator.next() % UInt64(candidates.count))])
    }
    var estimator = PositionEstimator()
    for (index, row) in rows.enumerated() {
      feed(row, to: &estimator, usesGyro: usesGyro, fixes: true)
      guard places.contains(index), let last = row.fix else { continue }
      // Trials teach nothing while no fix comes, and cost most of the time.
      var state = estimator.state
      state.trials.end()
      var lost = PositionEstimator(state: state)
      for row in rows[(index + 1)...(index + loss)] {
        feed(row, to: &lost, usesGyro: usesGyro, fixes: false)
        guard isTruth(row), let truth = row.fix, let estimate = lost.estimate(at: row.time) else {
          continue
        }
        let error = distance(estimate.latitude, estimate.longitude, truth)
        result.seconds += 1
        if error <= estimate.horizontalAccuracy { result.inside += 1 }
        guard row.time.seconds(since: rows[index].time).rounded() == Double(loss) else { continue }
        result.radius.append(estimate.horizontalAccuracy)
        result.carried.append(error)
        result.held.append(distance(last.latitude ?? 0, last.longitude ?? 0, truth))
        let on = Geodesic.direct(
          from: Position(latitude: last.latitude ?? 0, longitude: last.longitude ?? 0),
          azimuth: last.course ?? 0, distance: Double(loss) * (last.speed ?? 0)
        ).position
        result.straight.append(distance(on.latitude, on.longitude, truth))
      }
    }
    return result
  }

  private static func feed(
    _ row: PhoneRow, to estimator: inout PositionEstimator, usesGyro: Bool, fixes: Bool
  ) {
    if usesGyro, let rate = row.turnRate { estimator.update(turnRate: rate, at: row.time) }
    if fixes, let fix = row.fix { estimator.update(fix, at: row.time) }
  }

  private static func distance(_ latitude: Double, _ longitude: Double, _ fix: GNSSFix) -> Double {
    Geodesic.inverse(
      from: Position(latitude: latitude, longitude: longitude),
      to: Position(latitude: fix.latitude ?? 0, longitude: fix.longitude ?? 0)
    ).distance
  }

  static func median(_ values: [Double]) -> Double {
    values.isEmpty ? .nan : values.sorted()[values.count / 2]
  }

  @Test(
    "30 s without fixes, at random places of every log",
    .enabled(if: !PhoneLog.all.isEmpty, "the phone logs are not there: LODESTONE_SHARED"),
    arguments: PhoneLog.all.map(\.lastPathComponent))
  func losses(_ name: String) throws {
    let log = try #require(PhoneLog.all.first { $0.lastPathComponent == name })
    let rows = try PhoneLog.rows(of: log)
    for usesGyro in [true, false] {
      let result = Self.run(rows, seed: Self.seed, usesGyro: usesGyro)
      let numbers = [result.radius, result.carried, result.held, result.straight].map {
        (Self.median($0) * 10).rounded() / 10
      }
      let share = (result.share * 10).rounded() / 10
      print(
        "\(name) seed \(Self.seed) \(usesGyro ? "gyro" : "no gyro"): \(result.carried.count) losses, inside "
          + "\(share) %; after 30 s, medians: radius \(numbers[0]) m, error \(numbers[1]) m, "
          + "last fix held \(numbers[2]) m, straight on \(numbers[3]) m")
      try #require(result.seconds > 300)
      guard usesGyro else { continue }
      #expect((60...80).contains(result.share))
      #expect(Self.median(result.radius) <= 2 * Self.median(result.carried))
    }
  }
}
