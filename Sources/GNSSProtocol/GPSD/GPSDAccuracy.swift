import SensorTypes

/// What gpsd's error estimates are worth.
///
/// gpsd_json(5) calls them 95 % figures by guess, and is right about those that it makes itself: without a
/// word of the receiver it multiplies a dilution by a range error (`gpsd_error_model` in libgpsd_core.c:
/// `epx`, `epy` 15 m, `epv` 23 m, `eph` 19 m, a quarter of that with `status` 2; "95% confidence"). What the
/// receiver says it passes on as it is: of a u-blox receiver the accuracies of NAV-PVT, which are 68 % and
/// one sigma (driver_ubx.c). So the two are told by the dilution that was reported:
///
/// - a figure that is the dilution's multiple is no measurement of anything. The dilutions themselves are
///   passed on, and the accuracy is left to those who assume one from them;
/// - any other is the receiver's. It is taken as 68 % and not made smaller: a bar may be too wide, never too
///   narrow;
/// - GST's standard deviations are the receiver's own and go first.
enum GPSDAccuracy {
  private static let horizontalRangeError = 15.0
  private static let verticalRangeError = 23.0
  private static let positionRangeError = 19.0
  private static let differentialShare = 0.25
  /// 12 m at 66 % where there are 23 m at 95 %: gpsd(8), "Accuracy".
  private static let verticalShare = 12.0 / 23
  /// The 68 % radius of two axes, in their root mean square.
  private static let radiusOfAxes = 1.51
  /// Dilutions are printed to a hundredth, estimates to a millimetre.
  private static let dilutionStep = 0.01
  private static let estimateStep = 0.001

  static func apply(
    _ position: GPSDPosition, _ sky: GPSDReport.Sky, _ noise: PseudorangeNoise?,
    to fix: inout GNSSFix
  ) {
    guard fix.latitude != nil else { return }
    if let noise, let north = positive(noise.latitude), let east = positive(noise.longitude) {
      fix.horizontalAccuracy = radius(north, east)
      fix.verticalAccuracy = fix.altitude == nil ? nil : positive(noise.altitude)
      fix.accuracySource = .receiver
    } else if let eph = positive(position.eph) {
      take(
        eph, isModelled: isModelled(eph, sky.hdop, positionRangeError, position.status),
        isTold: sky.hdop != nil, &fix)
    } else if let east = positive(position.epx), let north = positive(position.epy) {
      // Before 3.20 gpsd had no `eph`.
      let isModelled =
        isModelled(east, sky.xdop, horizontalRangeError, position.status)
        && isModelled(north, sky.ydop, horizontalRangeError, position.status)
      take(radius(north, east), isModelled: isModelled, isTold: sky.xdop != nil, &fix)
    }
    guard fix.horizontalAccuracy != nil else { return }
    if fix.altitude != nil, fix.verticalAccuracy == nil, let epv = positive(position.epv) {
      fix.verticalAccuracy =
        isModelled(epv, sky.vdop, verticalRangeError, position.status)
        ? epv * verticalShare : epv
    }
    // gpsd makes one up from two positions' errors where the receiver has none; that is larger than either.
    guard fix.accuracySource == .receiver, let eps = positive(position.eps),
      eps < max(position.epx ?? .infinity, position.epy ?? .infinity)
    else { return }
    fix.speedAccuracy = eps
    fix.courseAccuracy = positive(position.epd).map { min($0, 180) }
  }

  private static func take(
    _ radius: Double, isModelled: Bool, isTold: Bool, _ fix: inout GNSSFix
  ) {
    guard !isModelled else { return }
    fix.horizontalAccuracy = radius
    // Before the first SKY nobody can tell.
    fix.accuracySource = isTold ? .receiver : .dilution
  }

  private static func isModelled(
    _ estimate: Double, _ dilution: Double?, _ rangeError: Double, _ status: Int?
  ) -> Bool {
    guard let dilution = positive(dilution) else { return false }
    let rangeError = status == 2 ? rangeError * differentialShare : rangeError
    return abs(estimate - rangeError * dilution)
      <= 0.5 * (rangeError * dilutionStep + estimateStep) + 1e-9
  }

  private static func radius(_ north: Double, _ east: Double) -> Double {
    radiusOfAxes * ((north * north + east * east) / 2).squareRoot()
  }

  private static func positive(_ value: Double?) -> Double? {
    value.flatMap { $0 > 0 && $0 < 1e7 ? $0 : nil }
  }
}
