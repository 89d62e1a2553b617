// What a program says of the board's height, as `lodestone altitude` does.

public import SensorTypes
import StateStore

extension LodestoneRuntime {
  /// There is no board that could be told.
  public struct NothingToTell: Error, Sendable, CustomStringConvertible {
    /// The message, in one line.
    public let description: String
  }

  /// Says how high the board is now: `CMAltimeter` and all that asks for altitude then have a height above the sea that
  /// fades as the weather drifts, 6.6 m in the first hour. It takes effect within two seconds, once the barometer
  /// measures, and is kept for the next run, which uses it if the date was known when it took effect; without a barometer, while no client wants altitude for a minute, or where the
  /// board file says at which altitude the board stays, it says nothing, as a diagnostic says.
  ///
  /// Opens the board if need be. Throws `KnownAltitudeError` for what no place has.
  ///
  /// - Parameters:
  ///   - elevation: Metres above mean sea level, -500 to 9000.
  ///   - accuracy: One sigma of it, metres, 0.1 to 500.
  public func setKnownElevation(_ elevation: Double, accuracy: Double) throws {
    let (store, clock) = try knownAltitude()
    try store.set(KnownAltitude.Elevation(elevation, accuracy: accuracy, now: clock))
  }

  /// Says what an aerodrome or a harbour gives for the pressure at sea level.
  ///
  /// - Parameters:
  ///   - qnh: Hectopascals by the ICAO standard atmosphere, 870 to 1085. A whole number is taken for one that was rounded
  ///     down, as METAR does.
  ///   - accuracy: One sigma of it, hectopascals; the chip's own error, 1 hPa, is added.
  ///   - stationElevation: How high the station lies, metres: the error of the air's temperature grows with the height
  ///     between it and the board.
  ///   - age: How old it is, seconds, three hours at most.
  public func setQNH(
    _ qnh: Double, accuracy: Double = KnownAltitude.usualPressureAccuracy,
    stationElevation: Double = 0, age: Double = 0
  ) throws {
    let (store, clock) = try knownAltitude()
    try store.set(
      KnownAltitude.QNH(
        qnh, accuracy: accuracy, stationElevation: stationElevation, age: age, now: clock))
  }

  /// Forgets elevation and QNH.
  public func clearKnownAltitude() throws { try knownAltitude().store.clear() }

  private func knownAltitude() throws -> (store: KnownAltitudeStore, clock: ClockReading) {
    guard let source = openedSource else {
      throw NothingToTell(description: openingFailure ?? "there is no board")
    }
    guard let known = source.knownAltitude else {
      throw NothingToTell(description: "this board keeps nothing")
    }
    return known
  }
}
