import LinearAlgebra
import SensorTypes

/// Fills in the accuracies that a receiver does not report, and marks them as assumed; takes away a course that
/// means nothing.
///
/// With a dilution of precision, the accuracy is the dilution times a range error that depends on the kind of the fix. Without
/// one, it is ten times the range error: a bound that holds under trees and between houses. Both accuracies of a fix have one
/// mark: assumed as soon as one of them is.
enum AccuracyModel {
  /// The bound without a dilution, in range errors: horizontal and vertical.
  private static let bound = (horizontal: 10.0, vertical: 20.0)
  /// One sigma of a speed of which nothing is stated, m/s: a bound, used to judge a course and never published.
  static let worstSpeed = 0.5
  /// A course with a greater sigma than this says nothing, degrees: the error of the velocity is as large as the
  /// velocity.
  static let worstCourse = 45.0
  /// So many sigma of each axis hold a velocity's error in 95 of 100 cases (Rayleigh): at a standstill what is measured is
  /// error alone, and its direction no course.
  static let certainty = 2.45
  /// The age in seconds beyond which corrections are not counted on: receivers give an RTK solution up after as long (u-blox
  /// ZED-F9P integration manual: 60 s).
  private static let oldestCorrections = 60.0
  /// The same without a phase solution, and of precise point positioning: the longest-lived corrections of satellites are those of the
  /// ionosphere, 600 s (RTCA DO-229, timeouts of message 26).
  private static let oldestModel = 600.0
  /// The number of satellites with which a position and the receiver's clock can be solved.
  private static let leastSatellites = 4

  /// One sigma of a range in meters.
  ///
  /// - By code alone, 5: the GPS SPS Performance Standard (5th edition, appendix B) gives 4.5 to 6 with a consumer receiver's
  ///   noise and multipath.
  /// - With code corrections, 2.5: the noise and the multipath are left.
  /// - With carrier phases, 0.4 while they are ambiguous and 0.03 when they are not, a few times what data sheets promise under
  ///   an open sky (u-blox ZED-F9P: 0.01 m and 1 ppm of the baseline). Precise point positioning lies between them.
  static func rangeError(_ kind: FixKind?) -> Double {
    switch kind {
    case .rtkFixed: 0.03
    case .rtkFloat: 0.4
    case .precisePoint: 0.3
    case .differential: 2.5
    case .none?, .timeOnly, .simulated, .manual, .deadReckoning, .combined, .autonomous,
      .preciseCode,
      nil:
      5
    }
  }

  /// The same of a fix, whose kind counts as long as the rest of the fix agrees with it: with old corrections, with fewer satellites than
  /// a position takes, or with a dilution that is none, its range error is at least that by code alone.
  private static func rangeError(of fix: GNSSFix) -> Double {
    let isByPhase = fix.kind == .rtkFixed || fix.kind == .rtkFloat
    let isDoubtful =
      (fix.corrections?.age ?? 0) > (isByPhase ? oldestCorrections : oldestModel)
      || (fix.satellitesUsed ?? leastSatellites) < leastSatellites
      || fix.hdop != nil && usable(fix.hdop) == nil
    return isDoubtful ? max(rangeError(fix.kind), rangeError(nil)) : rangeError(fix.kind)
  }

  /// The horizontal accuracy of a fix of which neither accuracy nor dilution is known, in meters.
  static func worst(of kind: FixKind?) -> Double { bound.horizontal * rangeError(kind) }

  /// What a fix cannot be better than, in meters: a receiver that states less states its noise alone, or nothing true.
  ///
  /// - By code, 0.1: the best receivers state 0.2 to 0.5 m.
  /// - With carrier phases or corrections, 0.005: receivers state 0.01 m at the best (u-blox ZED-F9P), and precise point positioning,
  ///   which many name a differential fix, a little more.
  /// - Of what is no measurement, or whose kind is not said, nothing is known.
  private static func leastAccuracy(_ kind: FixKind?) -> Double {
    switch kind {
    case .autonomous, .preciseCode: 0.1
    case .combined, .differential, .precisePoint, .rtkFloat, .rtkFixed: 0.005
    case .none?, .timeOnly, .simulated, .manual, .deadReckoning, nil: 0
    }
  }

  static func completed(_ fix: GNSSFix) -> GNSSFix {
    guard fix.latitude != nil else { return fix }
    var fix = fix
    let least = leastAccuracy(fix.kind)
    if let horizontal = fix.horizontalAccuracy, horizontal < least { fix.horizontalAccuracy = nil }
    if let vertical = fix.verticalAccuracy, vertical < least { fix.verticalAccuracy = nil }
    let rangeError = rangeError(of: fix)
    if fix.horizontalAccuracy == nil {
      let assumed = assumed(usable(fix.hdop), rangeError, bound.horizontal)
      fix.horizontalAccuracy = assumed.accuracy
      fix.accuracySource = assumed.source
    }
    if fix.mode == .threeDimensional, (fix.altitude ?? fix.ellipsoidalAltitude) != nil,
      fix.verticalAccuracy == nil
    {
      // The vertical part of the same geometry; 1.5 times the horizontal where only that is known.
      let dilution = usable(fix.vdop) ?? usable(fix.hdop).map { 1.5 * $0 }
      let assumed = assumed(dilution, rangeError, bound.vertical)
      fix.verticalAccuracy = assumed.accuracy
      if !fix.accuracySource.isAssumed || assumed.source == .worstCase {
        fix.accuracySource = assumed.source
      }
    }
    judgeCourse(of: &fix)
    return fix
  }

  private static func usable(_ dilution: Double?) -> Double? {
    dilution.flatMap { $0 > 0 && $0 < 50 ? $0 : nil }
  }

  private static func assumed(
    _ dilution: Double?, _ rangeError: Double, _ bound: Double
  ) -> (accuracy: Double, source: GNSSFix.AccuracySource) {
    dilution.map { ($0 * rangeError, .dilution) } ?? (bound * rangeError, .worstCase)
  }

  // The direction of a velocity is as good as the velocity: the angle that its error has at its tip.
  private static func judgeCourse(of fix: inout GNSSFix) {
    guard fix.course != nil else { return }
    if let speed = fix.speed {
      if fix.courseAccuracy == nil, let accuracy = fix.speedAccuracy {
        fix.courseAccuracy = atan2(accuracy, speed) * 180 / .pi
      }
      let error = fix.speedAccuracy.map { certainty * $0 } ?? worstSpeed
      if error < speed, fix.courseAccuracy ?? 0 < worstCourse { return }
    } else if fix.courseAccuracy ?? 0 < worstCourse {
      return
    }
    fix.course = nil
    fix.courseAccuracy = nil
  }
}
