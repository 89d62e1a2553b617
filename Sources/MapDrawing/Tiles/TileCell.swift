// Which tiles lie in the picture.

import Geodesy
import LinearAlgebra

/// A tile's place. Columns go on beyond the map's edges where the map does.
struct TileCell: Hashable, Sendable {
  var zoom: Int
  var column: Int
  var row: Int

  /// The column on the map itself.
  var wrappedColumn: Int {
    let rest = column % (1 << zoom)
    return rest < 0 ? rest + 1 << zoom : rest
  }

  /// The tile that shows this one's place some zooms before.
  func ancestor(_ levels: Int) -> TileCell {
    TileCell(zoom: zoom - levels, column: column >> levels, row: row >> levels)
  }

  var rect: GroundRect {
    let count = Double(1 << zoom)
    return GroundRect(
      minX: Double(column) / count, minY: Double(row) / count, maxX: Double(column + 1) / count,
      maxY: Double(row + 1) / count)
  }

  /// The tiles of a zoom that a convex ring touches, row by row; nil for more than a number of them.
  static func cells(zoom: Int, ground: [MercatorPoint], limit: Int) -> [TileCell]? {
    let count = Double(1 << zoom)
    let around = GroundRect(around: ground)
    // What only touches a tile's edge does not show it.
    let edge = 1e-9
    let first = max(floor(around.minY * count + edge), 0)
    let last = min(ceil(around.maxY * count - edge) - 1, count - 1)
    guard first <= last else { return [] }
    guard last - first < Double(limit) else { return nil }
    var cells: [TileCell] = []
    for row in Int(first)...Int(last) {
      var band = Plane.cut(ground) { $0.y * count - Double(row) }
      band = Plane.cut(band) { Double(row + 1) - $0.y * count }
      guard band.count > 2 else { continue }
      let range = GroundRect(around: band)
      let (left, right) = (floor(range.minX * count + edge), ceil(range.maxX * count - edge) - 1)
      guard left <= right else { continue }
      guard right - left < Double(limit), cells.count + Int(right - left) < limit else {
        return nil
      }
      for column in Int(left)...Int(right) {
        cells.append(TileCell(zoom: zoom, column: column, row: row))
      }
    }
    return cells
  }
}
