// What the services say of an application, and what an application says of the board's altitude.

/// The application as the services know it, and what is wrong.
package struct ProgramReport: Hashable, Codable, Sendable {
  package var client: AuthorizationClient
  /// What is wrong with the application's requests for authorization, or with the machine's authorization file, in one line.
  package var authorizationProblem: String?
  /// The reason why the board could not be opened, in one line.
  package var openingFailure: String?
  package var beacons: BeaconCounters

  package init(
    client: AuthorizationClient, authorizationProblem: String?, openingFailure: String?,
    beacons: BeaconCounters
  ) {
    self.client = client
    self.authorizationProblem = authorizationProblem
    self.openingFailure = openingFailure
    self.beacons = beacons
  }
}

/// Counters of the reception of beacons. They only grow.
public struct BeaconCounters: Hashable, Codable, Sendable {
  /// The number of attempts to begin receiving.
  public var attempts: UInt64
  /// Attempts that failed, and receptions that ended with an error.
  public var failures: UInt64
  /// Advertisements of any kind that were received.
  public var heard: UInt64
  /// Malformed messages of the Bluetooth service.
  public var malformed: UInt64
  /// Devices and beacons that were forgotten because there were too many.
  public var forgotten: UInt64

  package init(
    attempts: UInt64 = 0, failures: UInt64 = 0, heard: UInt64 = 0, malformed: UInt64 = 0,
    forgotten: UInt64 = 0
  ) {
    self.attempts = attempts
    self.failures = failures
    self.heard = heard
    self.malformed = malformed
    self.forgotten = forgotten
  }
}

/// What an application says of the altitude of the board.
package enum AltitudeStatement: Hashable, Codable, Sendable {
  /// The elevation above mean sea level, and one sigma of it, both in meters.
  case elevation(Double, accuracy: Double)
  /// The pressure at sea level and one sigma of it in hectopascals, the elevation of the station that reports it in meters, and its age in
  /// seconds.
  case qnh(Double, accuracy: Double, stationElevation: Double, age: Double)
  /// Forget the elevation and the pressure.
  case unknown

  /// The reason why an altitude is not set.
  package enum Problem: Hashable, Codable, Sendable {
    /// The value is out of range.
    case unfit(String)
    /// There is no board, it stores no altitude, or the application is not authorized.
    case impossible(String)
  }
}
