// The tiles below everything else.

import Geodesy
import LinearAlgebra

/// A part of a tile and where it lies: the tile is a square of `BaseLayer.side` units.
struct TilePiece: Hashable, Sendable {
  /// Which of the layer's tiles it is.
  var tile: Int
  var transform: Affine
  /// Whether it reaches the tile's edge, and its margin with it.
  var isAtEdge: Bool
  /// What of it is shown, rings of the picture; empty for all.
  var clip: [[PicturePoint]]
}

/// A tile of a picture.
struct PlacedTile: Hashable, Sendable {
  var tile: Tile
  /// How far what is at its edge goes on beyond it, units: two tiles side by side must not let shine through what is below
  /// them where both cover a part of a pixel.
  var margin: Double
}

/// The tiles of a picture, placed; and where there is none.
struct BaseLayer: Sendable {
  /// A tile's side in units of its own.
  static let side = 256.0
  /// How many tiles a picture has at most. Beyond that those of a smaller zoom are shown.
  static let tileLimit = 400
  /// And of how many bytes.
  static let byteLimit = 64 << 20
  /// How many zooms before a missing tile's own its place is looked for in others.
  static let ancestry = 4
  /// How many errors are kept.
  private static let faultLimit = 8

  private(set) var zoom: Int?
  private(set) var tiles: [PlacedTile] = []
  private(set) var pieces: [TilePiece] = []
  /// Ground without a tile, convex rings.
  private(set) var bare: [[MercatorPoint]] = []
  /// What went wrong with tiles that are missing, in words.
  private(set) var faults: [String] = []

  private let view: Viewport
  private let ground: [MercatorPoint]
  private let pixels: Double

  /// Without a store all ground is bare.
  init(view: Viewport, ground: [MercatorPoint], store: TileStore?, scale: Double) {
    self.view = view
    self.ground = ground
    pixels = scale
    guard !ground.isEmpty else { return }
    guard let store else {
      bare = [ground]
      return
    }
    let fitting = log2(view.pointsPerWorld / Self.side * scale).rounded()
    var zoom = min(max(Int(fitting), store.minimumZoom), store.maximumZoom)
    while true {
      if let cells = TileCell.cells(zoom: zoom, ground: ground, limit: Self.tileLimit) {
        if place(cells, of: store, mayGiveUp: zoom > store.minimumZoom) {
          self.zoom = zoom
          return
        }
      } else if zoom == store.minimumZoom {
        bare = [ground]
        faults = ["the tiles begin at zoom \(zoom), which shows less than this picture"]
        return
      }
      zoom -= 1
    }
  }

  /// Reads and places tiles; false where they are too many bytes and others may be looked for.
  private mutating func place(_ cells: [TileCell], of store: TileStore, mayGiveUp: Bool) -> Bool {
    tiles = []
    bare = []
    faults = []
    var byteCount = 0
    /// The tiles that were asked for, also those that are not there.
    var known: [TileCell: Int?] = [:]
    /// What each tile shows, in the order in which they were found.
    var order: [TileCell] = []
    var shown: [TileCell: (tile: Int, parts: [TileCell])] = [:]

    func index(of cell: TileCell) -> Int? {
      var key = cell
      key.column = cell.wrappedColumn
      if let found = known[key] { return found }
      var found: Int?
      do {
        if let tile = try store.tile(zoom: key.zoom, x: key.column, y: key.row) {
          byteCount += tile.bytes.count
          if byteCount <= Self.byteLimit {
            found = tiles.count
            tiles.append(PlacedTile(tile: tile, margin: margin(zoom: key.zoom)))
          } else {
            note("the tiles have more than \(Self.byteLimit >> 20) MB")
          }
        }
      } catch {
        note("\(key.zoom)/\(key.column)/\(key.row): \(error)")
      }
      known[key] = .some(found)
      return found
    }

    for cell in cells {
      var isBare = true
      for level in 0...min(Self.ancestry, cell.zoom) {
        let source = cell.ancestor(level)
        guard source.zoom >= store.minimumZoom || level == 0, let tile = index(of: source) else {
          continue
        }
        if shown[source] == nil { order.append(source) }
        shown[source, default: (tile, [])].parts.append(cell)
        isBare = false
        break
      }
      if byteCount > Self.byteLimit, mayGiveUp { return false }
      if isBare { bare.append(Plane.common(cell.rect.ring, convex: ground)) }
    }
    pieces = order.flatMap { source in
      shown[source].map { pieces(of: source, tile: $0.tile, parts: $0.parts) } ?? []
    }
    return true
  }

  /// A pixel and a half where the ground is farthest away.
  private func margin(zoom: Int) -> Double {
    guard !view.isPlain else { return 0 }
    let far = PicturePoint(x: view.width / 2, y: 0)
    var least = 1.0
    if view.pitch > 0, let world = view.worldPoint(at: far) {
      let ahead = hypot(world.x - view.centre.x, world.y - view.centre.y) * view.pointsPerWorld
      let share = view.cameraDistance / (view.cameraDistance + ahead * sin(view.pitch))
      least = cos(view.pitch) * share * share
    }
    let unit = view.pointsPerWorld / Double(1 << zoom) / Self.side
    return min(1.5 / pixels / unit / least, Self.side / 4)
  }

  private mutating func note(_ words: String) {
    if faults.count < Self.faultLimit { faults.append(words) }
  }

  private func pieces(of source: TileCell, tile: Int, parts: [TileCell]) -> [TilePiece] {
    view.pitch > 0
      ? meshed(source, tile, parts) : [flat(source, tile, parts)].compactMap { $0 }
  }

  /// Without a pitch one transform is exact.
  private func flat(_ source: TileCell, _ tile: Int, _ parts: [TileCell]) -> TilePiece? {
    let edges = (view.centre.x - 0.5)...(view.centre.x + 0.5)
    let isWhole =
      parts == [source] && source.rect.minX >= edges.lowerBound
      && source.rect.maxX <= edges.upperBound
    let corners = source.rect.ring.compactMap(view.unwrappedPicturePoint)
    guard corners.count == 4 else { return nil }
    let square = [(0, 0), (Self.side, 0), (Self.side, Self.side)]
      .map { PicturePoint(x: $0, y: $1) }
    let places = corners[0..<3].map { view.isPlain ? snapped($0) : $0 }
    guard let transform = Affine(from: square, to: Array(places)) else { return nil }
    guard !isWhole else {
      return TilePiece(tile: tile, transform: transform, isAtEdge: true, clip: [])
    }
    let clip = parts.map { part in
      let ring = Plane.common(part.rect.ring, convex: ground)
        .compactMap(view.unwrappedPicturePoint)
      return view.isPlain ? ring.map(snapped) : Plane.grown(ring, by: 0.5 / pixels)
    }
    return TilePiece(tile: tile, transform: transform, isAtEdge: true, clip: clip)
  }

  /// On an edge of a pixel, where two tiles meet without a gap.
  private func snapped(_ point: PicturePoint) -> PicturePoint {
    PicturePoint(
      x: (point.x * pixels).rounded() / pixels, y: (point.y * pixels).rounded() / pixels)
  }

  private func meshed(_ source: TileCell, _ tile: Int, _ parts: [TileCell]) -> [TilePiece] {
    let rect = source.rect
    let units = Self.side * Double(1 << source.zoom)
    let mesh = TileMesh(view: view, ground: ground)
    let inner = PictureRect(minX: 0, minY: 0, maxX: Self.side, maxY: Self.side)
      .grown(by: -tiles[tile].margin)
    return parts.flatMap { mesh.triangles(of: $0.rect) }.compactMap { triangle in
      let corners = triangle.ground.map { point in
        PicturePoint(x: (point.x - rect.minX) * units, y: (point.y - rect.minY) * units)
      }
      guard let transform = Affine(from: corners, to: triangle.picture) else { return nil }
      return TilePiece(
        tile: tile, transform: transform, isAtEdge: !corners.allSatisfy(inner.contains),
        clip: [Plane.grown(triangle.picture, by: 0.5 / pixels)])
    }
  }
}
