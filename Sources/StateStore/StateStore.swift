package import FoundationEssentials
import Glibc

/// What outlives a run: the calibrations of this machine, where it was last, and what it was told of its height.
package struct StateStore: Sendable {
  package let folder: URL
  /// The records of its magnetometers.
  package let calibrations: CalibrationStore
  /// What this machine was told of its height.
  package let knownAltitude: KnownAltitudeStore
  package let positionFile: URL

  /// Makes a store.
  ///
  /// - Parameter folder: `StateDirectory.current()` on a board; a folder of its own in a test.
  package init(folder: URL) {
    self.folder = folder
    calibrations = CalibrationStore(stateDirectory: folder)
    knownAltitude = KnownAltitudeStore(folder: folder)
    positionFile = folder.appending(path: "position.json")
  }

  /// Where the board was last; `nil` if that was never known.
  package var lastPosition: LastPosition? {
    LastPosition(StateFile.read(positionFile.path))
  }

  package func save(_ position: LastPosition) throws {
    StateFolder(folder).close()
    try StateFile.write(try position.encoded(), to: positionFile)
  }
}

/// Where this machine keeps what outlives a run.
package enum StateDirectory {
  /// `$STATE_DIRECTORY` (systemd), else `$XDG_STATE_HOME/lodestone`, else `~/.local/state/lodestone`.
  package static func current(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> URL {
    // systemd separates several by colons; ours is the first.
    if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
      return URL(filePath: String(given))
    }
    if let home = environment["XDG_STATE_HOME"], !home.isEmpty {
      return URL(filePath: home).appending(path: "lodestone")
    }
    return home(environment).appending(path: ".local/state/lodestone")
  }

  /// `$HOME`, else what the system's list of users says.
  package static func home(_ environment: [String: String]) -> URL {
    environment["HOME"].flatMap { $0.isEmpty ? nil : URL(filePath: $0) }
      ?? FileManager.default.homeDirectoryForCurrentUser
  }
}
