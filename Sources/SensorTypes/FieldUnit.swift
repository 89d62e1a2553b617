// The units that a field is written down in.

/// A unit of the magnetic flux density, or raw counts, whose size nobody knows.
public enum FieldUnit: String, Sendable, Hashable, CaseIterable {
  case nanotesla, microtesla, millitesla, milligauss, gauss, tesla
  /// What a chip's registers say.
  case counts

  /// How many microtesla it is; `nil` for counts.
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
