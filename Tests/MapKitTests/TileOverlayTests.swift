import FacadeTestSupport
import Lodestone
import MapDrawing
import Testing

@testable import MapKit

/// Tiles that are made on the spot, each with its place in it.
private final class MadeTiles: MKTileOverlay {
  let name: String
  var asked: [MKTileOverlayPath] = []
  var has: (MKTileOverlayPath) -> Bool = { _ in true }

  init(_ name: String) {
    self.name = name
    super.init(urlTemplate: nil)
  }

  override func loadTile(
    at path: MKTileOverlayPath, result: @escaping (Data?, (any Error)?) -> Void
  ) {
    asked.append(path)
    result(has(path) ? Data("<svg id=\"\(name)\"/>".utf8) : nil, nil)
  }
}

/// Tiles that a program lays onto the map.
@Suite struct TileOverlayTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }

  init() {
    map.base = BaseMap()
    bench.spy.makeRenderer = { MKTileOverlayRenderer(overlay: $0) }
  }

  /// How many tiles of each name are in the picture, and in which order the first ones stand there.
  private func drawn(_ names: [String]) throws -> [Int] {
    let data = try #require(map.image().svgData())
    let text = String(decoding: data, as: UTF8.self)
    return names.map { name in
      let tile = Data("<svg id=\"\(name)\"/>".utf8).base64EncodedString()
      return text.components(separatedBy: tile).count - 1
    }
  }

  @Test("K7: tiles of an overlay are drawn, those that are in sight")
  func shown() throws {
    let tiles = MadeTiles("own")
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 0, heading: 0)
    map.addOverlay(tiles)
    let count = try drawn(["own"])[0]
    #expect(count > 3 && count < 30 && Set(tiles.asked).count == count)
    // Each lies in what is visible, by the definition of a tile: 2^z by 2^z of them are the map.
    let visible = map.visibleMapRect
    for path in tiles.asked {
      let side = MKMapSize.world.width / Double(1 << path.z)
      let rect = MKMapRect(
        x: Double(path.x) * side, y: Double(path.y) * side, width: side, height: side)
      #expect(visible.intersects(rect) && path.contentScaleFactor == 1)
    }
    map.removeOverlay(tiles)
    #expect(try drawn(["own"]) == [0])
  }

  @Test("K7: they lie on the tiles below, see-through as their renderer is, or in their place")
  func layers() throws {
    let (lower, upper) = (MadeTiles("lower"), MadeTiles("upper"))
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 0, heading: 0)
    map.base = BaseMap(tiles: MadeTiles("base").store)
    map.addOverlays([lower, upper])
    map.renderer(for: upper)?.alpha = 0.25
    var counts = try drawn(["base", "lower", "upper"])
    #expect(counts.allSatisfy { $0 > 3 })
    let data = try #require(map.image().svgData())
    #expect(String(decoding: data, as: UTF8.self).contains("<g opacity=\"0.25\">"))
    // Nothing below is read where it could not be seen.
    lower.canReplaceMapContent = true
    counts = try drawn(["base", "lower", "upper"])
    #expect(counts[0] == 0 && counts[1] > 3 && counts[2] > 3)
  }

  @Test(
    "K7: none are drawn before their smallest zoom; beyond the largest those of it are enlarged")
  func zooms() throws {
    let tiles = MadeTiles("own")
    (tiles.minimumZ, tiles.maximumZ) = (8, 10)
    map.addOverlay(tiles)
    #expect(try drawn(["own"]) == [0] && tiles.asked.isEmpty)
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 0, heading: 0)
    #expect(try drawn(["own"])[0] > 0 && tiles.asked.allSatisfy { $0.z == 10 })
    // Where a tile is missing the one around it is shown.
    tiles.has = { $0.z == 9 }
    #expect(try drawn(["own"])[0] > 0)
  }

  @Test("K7 K9: tiles that cannot be read are said")
  func fault() throws {
    final class Broken: MKTileOverlay {
      override func loadTile(
        at path: MKTileOverlayPath, result: @escaping (Data?, (any Error)?) -> Void
      ) { result(nil, CocoaError(.fileReadCorruptFile)) }
    }
    map.addOverlay(Broken(urlTemplate: nil))
    bench.spy.calls = []
    _ = map.image()
    #expect(bench.spy.calls == ["will render", "will load", "failed to load", "rendered false"])
  }

  @Test("a map without a delegate says to the program's log that its tiles cannot be read, once")
  func faultInLog() {
    let runtime = LodestoneRuntime(source: ScriptedSource())
    let said = Transcript<String>()
    runtime.diagnosticHandler = { said.add($0) }
    let map = MKMapView(
      frame: CGRect(x: 0, y: 0, width: 640, height: 480), port: runtime, ticker: ManualTicker())
    map.base = BaseMap(fault: CocoaError(.fileReadNoSuchFile))
    for _ in 0..<2 { _ = map.image() }
    #expect(
      said.elements == ["a map's tiles cannot be read: \(CocoaError(.fileReadNoSuchFile))"])
  }

  @Test("a template names a tile's file, rows counted from the north or from the south")
  func urls() {
    let tiles = MKTileOverlay(urlTemplate: "file:///maps/{z}/{x}/{y}@{scale}.png")
    let path = MKTileOverlayPath(x: 5, y: 2, z: 3, contentScaleFactor: 2)
    #expect(tiles.url(forTilePath: path).absoluteString == "file:///maps/3/5/2@2.png")
    tiles.isGeometryFlipped = true
    // Of eight rows the third from the north is the sixth from the south.
    #expect(tiles.url(forTilePath: path).absoluteString == "file:///maps/3/5/5@2.png")
    #expect(tiles.urlTemplate == "file:///maps/{z}/{x}/{y}@{scale}.png")
    #expect(tiles.boundingMapRect == .world && tiles.coordinate.latitude == 0)
    #expect(tiles.minimumZ == 0 && tiles.maximumZ == 21 && !tiles.canReplaceMapContent)
    #expect(tiles.tileSize == CGSize(width: 256, height: 256))
    #expect(MKTileOverlayPath() == MKTileOverlayPath(x: 0, y: 0, z: 0, contentScaleFactor: 1))
  }

  @Test("a file is read, one that is not there is no tile, and no server is asked")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tiles-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("tile".utf8).write(to: folder.appending(path: "1-0-0.svg"))
    func load(_ tiles: MKTileOverlay, _ z: Int) -> (Data?, (any Error)?) {
      var answer: (Data?, (any Error)?)
      tiles.loadTile(at: MKTileOverlayPath(x: 0, y: 0, z: z, contentScaleFactor: 1)) {
        answer = ($0, $1)
      }
      return answer
    }
    let tiles = MKTileOverlay(urlTemplate: "\(folder.absoluteString)/{z}-{x}-{y}.svg")
    #expect(load(tiles, 1).0 == Data("tile".utf8) && load(tiles, 1).1 == nil)
    #expect(load(tiles, 2).0 == nil && load(tiles, 2).1 == nil)
    let served = MKTileOverlay(urlTemplate: "https://tiles.invalid/{z}/{x}/{y}.png")
    #expect(load(served, 1).0 == nil && load(served, 1).1 == nil)
    // What is far too large for a tile is refused.
    try Data(count: 5 << 20).write(to: folder.appending(path: "3-0-0.svg"))
    #expect(load(tiles, 3).0 == nil && load(tiles, 3).1 != nil)
  }

  @Test("a renderer of another overlay draws nothing")
  func others() throws {
    let circle = MKCircle(center: berlin, radius: 100)
    map.region = region(berlin, 0.2)
    map.addOverlay(circle)
    let renderer = try #require(map.renderer(for: circle) as? MKTileOverlayRenderer)
    renderer.reloadData()
    #expect(map.picture(isDark: false, scale: 1).overlays.isEmpty)
    #expect(MKTileOverlayRenderer(tileOverlay: MadeTiles("own")).overlay is MadeTiles)
  }
}
