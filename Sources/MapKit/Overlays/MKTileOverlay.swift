// Tiles that a program lays onto the map.

public import CoreLocation
import MapDrawing

/// Which tile: its column and row of the map, from the north-west, at a zoom of 2^z by 2^z.
public struct MKTileOverlayPath: Hashable, Sendable {
  /// The column, from 180 degrees west.
  public var x: Int
  /// The row, from the north.
  public var y: Int
  /// The zoom; with each there are four times as many.
  public var z: Int
  /// How many pixels a point of the picture has.
  public var contentScaleFactor: CGFloat

  /// The one tile of the whole map.
  public init() { self.init(x: 0, y: 0, z: 0, contentScaleFactor: 1) }

  /// Makes a path of its parts.
  public init(x: Int, y: Int, z: Int, contentScaleFactor: CGFloat) {
    self.x = x
    self.y = y
    self.z = z
    self.contentScaleFactor = contentScaleFactor
  }
}

/// Squares of the map, as pictures that a program brings.
///
/// They lie on the tiles of the board, and below all that renderers draw with lines, on whichever level they are.
/// A template with a `file` URL is read; a board's map asks no server. A subclass may bring them from anywhere, by
/// `loadTile(at:result:)`, which is to answer before it returns.
open class MKTileOverlay: NSObject, MKOverlay {
  /// Where tiles are: a URL with `{z}`, `{x}` and `{y}` in it, and `{scale}` if there are several.
  public let urlTemplate: String?
  /// How many pixels a tile is wide and high; what it is drawn with is its place on the map.
  open var tileSize = CGSize(width: 256, height: 256)
  /// Whether rows are counted from the south.
  open var isGeometryFlipped = false
  /// The smallest zoom with tiles.
  open var minimumZ = 0
  /// The largest zoom with tiles.
  open var maximumZ = 21
  /// Whether they hide all of the map below them.
  open var canReplaceMapContent = false

  /// Tiles of a template; nil for a subclass that brings them otherwise.
  public init(urlTemplate URLTemplate: String?) { urlTemplate = URLTemplate }

  /// The middle of the map.
  open var coordinate: CLLocationCoordinate2D { CLLocationCoordinate2D(latitude: 0, longitude: 0) }
  /// All of the map.
  open var boundingMapRect: MKMapRect { .world }

  /// Where a tile is. Without a template it is nowhere: the empty URL.
  open func url(forTilePath path: MKTileOverlayPath) -> URL {
    let row = isGeometryFlipped ? (1 << min(max(path.z, 0), 62)) - 1 - path.y : path.y
    let text = (urlTemplate ?? "")
      .replacingOccurrences(of: "{z}", with: String(path.z))
      .replacingOccurrences(of: "{x}", with: String(path.x))
      .replacingOccurrences(of: "{y}", with: String(row))
      .replacingOccurrences(of: "{scale}", with: String(Int(path.contentScaleFactor)))
    return URL(string: text) ?? URL(filePath: "/dev/null")
  }

  /// Brings a tile: its bytes, or an error; neither where there is none.
  open func loadTile(
    at path: MKTileOverlayPath, result: @escaping (Data?, (any Error)?) -> Void
  ) {
    let url = url(forTilePath: path)
    guard url.isFileURL, let size = try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize
    else { return result(nil, nil) }
    // A file that is no tile is not read into memory.
    guard size <= 4 << 20 else { return result(nil, CocoaError(.fileReadTooLarge)) }
    do { result(try Data(contentsOf: url), nil) } catch { result(nil, error) }
  }

  /// The tiles as a picture takes them.
  var store: TileStore {
    // The picture is drawn on the thread that asks for it, and all tiles of it before that returns.
    nonisolated(unsafe) let overlay = self
    return TileStore(minimumZoom: minimumZ, maximumZoom: maximumZ) { zoom, x, y in
      var answer: (data: Data?, error: (any Error)?)
      overlay.loadTile(at: MKTileOverlayPath(x: x, y: y, z: zoom, contentScaleFactor: 1)) {
        answer = ($0, $1)
      }
      if let error = answer.error { throw error }
      return answer.data.map(Array.init)
    }
  }
}

/// Draws tiles.
open class MKTileOverlayRenderer: MKOverlayRenderer {
  let tiles: MKTileOverlay?

  /// Makes a renderer that draws tiles.
  public init(tileOverlay overlay: MKTileOverlay) {
    tiles = overlay
    super.init(overlay: overlay)
  }

  /// Makes a renderer of an overlay that is tiles; of another it draws nothing.
  public override init(overlay: any MKOverlay) {
    tiles = overlay as? MKTileOverlay
    super.init(overlay: overlay)
  }

  /// Does nothing: tiles are read each time when a picture is drawn.
  open func reloadData() {}
}
