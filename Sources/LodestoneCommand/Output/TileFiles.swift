import MapDrawing

/// Opens what `--tiles` names.
enum TileFiles {
  static func open(_ path: String) throws -> TileStore {
    do { return try TileStore(path: path) } catch { throw CommandError("\(error)") }
  }
}
