// The units that a field is written down in.

/// A unit of magnetic flux density, or raw counts of unknown size.
public enum FieldUnit: String, Sendable, Hashable, CaseIterable {
  /// 1e-9 T, the unit of geomagnetic models.
  case nanotesla
  /// 1e-6 T, the unit of this package.
  case microtesla
  /// 1e-3 T.
  case millitesla
  /// 1e-7 T.
  case milligauss
  /// 1e-4 T, the unit of most magnetometers' datasheets.
  case gauss
  /// The SI unit.
  case tesla
  /// The raw values of a chip's registers.
  case counts

  /// The size of the unit in microtesla, or `nil` for counts.
  public var microtesla: Double? {
    switch self {
    case .nanotesla: 1e-3
    case .microtesla: 1
    case .millitesla: 1e3
    case .milligauss: 0.1
    case .gauss: 100
    case .tesla: 1e6
    case .counts: nil
    }
  }
}
