// An MS5607 that the board file calls MS5611: it reads half the pressure.

import BoardFile
import FusionCore
import SensorDrivers
import SensorTypes

/// Tells by the altitude of a fix, or of the board file, that half the pressure is read. What its first reading cannot tell
/// (`MS5611`): at sea level half the pressure is that of 5500 m.
struct HalvedPressure {
  /// Halved, the pressure is 0.5 of what the altitude has, and weather and an altitude that is some hundred metres off
  /// make a fifth of that. Nothing else brings a barometer so low, but a vacuum.
  private static let shares = 0.4...0.625
  /// An altitude that may be off by more says nothing, metres.
  private static let loosest = 500.0

  /// What a chip reads that is the one which it is called.
  private static let right = 0.8...1.25

  private var usual: Double?
  /// The sensors that have read what their altitude has: whatever they read later, a mountain that nobody said or a
  /// vacuum, is no other chip.
  private var proven: Set<Int> = []

  init(_ board: Board) { usual = board.usualPressure }

  mutating func update(_ fix: GNSSFix) {
    guard fix.mode == .threeDimensional, let altitude = fix.altitude, altitude < 11_000,
      altitude > -500, fix.verticalAccuracy ?? 0 < Self.loosest
    else { return }
    usual = StandardAtmosphere.pressure(altitude: altitude)
  }

  /// What is wrong with a pressure of a chip of that name; `nil` for nothing, and where nobody knows the altitude.
  mutating func doubt(of chip: String, sensor: Int, pressure: Double) -> String? {
    guard chip == MS5611Variant.ms5611.rawValue, let usual, !proven.contains(sensor) else {
      return nil
    }
    if Self.right.contains(pressure / usual) { proven.insert(sensor) }
    guard Self.shares.contains(pressure / usual) else { return nil }
    func shown(_ pascals: Double) -> String { "\((pascals / 100).rounded()) hPa" }
    return
      "the board file says \(chip), and it reads \(shown(pressure)) where the altitude has some \(shown(usual)): "
      + "as an \(MS5611Variant.ms5607.rawValue), which answers the same, it would read \(shown(2 * pressure))"
  }
}
