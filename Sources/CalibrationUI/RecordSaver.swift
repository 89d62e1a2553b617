// What all calibrations do with a record: who is asked, what is locked, where it goes, and how that is said.

package import BoardFile
package import CalibrationCore
package import FoundationEssentials
package import Lodestone
import OutputProtocols
import Reports
import SensorHub
import StateStore
import TerminalUI
package import TextForms

/// Saves a record as the settings say.
package struct RecordSaver {
  let session: any CalibrationBoard
  let settings: SaveSettings

  /// Whether what is saved stays: a simulated board keeps nothing unless it is given a folder.
  package var isKept: Bool { session.recordFolder != nil }

  private static let elsewhere = "; STATE_DIRECTORY=FOLDER keeps records elsewhere"

  /// What a person should know before the work: refuses where the record in place is locked or its folder takes none,
  /// and says what is in use and where nothing will be kept.
  package func begin(_ kind: CalibrationKind, _ sensor: Board.Sensor) throws {
    let key = CalibrationKey(kind, sensor)
    let store = session.state.calibrations
    if !settings.force, let locked = store.lock(of: key) { try settings.refuse(locked.description) }
    do {
      try session.rehearseSave(of: key)
    } catch {
      try settings.refuse("no record could be stored: \(error)\(Self.elsewhere)")
    }
    if kind == .magnetometer, settings.format == .text,
      case .record(let record) = store.current(key)
    {
      Terminal.say("in use: \(RecordText.short(record))")
    }
    if !isKept, settings.format == .text {
      Terminal.say("a simulated board: nothing is kept unless STATE_DIRECTORY names a folder")
    }
  }

  /// Whether an accepted record is to be saved; a person is asked.
  ///
  /// - Parameter better: Why the one in force is the better one; it stays where nobody is asked and `--force`
  ///   was not said.
  func isWanted(inPlaceOf better: String? = nil) throws -> Bool {
    if settings.yes { return better == nil || settings.force }
    // Return takes what a person has just worked for: one is often still on its way that was to end the gathering.
    // What speaks against a record has to be overruled in so many words.
    guard let better else { return try Keyboard.agrees("save this calibration?", usual: true) }
    return try Keyboard.agrees("\(better)\nsave this one all the same?", usual: false)
  }

  /// Stores a record, and with it the samples of a magnetometer's that a report draws. Returns its file; `nil`
  /// where the board is simulated and nothing is kept.
  package func save(_ record: StoredRecord, samples: CalibrationSamples? = nil) throws -> URL? {
    let force = settings.force
    try Self.store(record, samples: samples) {
      try session.save($0, samples: $1, overridingLock: force)
    }
    return session.keptFile(of: CalibrationKey(record))
  }

  /// Stores a record. Where it cannot be stored, whatever the reason, it is handed to `warn` as JSON: minutes of turning
  /// must not be lost to a full disk, nor to a lock that somebody has set meanwhile.
  static func store(
    _ record: StoredRecord, samples: CalibrationSamples?,
    warn: (String) -> Void = { Terminal.warn($0) },
    by save: (StoredRecord, CalibrationSamples?) throws -> Void
  ) throws {
    do {
      try save(record, samples)
    } catch let error as CalibrationStore.SamplesNotKept {
      // The record is what counts; a report can do without drawings.
      warn("lodestone: \(error)")
    } catch {
      warn(
        Hints.complete(
          "lodestone: the record could not be stored; here it is, for 'lodestone calibrate import FILE':"
        ))
      if let bytes = try? record.draft() { warn(String(decoding: bytes, as: UTF8.self)) }
      let mend = error is FileProblem ? elsewhere : ""
      var kind = (error as? FileProblem).map(CommandErrorKind.init) ?? .finding
      if (error as? RecordRefused)?.isFile == true { kind = .io }
      throw CommandError("\(error)\(mend)", kind: kind)
    }
  }

  /// Says in words where a record went.
  package static func say(savedTo file: URL?) {
    Terminal.say(
      file.map { "saved: \($0.path)" }
        ?? "not kept: this is a simulated board; set STATE_DIRECTORY to keep it")
  }

  /// The beginning of the object that says what came of a calibration.
  package static func line(
    of kind: CalibrationKind, isAccepted: Bool, savedTo file: URL?, reason: String?
  ) -> JSONLine {
    var line = JSONLine()
    line.set("v", ObservationLines.version)
    line.set("kind", "calibration")
    line.set("record", kind.rawValue)
    line.set("accepted", isAccepted)
    line.set("saved", file != nil)
    line.set("file", file?.path)
    line.set("reason", reason.map { Hints.complete($0) })
    return line
  }

  package init(session: any CalibrationBoard, settings: SaveSettings) {
    (self.session, self.settings) = (session, settings)
  }
}
