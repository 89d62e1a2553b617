// What stands between an observation and one client: the filters, and the rhythm of altitude.

import LinearAlgebra
import SensorTypes

/// Decides which positions a client gets.
struct LocationFilter: Sendable {
  /// The last one that the client got.
  private(set) var delivered: LocationReport?

  /// Whether the client gets `report`: the first, those at least `filter` metres from the last that was
  /// delivered, and those that are more accurate than it.
  mutating func accepts(
    _ report: LocationReport, filter: Double, distance: LocationEngine.Distance
  ) -> Bool {
    if filter > 0, let delivered {
      let has = report.horizontalAccuracy ?? .infinity
      let had = delivered.horizontalAccuracy ?? .infinity
      guard has < had || distance(delivered.position, report.position) >= filter else {
        return false
      }
    }
    delivered = report
    return true
  }
}

/// Decides which headings a client gets.
struct HeadingFilter: Sendable {
  private var delivered: HeadingReport?

  /// Whether the client gets `report`: the first, those that differ from the last by more than `filter`
  /// degrees, and those that begin or cease to be valid.
  mutating func accepts(_ report: HeadingReport, filter: Double) -> Bool {
    if filter >= 0, let delivered {
      let isTurned =
        Self.turn(delivered.magneticHeading, report.magneticHeading) > filter
        || Self.turn(delivered.trueHeading, report.trueHeading) > filter
      let changesValidity =
        (delivered.accuracy == nil) != (report.accuracy == nil)
        || (delivered.trueHeading == nil) != (report.trueHeading == nil)
      guard isTurned || changesValidity else { return false }
    }
    delivered = report
    return true
  }

  private static func turn(_ a: Double?, _ b: Double?) -> Double {
    guard let a, let b else { return 0 }
    return abs((a - b).remainder(dividingBy: 360))
  }
}

/// Gives a client one altitude a second, relative to the first.
struct AltitudeRhythm: Sendable {
  private static let second: Int64 = 1_000_000_000
  /// How much too early a sample may be and still count for its second: a barometer that runs at one hertz
  /// is never quite on time, and must not lose every other sample. Half the spacing of the samples at
  /// most: of a faster one the nearest counts.
  private static let longestTolerance: Int64 = 100_000_000

  private var zero: Double?
  private var due = Timestamp(nanoseconds: 0)
  private var last = Timestamp(nanoseconds: 0)

  /// The report for the client, if one is due at the time of `estimate`.
  mutating func report(_ estimate: AltitudeEstimate) -> AltitudeReport? {
    guard estimate.relativeAltitude.isFinite, estimate.pressure.isFinite else { return nil }
    let spacing = estimate.time.nanoseconds &- last.nanoseconds
    let tolerance = min(Self.longestTolerance, max(0, spacing / 2))
    last = estimate.time
    let zero: Double
    if let known = self.zero {
      zero = known
      let late = estimate.time.nanoseconds &- due.nanoseconds
      guard late >= -tolerance || late < -2 * Self.second else { return nil }
      // On time: the next one is a second later than this one *should* have been, so that the rhythm
      // does not drift. After a gap the rhythm begins anew.
      let isOnTime = late >= -tolerance && late < Self.second - tolerance
      let from = isOnTime ? due.nanoseconds : estimate.time.nanoseconds
      due = Timestamp(nanoseconds: from &+ Self.second)
    } else {
      zero = estimate.relativeAltitude
      self.zero = zero
      due = Timestamp(nanoseconds: estimate.time.nanoseconds &+ Self.second)
    }
    return AltitudeReport(
      time: estimate.time, relativeAltitude: estimate.relativeAltitude - zero,
      pressure: estimate.pressure)
  }
}

extension HeadingOrientation {
  /// The reference edge in the body frame.
  var axis: Vector3 {
    switch self {
    case .portrait: Vector3(0, 1, 0)
    case .portraitUpsideDown: Vector3(0, -1, 0)
    case .landscapeLeft: Vector3(1, 0, 0)
    case .landscapeRight: Vector3(-1, 0, 0)
    }
  }
}

extension HeadingReport {
  /// Cosine of the steepest elevation at which an edge still has a direction: 89 degrees.
  private static let steepest = 0.0174524

  /// The estimate as seen from the edge of `orientation`; `nil` where it holds no number.
  init?(_ estimate: HeadingEstimate, orientation: HeadingOrientation) {
    guard estimate.magneticHeading.isFinite, estimate.field?.isFinite ?? true else { return nil }
    var magnetic = estimate.magneticHeading
    var isDefined = true
    if orientation != .portrait {
      let edge = estimate.attitude.rotate(orientation.axis)
      guard edge.isFinite else { return nil }
      magnetic = atan2(edge.x, edge.y)
      isDefined = hypot(edge.x, edge.y) > Self.steepest
    }
    let accuracy = estimate.accuracy.flatMap { $0.isFinite && isDefined ? $0 : nil }
    // The angle between the two norths is the same from every edge.
    let declination = estimate.trueHeading.map { $0 - estimate.magneticHeading }
      .flatMap { $0.isFinite ? $0 : nil }
    self.init(
      time: estimate.time, magneticHeading: Self.degrees(magnetic),
      trueHeading: declination.map { Self.degrees(magnetic + $0) },
      accuracy: accuracy.map { $0 * 180 / .pi },
      x: estimate.field?.x, y: estimate.field?.y, z: estimate.field?.z)
  }

  /// Radians as degrees, 0 up to 360.
  static func degrees(_ radians: Double) -> Double {
    let degrees = (radians * 180 / .pi).truncatingRemainder(dividingBy: 360)
    let positive = degrees < 0 ? degrees + 360 : degrees
    return positive < 360 ? positive : 0
  }
}
