// What the IIO ABI calls the quantities, and its units beside ours.

/// A quantity that an IIO device may measure.
package enum KernelQuantity: String, Sendable, Hashable, CaseIterable {
  case magneticField = "in_magn"
  case acceleration = "in_accel"
  case angularRate = "in_anglvel"
  case pressure = "in_pressure"
  case temperature = "in_temp"

  package var channels: [String] {
    switch self {
    case .magneticField, .acceleration, .angularRate: ["x", "y", "z"].map { "\(rawValue)_\($0)" }
    case .pressure, .temperature: [rawValue]
    }
  }

  /// Our unit in the ABI's: microtesla in gauss, m/s^2, rad/s, pascals in kilopascals, degrees Celsius in
  /// thousandths.
  package var factor: Double {
    switch self {
    case .magneticField: 100
    case .acceleration, .angularRate: 1
    case .pressure: 1000
    case .temperature: 0.001
    }
  }

  /// The end of the range that is wanted where it can be chosen, in the ABI's unit: 4 gauss, 4 g and 1000
  /// degrees a second as our own drivers have them. A range that is named by 4 ends a little below 4.
  var wantedRange: Double? {
    switch self {
    case .magneticField: 3.9
    case .acceleration: 39
    case .angularRate: 17.4
    case .pressure, .temperature: nil
    }
  }

  /// What a chip of a kind measures, in the order of a sample's lanes; `polled` without what one attribute after
  /// the other cannot give: a rate of turning.
  static func wanted(by kind: ChipKind, polled: Bool) -> [KernelQuantity] {
    switch kind {
    case .magnetometer: [.magneticField]
    case .accelerometer: [.acceleration]
    case .inertial: polled ? [.acceleration] : [.angularRate, .acceleration]
    case .barometer: [.pressure, .temperature]
    case .receiver: []
    }
  }
}
