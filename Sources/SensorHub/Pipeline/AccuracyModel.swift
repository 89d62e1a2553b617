import SensorTypes

/// Fills in the accuracies that a receiver does not state, and marks them as assumed.
///
/// From dilution: the user-equivalent range error of a single-frequency receiver under open sky, 5 m one
/// sigma (GPS SPS Performance Standard, 5th edition, appendix B gives 4.5 to 6 m with a consumer
/// receiver's noise and multipath). Without dilution: a bound that a fix under trees and between houses
/// keeps.
enum AccuracyModel {
  static let rangeError = 5.0
  static let worstHorizontal = 50.0
  static let worstVertical = 100.0

  static func completed(_ fix: GNSSFix) -> GNSSFix {
    guard fix.latitude != nil, fix.horizontalAccuracy == nil else { return fix }
    var fix = fix
    if let hdop = fix.hdop, hdop > 0, hdop < 50 {
      fix.horizontalAccuracy = hdop * rangeError
      fix.accuracySource = .dilution
    } else {
      fix.horizontalAccuracy = worstHorizontal
      fix.accuracySource = .worstCase
    }
    if fix.mode == .threeDimensional, fix.altitude != nil, fix.verticalAccuracy == nil {
      // The vertical part of the same geometry; 1.5 times the horizontal where only that is known.
      let vdop = fix.vdop ?? fix.hdop.map { 1.5 * $0 }
      fix.verticalAccuracy = vdop.map { $0 * rangeError } ?? worstVertical
    }
    return fix
  }
}
