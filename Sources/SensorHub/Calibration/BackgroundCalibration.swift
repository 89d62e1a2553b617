import BoardFile
import CalibrationCore
import FoundationEssentials
import LinearAlgebra
import SensorDrivers
import SensorTypes
import StateStore
import Synchronization

/// Calibrates the magnetometer that headings come from while the board is in use.
///
/// It sees what the pipeline sees, and what the pipeline makes of it; it changes nothing there. What it finds is saved
/// as a record like any other, and noticed like any other: that is in a recording, and what came before is not, so that
/// a replay calibrates nothing and is the same to the bit.
final class BackgroundCalibration: Sendable {
  /// Ways of calibrating that knew what the heading is: nothing that is found in use can say it better.
  private static let referenced: Set<String> = [
    CalibrationMethod.knownHeading.rawValue, CalibrationMethod.deviation.rawValue,
    CalibrationMethod.course.rawValue,
  ]
  /// A magnet on the board that the filter has found counts from this share of the field on.
  private static let magnetShare = 0.1

  private struct State {
    var assembler: SampleAssembler
    var calibrator = BackgroundCalibrator()
    /// Whether it was said that a record cannot be saved; once is enough until one could.
    var hasWarned = false
  }

  private let magnetometer: Int
  private let inertial: Int?
  private let sensors: [Board.Sensor]
  private let boardName: String
  private let store: CalibrationStore
  private let state: Mutex<State>
  // A fit takes longer than a sample may: never on a bus's thread, nor in the way of what is to be saved.
  private let queue = WorkQueue("calibration")

  /// `nil` for a board without a magnetometer, or with nothing that feels gravity, or whose file forbids it.
  init?(board: Board, store: CalibrationStore) {
    func first(_ kind: ChipKind) -> Int? {
      board.sensors.firstIndex { ChipCatalog.chip(named: $0.chip)?.kind == kind }
    }
    guard board.calibratesInUse, let magnetometer = first(.magnetometer) else { return nil }
    self.magnetometer = magnetometer
    inertial = first(.inertial)
    guard inertial != nil || first(.accelerometer) != nil else { return nil }
    sensors = board.sensors
    boardName = board.name
    self.store = store.forHub
    state = Mutex(
      State(assembler: SampleAssembler(magnetometerMount: sensors[magnetometer].mount)))
  }

  /// What a published heading says of the moment; nothing where no field was compared.
  static func moment(_ estimate: HeadingEstimate) -> FieldContext? {
    guard let check = estimate.fieldCheck else { return nil }
    let strength = check.expected?.strength ?? check.measured.strength
    return FieldContext(
      attitude: estimate.attitude,
      isDisturbed: check.isDisturbed || check.magnet > magnetShare * strength)
  }

  /// Takes what a worker has delivered and what was published for it. Returns whether `fit` is worth calling.
  ///
  /// - Parameters:
  ///   - moment: Of the heading that was published for a field sample.
  ///   - mount: From the magnetometer's frame to the body's, the board's level included.
  ///   - calibration: What the pipeline corrects the field by.
  func take(
    _ delivery: WorkerOutput, _ moment: FieldContext?, mount: Matrix3,
    calibration: AppliedCalibration?
  ) -> Bool {
    switch delivery {
    case .record(.magnetometer(magnetometer, _), let time):
      state.withLock { $0.calibrator.use(calibration, at: time) }
    case .reading(let reading):
      let (value, time) = (reading.sample.value, reading.sample.time)
      switch value {
      case .magneticField(let field) where reading.sensor == magnetometer:
        return state.withLock { state in
          let sample = state.assembler.take(field: field, at: time)
          guard var sample, let moment else { return false }
          // The filter knows gravity better than a moment's force does.
          if inertial != nil, sample.force != nil {
            sample.force =
              9.806_65
              * (mount.transposed * moment.attitude.conjugate.rotate(Vector3(0, 0, 1)))
          }
          state.calibrator.take(sample, isDisturbed: moment.isDisturbed)
          return state.calibrator.isDue
        }
      case .inertial(let rate, let force) where reading.sensor == inertial:
        let mount = sensors[reading.sensor].mount
        state.withLock { state in
          state.assembler.take(force: force, mount: mount, at: time)
          state.assembler.take(angularRate: rate, mount: mount, at: time)
        }
      case .acceleration(let force) where inertial == nil:
        let mount = sensors[reading.sensor].mount
        state.withLock { $0.assembler.take(force: force, mount: mount, at: time) }
      default: break
      }
    default: break
    }
    return false
  }

  /// Fits elsewhere, saves what is provably better, and says how far it has come.
  ///
  /// - Parameters:
  ///   - expected: Strength in microtesla and dip in radians of the field here, where they are known.
  ///   - unixSeconds: Now, by the system's clock.
  ///   - warning: Takes what a person should know of a record that could not be saved.
  func fit(
    expected: (strength: Double, dip: Double)?, unixSeconds: Double,
    warning: @escaping @Sendable (String) -> Void,
    progress: @escaping @Sendable (CalibrationProgress) -> Void
  ) {
    // Another field sample may have asked for the same.
    let begun = state.withLock { $0.calibrator.isDue ? $0.calibrator.begin() : nil }
    guard let begun else { return }
    queue.add { [self] in
      var fit = begun
      let sensor = sensors[magnetometer]
      let field = CalibrationField(
        strength: expected?.strength, dip: expected?.dip,
        up: sensor.mount.matrix.transposed * Vector3(0, 0, 1))
      let isOpen: Bool
      let judged = store.current(.init(.magnetometer, sensor))
      switch judged {
      case .record(.magnetometer(let record)):
        fit.inheritedError = record.headingError ?? 0
        isOpen =
          record.applied == fit.current && !record.isLocked
          && !Self.referenced.contains(record.method)
      case .none: isOpen = fit.current == nil
      // What cannot be used here may be good for another version: that is for a person to decide.
      case .record, .unusable: isOpen = false
      }
      let verdict = fit.verdict(expected: field)
      let isUsed =
        isOpen && verdict.isBetter && save(verdict, inPlaceOf: judged, sensor, unixSeconds, warning)
      state.withLock { $0.calibrator.finish(verdict, isUsed: isUsed) }
      let quality = verdict.outcome.fit?.quality
      progress(
        CalibrationProgress(
          coverage: quality?.coverage ?? 0, score: quality?.score, advice: verdict.advice))
    }
  }

  /// Waits for a fit that is under way.
  func finish() { queue.drain() }

  private func save(
    _ verdict: BackgroundFitResult, inPlaceOf judged: StoredFinding<StoredRecord>,
    _ sensor: Board.Sensor, _ unixSeconds: Double, _ warning: (String) -> Void
  ) -> Bool {
    guard let fit = verdict.outcome.fit else { return false }
    let record = CalibrationRecord(
      fit: fit, chip: sensor.chip, busPosition: sensor.attachment.description, board: boardName,
      date: Date(timeIntervalSince1970: unixSeconds).formatted(.iso8601),
      headingErrorBefore: verdict.headingErrorBefore)
    do {
      let samples = CalibrationSamples(keeping: verdict.samples, of: fit.applied)
      try store.save(.magnetometer(record), samples: samples, inPlaceOf: judged)
      state.withLock { $0.hasWarned = false }
      return true
    } catch is CalibrationStore.SamplesNotKept {
      // The record is what counts.
      return true
    } catch {
      // Changed or locked since is a person's wish; a folder that cannot be written is nobody's. The one in force
      // stays.
      let isNews = state.withLock { state in
        defer { state.hasWarned = state.hasWarned || error is FileProblem }
        return error is FileProblem && !state.hasWarned
      }
      if isNews {
        warning(
          "\(sensor.chip) at \(sensor.attachment): a better calibration was found in use and cannot be saved "
            + "(\(error)): what was in force stays; lodestone doctor says what to do")
      }
      return false
    }
  }
}

/// What the pipeline knows at a field sample.
struct FieldContext {
  var attitude: Quaternion
  /// Whether the field is not the earth's, or a magnet on the board was found.
  var isDisturbed: Bool
}
