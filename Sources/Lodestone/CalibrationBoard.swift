// A board that is calibrated: its samples as the chips measure them, and its records.

package import BoardFile
package import CalibrationCore
package import FoundationEssentials
import LocationServices
import SensorHub
package import SensorTypes
package import StateStore
import Synchronization

/// A board that a command calibrates.
package protocol CalibrationBoard: BoardView {
  /// The board as its file describes it.
  var board: Board { get }
  /// How much of the position of the board the program may know.
  var access: PositionAccess { get }
  /// The records that are in use, to be read, and where the board was last.
  var state: StateStore { get }
  /// The folder in which records are stored, or `nil` if they end with the board.
  var recordFolder: String? { get }

  /// Calls the handlers with observations and with the samples of the chips, until `end()`. They must return at once.
  func begin(
    _ demand: Demand, readings: @escaping @Sendable (SensorReading) -> Void,
    _ handler: @escaping @Sendable (Observation) -> Void)

  /// Throws what storing a record would fail on at once. Nothing changes.
  func rehearseSave(of key: CalibrationKey) throws

  /// Stores a record and the samples that it was made of.
  ///
  /// - Throws: `CalibrationStore.SamplesNotKept` if only the record is stored; otherwise the reason why it is not.
  func save(_ record: StoredRecord, samples: CalibrationSamples?, overridingLock: Bool) throws
}

extension CalibrationBoard {
  /// UTC of a moment by the system's clock, in seconds since 1970.
  package func wallTime(of time: Timestamp) -> Double { clock(at: time).seconds }

  /// Returns the file of a record, or `nil` if nothing is kept.
  package func keptFile(of key: CalibrationKey) -> URL? {
    recordFolder.map {
      URL(filePath: $0).appending(path: state.calibrations.file(key).lastPathComponent)
    }
  }
}

extension BoardViews {
  /// Opens a board to calibrate it: the one that was named, or the machine's own; if a daemon owns that, the daemon's.
  ///
  /// - Parameter name: As given by the user.
  package static func openForCalibration(board name: String?) throws -> any CalibrationBoard {
    if name == nil, let path = DaemonLocator.socket() {
      let board = try DaemonBoard(path: path, isPatient: true)
      try board.fetchRecords()
      return board
    }
    return try Session(board: name)
  }
}

extension Session: CalibrationBoard {
  package var recordFolder: String? {
    Self.keptState(of: board) == nil ? nil : state.calibrations.folder.path
  }

  package func begin(
    _ demand: Demand, readings: @escaping @Sendable (SensorReading) -> Void,
    _ handler: @escaping @Sendable (Observation) -> Void
  ) {
    let subscription = hub.subscribe(readings: readings)
    listening.withLock { listening in
      listening?.cancel()
      listening = subscription
    }
    begin(demand, handler)
  }

  package func rehearseSave(of key: CalibrationKey) throws {
    try state.calibrations.rehearseSave(of: key)
  }

  package func save(
    _ record: StoredRecord, samples: CalibrationSamples?, overridingLock: Bool
  ) throws {
    try state.calibrations.save(record, samples: samples, overridingLock: overridingLock)
  }
}
