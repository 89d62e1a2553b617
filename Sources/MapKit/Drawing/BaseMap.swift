// The tiles that a board has for all of its maps.

import CoreLocation
package import MapDrawing

/// What lies below everything else on a map.
package struct BaseMap: Sendable {
  /// The tiles; nil for a graticule.
  package var tiles: TileStore?
  /// Why there are none, where some were named.
  package var fault: (any Error)?

  package init(tiles: TileStore? = nil, fault: (any Error)? = nil) {
    self.tiles = tiles
    self.fault = fault
  }

  /// The tiles that `LODESTONE_TILES` names: a folder `z/x/y.png` or an MBTiles file. Looked for once.
  package static let ofTheBoard: BaseMap = {
    guard let path = ProcessInfo.processInfo.environment["LODESTONE_TILES"], !path.isEmpty else {
      return BaseMap()
    }
    do { return BaseMap(tiles: try TileStore(path: path)) } catch { return BaseMap(fault: error) }
  }()
}
