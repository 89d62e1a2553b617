package import SensorTypes

extension GNSSFix {
  /// An epoch with everything, 2026-11-22T03:04:05.250Z.
  package static let full: GNSSFix = {
    var fix = GNSSFix(received: Timestamp(nanoseconds: 0), mode: .threeDimensional)
    (fix.utc, fix.timeOfDay) = (1_795_316_645.25, 11_045.25)
    (fix.latitude, fix.longitude) = (-33.123456789, -0.000012345)
    (fix.altitude, fix.ellipsoidalAltitude) = (100.25, 80.5)
    (fix.horizontalAccuracy, fix.verticalAccuracy) = (3.02, 4.5)
    fix.accuracySource = .receiver
    (fix.speed, fix.speedAccuracy, fix.course, fix.courseAccuracy) = (1.5, 0.25, 271.5, 3)
    (fix.verticalSpeed, fix.hdop, fix.vdop, fix.pdop) = (-0.5, 0.9, 1.2, 1.5)
    fix.satellitesUsed = 9
    (fix.kind, fix.corrections) = (.rtkFixed, FixCorrections(age: 1.5, station: 120))
    return fix
  }()
}
