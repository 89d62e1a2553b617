// What the pipeline knows of the waves: heave and sea state, for those who ask for them.

import BoardFile
import FusionCore
import LinearAlgebra
import SensorDrivers
import SensorTypes

/// Runs the estimators of heave and sea state on the accelerometer, turned into the earth frame by the attitude filter.
///
/// While nobody asks it does nothing. What was learned of the sea is kept for a quarter of an hour, so that a client that
/// comes back does not wait for minutes again.
struct WaveChannel: Sendable {
  /// The time in seconds between two observations with a heave, and between two without one.
  private static let (interval, waitingInterval) = (0.1, 1.0)
  /// The accuracy of the tilt, a 95 % radius in radians, from which on samples are taken, and beyond which they no longer are.
  ///
  /// Until the bias of the gyro is known, tilt is off by degrees, more and less in the rhythm of minutes. In the spectra that is noise:
  /// in simulated seas it made the heave 1.3 to 9 times as wrong for 20 minutes. 1.7 degrees are usual on waves.
  private static let tilt = (begin: 0.05, end: 0.17)

  private var isWanted = false
  /// Made when somebody asks for the first time: its spectra take 40 kB.
  private var estimator: HeaveEstimator?
  private var sea: SeaState?
  private var seaTime: Timestamp?
  private var rhythm = SampleRhythm()
  private var hasHeave = false
  /// Whether the tilt is known well enough.
  private var isTiltKnown = false
  /// Whether the board file names an accelerometer with a gyro.
  private let hasGyro: Bool
  /// Whether that chip can say how it turns.
  private var givesRate = true

  init(_ board: Board) {
    hasGyro = board.sensors.contains { ChipCatalog.chip(named: $0.chip)?.kind == .inertial }
  }

  /// Why the board has no heave whatever its chips say.
  private var lack: NoData? {
    guard hasGyro else { return .notEquipped("accelerometer with a gyro, which heave needs") }
    return givesRate
      ? nil : .notEquipped("gyro that heave can use: the kernel gives no buffer of it")
  }

  /// Takes whether somebody asks for heave and sea state, and says if the board cannot give them.
  mutating func take(wanted: Bool, at time: Timestamp, _ publish: (Observation) -> Void) {
    guard wanted != isWanted else { return }
    isWanted = wanted
    (rhythm, hasHeave, sea, seaTime) = (SampleRhythm(), false, nil, nil)
    isTiltKnown = false
    guard wanted else { return }
    if let lack { return publish(.wavesUnavailable(lack, at: time)) }
    if estimator == nil { estimator = HeaveEstimator() }
  }

  /// Takes whether the inertial chip says how it turns, which is known once it was started.
  mutating func take(givesRate gives: Bool, at time: Timestamp, _ publish: (Observation) -> Void) {
    givesRate = gives
    guard isWanted else { return }
    if let lack { return publish(.wavesUnavailable(lack, at: time)) }
    if estimator == nil { estimator = HeaveEstimator() }
  }

  /// Says that a chip gives nothing any more.
  func lose(
    _ kind: ChipKind, _ reason: NoData, at time: Timestamp, _ publish: (Observation) -> Void
  ) {
    guard isWanted, lack == nil, kind == .inertial else { return }
    publish(.wavesUnavailable(reason, at: time))
  }

  /// Takes a specific force in the body frame, in m/s^2, after the attitude filter took it.
  mutating func update(
    force: Vector3, at time: Timestamp, _ attitude: AttitudeEstimator,
    _ publish: (Observation) -> Void
  ) {
    guard isWanted else { return }
    noteTilt(attitude.tiltAccuracy)
    guard isTiltKnown, let turn = attitude.attitude,
      let heave = estimator?.update(force: force, attitude: turn, at: time) ?? nil
    else { return wait(at: time, publish) }
    if !hasHeave { (rhythm, hasHeave) = (SampleRhythm(), true) }
    guard rhythm.accepts(time, interval: Self.interval) else { return }
    say(heave, .valid, at: time, publish)
  }

  private mutating func noteTilt(_ accuracy: Double?) {
    // Attitude without a gyro, which takes the acceleration of waves for tilt, has no accuracy.
    guard let accuracy else { return isTiltKnown = false }
    isTiltKnown = accuracy < (isTiltKnown ? Self.tilt.end : Self.tilt.begin)
  }

  /// Says why there is no heave, at once where there was one.
  private mutating func wait(at time: Timestamp, _ publish: (Observation) -> Void) {
    guard var condition = estimator?.condition else { return }
    if condition == .valid {
      // A sample that is not used says nothing of the waves; without a tilt there are no others.
      guard !isTiltKnown else { return }
      condition = .settling
    }
    if hasHeave { (rhythm, hasHeave) = (SampleRhythm(), false) }
    guard rhythm.accepts(time, interval: Self.waitingInterval) else { return }
    say(nil, condition, at: time, publish)
  }

  private mutating func say(
    _ heave: HeaveEstimate?, _ condition: HeaveCondition, at time: Timestamp,
    _ publish: (Observation) -> Void
  ) {
    // A sea state takes a sum over the spectrum, and changes once a minute.
    if seaTime.map({ abs(time.seconds(since: $0)) >= Self.waitingInterval }) ?? true {
      (sea, seaTime) = (estimator?.sea.seaState(at: time), time)
    }
    publish(.waves(WaveEstimate(time: time, heave: heave, condition: condition, sea: sea)))
  }
}
