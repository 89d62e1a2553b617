import Foundation
import Geodesy
import Testing

@testable import MapDrawing

/// Which tiles are drawn, and where.
@Suite struct BaseLayerTests {
  /// Tiles of every place between two zooms, but for those that are said not to be there.
  static func store(
    _ zooms: ClosedRange<Int> = 0...18,
    missing: @escaping @Sendable (Int, Int, Int) -> Bool = { _, _, _ in false }
  ) -> TileStore {
    TileStore(minimumZoom: zooms.lowerBound, maximumZoom: zooms.upperBound) { zoom, x, y in
      missing(zoom, x, y)
        ? nil
        // What it shows is of no interest; that it is another one is.
        : TinyPNG.plain([UInt8(zoom), UInt8(x & 255), UInt8(y & 255), 255], side: 1)
    }
  }

  static func layer(_ view: Viewport, _ store: TileStore, scale: Double = 1) -> BaseLayer {
    BaseLayer(view: view, ground: view.ground, store: store, scale: scale)
  }

  @Test("the zoom fits the scale, within what there is")
  func zoom() {
    func zoom(_ zoom: Double, _ scale: Double = 1) -> Int? {
      Self.layer(GraticuleTests.view(52, 13, zoom: zoom), Self.store(4...14), scale: scale).zoom
    }
    #expect(zoom(10) == 10 && zoom(10.4) == 10 && zoom(10.6) == 11 && zoom(10, 2) == 11)
    #expect(zoom(20) == 14 && zoom(3.2) == 4)
    // Too many would be needed.
    #expect(zoom(0) == 4)
    #expect(
      Self.layer(GraticuleTests.view(0, 0, zoom: 1), Self.store(9...10)).faults.first?
        .contains("the tiles begin at zoom 9") == true)
  }

  @Test("a picture has 400 tiles at most")
  func limit() throws {
    let view = GraticuleTests.view(52, 13, zoom: 12, width: 8000, height: 8000)
    let layer = Self.layer(view, Self.store())
    #expect(layer.zoom == 11 && layer.tiles.count <= 400)
    #expect(layer.bare.isEmpty)
  }

  @Test("tiles of many bytes give way to others of a smaller zoom")
  func bytes() {
    let store = TileStore(minimumZoom: 0, maximumZoom: 12) { zoom, _, _ in
      TinyPNG.plain([0, 0, 0, 255], side: 1)
        + [UInt8](repeating: 0, count: zoom > 10 ? Tile.sizeLimit - 1000 : 10)
    }
    let view = GraticuleTests.view(52, 13, zoom: 12, width: 1280, height: 1024)
    // Some thirty of them would be 120 MB, a quarter as many are what is allowed.
    #expect(Self.layer(view, store).zoom == 11)
  }

  @Test("what cannot be read is said, and left to what lies below")
  func faults() {
    struct Broken: Error, CustomStringConvertible { let description = "the disk is gone" }
    let store = TileStore(minimumZoom: 12, maximumZoom: 12) { _, _, _ in throw Broken() }
    let layer = Self.layer(GraticuleTests.view(52, 13, zoom: 12), store)
    #expect(layer.tiles.isEmpty && !layer.bare.isEmpty)
    #expect(layer.faults.count == 8 && layer.faults[0].contains("the disk is gone"))
  }

  private static let views = [
    GraticuleTests.view(52.5, 13.4, zoom: 12.3),
    GraticuleTests.view(52.5, 13.4, zoom: 12.3, heading: 40),
    GraticuleTests.view(52.5, 13.4, zoom: 13.7, heading: 40, pitch: 50, width: 1280, height: 800),
    GraticuleTests.view(52.5, 13.4, zoom: 14.4, heading: 300, pitch: 60, width: 390, height: 844),
    GraticuleTests.view(-17, 179.99, zoom: 6.6, heading: 20, pitch: 30),
    GraticuleTests.view(78, 15, zoom: 3.4, pitch: 20), GraticuleTests.view(0, 100, zoom: 0.4),
    GraticuleTests.view(20, 100, zoom: 1.2, heading: 120, pitch: 55),
    GraticuleTests.view(52.5, 13.4, zoom: 21, heading: 40, pitch: 60),
  ]

  @Test(
    "a tile's points are where the camera sees them, to half a point", arguments: views,
    [false, true])
  func places(view: Viewport, hasGaps: Bool) throws {
    // With gaps two of three tiles are missing, so that parts of others are shown; the smallest zooms are there.
    let store = Self.store { zoom, x, y in hasGaps && zoom > 4 && (x + y) % 3 != 0 }
    let layer = Self.layer(view, store)
    var dice = Dice(seed: 7)
    var worst = 0.0
    var (seen, bare) = (0, 0)
    // A tile that begins at a whole pixel may leave as much beside it.
    let gaps = layer.bare.map {
      Plane.grown($0.compactMap(view.unwrappedPicturePoint), by: view.isPlain ? 0.71 : 0.01)
    }
    for _ in 0..<1500 {
      let point = PicturePoint(
        x: .random(in: 0...view.width, using: &dice), y: .random(in: 0...view.height, using: &dice))
      guard let world = view.worldPoint(at: point), world.y > 0, world.y < 1,
        abs(world.x - view.centre.x) < 0.5
      else { continue }
      // The last one that is drawn is seen.
      guard
        let piece = layer.pieces.last(where: { piece in
          guard !piece.clip.isEmpty else { return Self.square(piece).contains(point) }
          return piece.clip.contains { ClippingTests.isFilled(point, [$0]) }
        })
      else {
        bare += 1
        #expect(
          gaps.contains { ClippingTests.isFilled(point, [$0]) },
          "\(point) is neither a tile's nor bare")
        continue
      }
      seen += 1
      let bytes = layer.tiles[piece.tile].tile.bytes
      let picture = try #require(TinyPNG.decoded(bytes))
      let zoom = Int(picture[0, 0].x)
      // Where in its tile the place is, and where the tile's transform puts that.
      let count = Double(1 << zoom)
      let (column, row) = ((world.x * count), (world.y * count))
      let flat = piece.transform.applied(
        to: PicturePoint(x: (column - floor(column)) * 256, y: (row - floor(row)) * 256))
      let isRight =
        Int(floor(column)) & 255 & (1 << zoom - 1) == Int(picture[0, 0].y)
        && Int(floor(row)) & 255 == Int(picture[0, 0].z)
      // Where a margin of the neighbour covers it, it is within the margin.
      guard isRight else {
        let corner = PicturePoint(
          x: min(column - floor(column), ceil(column) - column),
          y: min(row - floor(row), ceil(row) - row))
        let points = view.pointsPerWorld / count * 0.1
        #expect(min(corner.x, corner.y) * points < 1, "\(picture[0, 0]) at \(column) \(row)")
        continue
      }
      worst = max(worst, flat.distance(to: point))
    }
    #expect(hasGaps || bare == 0)
    #expect(seen > 300)
    // Without a turn and a pitch tiles begin at whole pixels.
    #expect(worst < (view.isPlain ? 0.71 : 0.5), "\(worst)")
  }

  private static func square(_ piece: TilePiece) -> Quad {
    Quad(
      corners: [(0.0, 0.0), (256, 0), (256, 256), (0, 256)].map {
        piece.transform.applied(to: PicturePoint(x: $0, y: $1))
      })
  }

  struct Quad {
    let corners: [PicturePoint]
    func contains(_ point: PicturePoint) -> Bool {
      ClippingTests.isFilled(point, [Plane.grown(corners, by: 0.5)])
    }
  }

  @Test("a missing tile is filled from up to four zooms before, and no more")
  func ancestors() {
    let view = GraticuleTests.view(52.5, 13.4, zoom: 12)
    for (top, isFilled) in [(8, true), (7, false)] {
      let store = Self.store { zoom, _, _ in zoom > top }
      let layer = Self.layer(view, store)
      #expect(layer.bare.isEmpty == isFilled)
      #expect(layer.tiles.isEmpty != isFilled)
    }
    // Of a store that begins later nothing is asked before.
    let store = TileStore(minimumZoom: 12, maximumZoom: 12) { zoom, _, _ in
      #expect(zoom == 12)
      return nil
    }
    #expect(Self.layer(view, store).bare.count > 3)
  }

  @Test("no tile is read twice")
  func once() {
    let asked = Asked()
    let store = TileStore(minimumZoom: 0, maximumZoom: 18) { zoom, x, y in
      asked.note("\(zoom)/\(x)/\(y)")
      return nil
    }
    _ = Self.layer(GraticuleTests.view(0, 179, zoom: 0.2, pitch: 20), store)
    _ = Self.layer(GraticuleTests.view(52, 13, zoom: 12, heading: 30), store)
    #expect(asked.most == 1)
  }
}

/// How often something was asked.
private final class Asked: @unchecked Sendable {
  // Only one thread draws.
  private var counts: [String: Int] = [:]
  func note(_ words: String) { counts[words, default: 0] += 1 }
  var most: Int { counts.values.max() ?? 0 }
}
