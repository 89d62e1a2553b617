import ArgumentParser
import BoardFile
import CalibrationCore
import CalibrationUI
import FoundationEssentials
import LinuxIO
import Lodestone
import StateStore
import TerminalUI
import Threads

/// The kinds of records by their names in `CalibrationKind`, as an option.
enum KindName: String, ExpressibleByArgument, CaseIterable {
  case magnetometer
  case gyro
  case level

  var kind: CalibrationKind {
    switch self {
    case .magnetometer: .magnetometer
    case .gyro: .gyro
    case .level: .level
    }
  }
}

/// Which of this machine's stored records a command works on.
struct RecordOptions: ParsableArguments {
  @OptionGroup var board: BoardOptions

  @Argument(
    help: """
      Whose record: LIS3MDL, or LIS3MDL@/dev/i2c-1:0x1c where there are several. May be left out where only \
      one fits.
      """)
  var chip: String?

  @Option(help: "Of which kind: magnetometer, gyro or level.")
  var kind: KindName?

  /// The one record that is meant, of those that this machine keeps.
  func key(in store: CalibrationStore) throws -> CalibrationKey {
    try store.key(of: chip, kind: kind?.kind)
  }
}

extension BoardOptions {
  /// The board that is named, if one is, and the folder of what this machine keeps for it: the daemon's, if that owns the board.
  func keptState() throws -> (folder: URL, board: Board?) {
    if name == nil, let path = DaemonLocator.socket() {
      let board = try DaemonBoard(path: path)
      try board.fetchRecords()
      guard let folder = board.recordFolder else {
        throw CommandError(
          "the daemon has a simulated board, of which nothing is kept", kind: .configuration)
      }
      return (URL(filePath: folder).deletingLastPathComponent(), board.board)
    }
    let board = try BoardLocator.locate(name)?.board
    guard let folder = Session.keptState(of: board) else {
      throw CommandError(
        "a simulated board keeps nothing: set STATE_DIRECTORY to a folder", kind: .configuration)
    }
    return (folder, board)
  }

  /// The same with the records of its chips.
  func records() throws -> (store: CalibrationStore, board: Board?) {
    let (folder, board) = try keptState()
    return (CalibrationStore(stateDirectory: folder), board)
  }

  /// The same with the buses probed where nothing names a board.
  func recordsOfBoard() throws -> (store: CalibrationStore, board: Board?) {
    let (store, board) = try records()
    let probed = {
      // As a run probes: the records must belong to the same chips.
      BoardProbe.board(with: LinuxBusProvider(), wait: { SystemThread.sleep(seconds: $0) })
    }
    return (store, board ?? probed())
  }
}
