// Which tile of the map below the track is asked for.

/// The place of a tile in a path.
struct TilePlace: Equatable {
  let zoom: Int
  let x: Int
  let y: Int

  /// `nil` for what is no `/tiles/ZOOM/X/Y`, or no tile of the earth.
  init?(path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0].isEmpty, parts[1] == "tiles",
      parts[2...].allSatisfy({ !$0.isEmpty && $0.utf8.count <= 8 && $0.allSatisfy(\.isWholeNumber) }
      ),
      let zoom = Int(parts[2]), let x = Int(parts[3]), let y = Int(parts[4]),
      (0...24).contains(zoom), (0..<1 << zoom).contains(x), (0..<1 << zoom).contains(y)
    else { return nil }
    (self.zoom, self.x, self.y) = (zoom, x, y)
  }
}
