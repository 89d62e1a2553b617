// The two heights of a fix: above the sea and above the ellipsoid.

import Geodesy
import SensorTypes

/// Gives a fix the height that its receiver does not say, by EGM96, and looks at the geoid of one that says both.
///
/// UBX NAV-SOL and RMC with GNS have one of them only. A receiver's own separation wins where it is given. One that
/// is grossly off the geoid (0 in many a receiver that has no table) is said once, and the heights are believed as far as the
/// two agree.
struct SeaLevel: Sendable {
  /// By how much a receiver's table may miss EGM96, metres: a coarse one does so by several. Chosen.
  static let grossError = 30.0

  /// No board is higher, metres: beyond every orbit that a receiver works in.
  static let highest = 1e8

  private var hasTold = false

  /// The fix with both heights, and what a person should know of them.
  mutating func completed(_ fix: GNSSFix) -> (fix: GNSSFix, note: String?) {
    guard fix.mode == .threeDimensional, let latitude = fix.latitude, let longitude = fix.longitude,
      fix.altitude != nil || fix.ellipsoidalAltitude != nil
    else { return (fix, nil) }
    let undulation = Geoid.egm96.undulation(latitude: latitude, longitude: longitude)
    guard undulation.isFinite else { return (fix, nil) }
    var fix = fix
    // Whatever says such a height says none.
    if abs(fix.altitude ?? 0) > Self.highest || abs(fix.ellipsoidalAltitude ?? 0) > Self.highest {
      (fix.altitude, fix.ellipsoidalAltitude, fix.verticalAccuracy) = (nil, nil, nil)
      return (fix, nil)
    }
    guard let altitude = fix.altitude, let ellipsoidal = fix.ellipsoidalAltitude else {
      fix.altitude = fix.altitude ?? fix.ellipsoidalAltitude.map { $0 - undulation }
      fix.ellipsoidalAltitude = fix.ellipsoidalAltitude ?? fix.altitude.map { $0 + undulation }
      return (fix, nil)
    }
    let error = abs(ellipsoidal - altitude - undulation)
    guard error > Self.grossError else { return (fix, nil) }
    // Which of the two is wrong nobody knows.
    fix.verticalAccuracy = fix.verticalAccuracy.map { ($0 * $0 + error * error).squareRoot() }
    guard !hasTold else { return (fix, nil) }
    hasTold = true
    return (
      fix,
      "the receiver has the sea \(Int((ellipsoidal - altitude).rounded())) m above the ellipsoid where EGM96 has it "
        + "\(Int(undulation.rounded())) m: its heights are off by as much"
    )
  }
}
