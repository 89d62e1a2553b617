// What the pipeline knows of height: barometer, vertical acceleration, the heights of fixes, and what a person says.

import BoardFile
import FusionCore
import SensorDrivers
import SensorTypes
import StateStore

/// Relative and absolute altitude of one board.
struct VerticalChannel: Sendable {
  /// Absolute altitude is published this often, seconds: its error does not change faster.
  private static let interval = 0.95
  /// One sigma of a barometer that was compared with no other, pascals: the data sheets say 50 to 100.
  private static let barometerAccuracy = 100.0

  private var relative = RelativeAltitudeEstimator()
  private var absolute = AbsoluteAltitudeEstimator()
  private var published: Timestamp?
  private var hasFix = false
  /// What a person says, and what became of it.
  var given: GivenAltitude
  /// Whether it may be said, and kept, how the receiver's height compares with a known one: that gives the receiver's away.
  var tellsOfReceiver = true

  init(_ board: Board) {
    let barometer = board.sensors.first { sensor in
      ChipCatalog.chip(named: sensor.chip)?.kind == .barometer
    }
    given = GivenAltitude(
      fixed: board.fixedAltitude,
      barometer: barometer.map { "\($0.chip) at \($0.attachment)" })
  }

  /// Takes the vertical acceleration of an attitude filter, where it has one.
  mutating func update(_ attitude: AttitudeEstimator, at time: Timestamp) {
    guard let acceleration = attitude.verticalAcceleration else { return }
    relative.update(
      verticalAcceleration: acceleration, isTurning: !attitude.isResting, at: time)
  }

  mutating func update(
    pressure: Double, _ temperature: Double, humidity: Double?, at time: Timestamp,
    _ publish: (Observation) -> Void
  ) {
    guard var estimate = relative.update(pressure: pressure, temperature: temperature, at: time)
    else { return }
    (estimate.temperature, estimate.humidity) = (temperature, humidity)
    publish(.altitude(estimate))
    let before = absolute.update(estimate)
    given.apply(estimate, relative, &absolute)
    say(at: time, publish)
    // What was taken now is published with the next pressure.
    guard var height = before else { return }
    if let published {
      let since = time.seconds(since: published)
      if since >= 0 && since < Self.interval { return }
    }
    published = time
    reduceToSeaLevel(estimate.pressure, &height)
    publish(.absoluteAltitude(height))
  }

  /// Fills in the pressure at sea level that belongs to a pressure and the height at which it was measured.
  private func reduceToSeaLevel(_ pressure: Double, _ height: inout AbsoluteAltitudeEstimate) {
    func reduced(_ altitude: Double) -> Double {
      StandardAtmosphere.qnh(stationPressure: pressure, elevation: altitude)
    }
    let known = reduced(height.altitude)
    guard KnownAltitude.pressures.contains(known / 100) else { return }
    let shift = (reduced(height.altitude + 1) - reduced(height.altitude - 1)) / 2 * height.accuracy
    height.seaLevelPressure = known
    height.seaLevelPressureAccuracy =
      (shift * shift + Self.barometerAccuracy * Self.barometerAccuracy).squareRoot()
  }

  /// Takes a fix whose accuracies are filled in.
  mutating func update(_ fix: GNSSFix, _ publish: (Observation) -> Void) {
    if let utc = fix.utc { given.take(receiverDate: utc, at: fix.received) }
    guard fix.mode == .threeDimensional, let altitude = fix.altitude,
      let accuracy = fix.verticalAccuracy
    else { return }
    hasFix = true
    absolute.update(
      altitude: altitude, accuracy: accuracy, ellipsoidalAltitude: fix.ellipsoidalAltitude,
      at: fix.moment())
    given.hear(absolute)
    say(at: fix.received, publish)
  }

  private mutating func say(at time: Timestamp, _ publish: (Observation) -> Void) {
    guard !given.notes.isEmpty else { return }
    if !isSecret { for note in given.notes { publish(.diagnostic(note, at: time)) } }
    given.notes.removeAll()
  }

  /// What became of a person's words since the last call, as far as it may be kept.
  mutating func takeChanges() -> [KnownAltitudeUpdate] {
    guard !given.changes.isEmpty else { return [] }
    defer { given.changes.removeAll() }
    return isSecret ? [] : given.changes
  }

  private var isSecret: Bool { !tellsOfReceiver && hasFix }
}
