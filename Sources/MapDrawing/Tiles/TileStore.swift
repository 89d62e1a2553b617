import Glibc

/// What tiles are read from, one way or another.
protocol TileSource: Sendable {
  var attribution: String? { get }
  var zooms: ClosedRange<Int> { get }
  /// A tile's bytes; the arguments are within the map.
  func bytes(zoom: Int, x: Int, y: Int) throws(TileError) -> [UInt8]?
}

/// The tiles of a folder or of an MBTiles file: squares of the map as pictures, four for one with each zoom.
///
/// A folder has its tiles as `zoom/x/y.png` (or jpg, jpeg, webp, svg), `y` counted from the north. A file follows the
/// MBTiles specification 1.3.
package struct TileStore: Sendable {
  private let source: any TileSource

  /// Opens a folder or a file. Throws `TileError` for what is not there or has no tiles that can be drawn.
  package init(path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw TileError("\(path): \(String(cString: strerror(errno)))")
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: source = try TileFolder(path: path)
    case S_IFREG: source = try MBTiles(path: path)
    default: throw TileError("\(path) is neither a folder nor a file")
    }
  }

  /// Tiles from somewhere else, between two zooms. `bytes` is asked from whatever thread draws.
  package init(
    minimumZoom: Int, maximumZoom: Int, attribution: String? = nil,
    bytes: @escaping @Sendable (_ zoom: Int, _ x: Int, _ y: Int) throws -> [UInt8]?
  ) {
    let low = min(max(minimumZoom, 0), Self.zoomLimit)
    source = TileFunction(
      attribution: attribution.flatMap(Attribution.plain),
      zooms: low...max(low, min(maximumZoom, Self.zoomLimit)), function: bytes)
  }

  /// The largest zoom of which tiles are read.
  static let zoomLimit = 30

  /// Whose map it is, as it must be shown beside it; without markup.
  package var attribution: String? { source.attribution }
  /// The smallest zoom with tiles.
  package var minimumZoom: Int { source.zooms.lowerBound }
  /// The largest zoom with tiles.
  package var maximumZoom: Int { source.zooms.upperBound }

  /// A tile, `y` counted from the north; nil where there is none. Throws `TileError` for what cannot be read and for
  /// what is no picture.
  package func tile(zoom: Int, x: Int, y: Int) throws -> Tile? {
    guard source.zooms.contains(zoom), (0...Self.zoomLimit).contains(zoom) else { return nil }
    let count = 1 << zoom
    guard (0..<count).contains(x), (0..<count).contains(y) else { return nil }
    guard let bytes = try source.bytes(zoom: zoom, x: x, y: y) else { return nil }
    return try Tile(bytes: bytes)
  }
}

/// Tiles that somebody else brings.
private struct TileFunction: TileSource {
  let attribution: String?
  let zooms: ClosedRange<Int>
  let function: @Sendable (Int, Int, Int) throws -> [UInt8]?

  func bytes(zoom: Int, x: Int, y: Int) throws(TileError) -> [UInt8]? {
    do { return try function(zoom, x, y) } catch { throw TileError("\(error)") }
  }
}
