import Glibc
package import MapDrawing
import StateStore
import TerminalUI

/// Opens what `--tiles` names.
package enum TileFiles {
  /// Opens a folder of tiles or an MBTiles file.
  package static func open(_ path: String) throws -> TileStore {
    // A missing path and a missing right have exit codes different from that of a file without tiles.
    if access(path, R_OK) != 0 {
      throw CommandError(reading: FileProblem(path, errno: errno))
    }
    do {
      return try TileStore(path: path)
    } catch {
      throw CommandError("\(error)", kind: .data)
    }
  }
}
