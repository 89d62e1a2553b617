import Foundation
import Geodesy
import Testing

@testable import MapDrawing

/// Pictures as pixels, by librsvg.
@Suite struct RasteriserTests {
  static let isThere = ["/usr/bin", "/usr/local/bin", "/bin"].contains {
    FileManager.default.isExecutableFile(atPath: "\($0)/rsvg-convert")
  }

  private static let views = [
    GraticuleTests.view(52.5, 13.4, zoom: 12.3),
    GraticuleTests.view(52.5, 13.4, zoom: 12.7, heading: 40),
    GraticuleTests.view(52.5, 13.4, zoom: 12.7, heading: 200, pitch: 50),
    GraticuleTests.view(-17, 179.99, zoom: 6.6, heading: 20, pitch: 30),
    GraticuleTests.view(78, 15, zoom: 3.4, pitch: 60),
    GraticuleTests.view(0, 100, zoom: 0.7),
  ]

  private static func colour(_ x: Int, _ y: Int) -> TinyPNG.Pixel {
    [UInt8(40 + x % 7 * 30), UInt8(40 + y % 7 * 30), UInt8(60 + (x + y) % 5 * 40), 255]
  }

  private static func pixel(_ picture: MapPicture) throws -> TinyPNG.Picture {
    try #require(TinyPNG.decoded(picture.png()))
  }

  private static func distance(_ a: TinyPNG.Pixel, _ b: TinyPNG.Pixel) -> Int {
    (0..<3).map { abs(Int(a[$0]) - Int(b[$0])) }.max() ?? 0
  }

  @Test(
    "every tile is where the camera sees it, without a seam",
    .enabled(if: isThere, "skipped: no rsvg-convert (Debian: librsvg2-bin)"),
    arguments: views, [1.0, 2])
  func tiles(view: Viewport, scale: Double) throws {
    var picture = MapPicture(viewport: view)
    picture.scale = scale
    picture.tiles = TileStore(minimumZoom: 0, maximumZoom: 18) { _, x, y in
      TinyPNG.plain(Self.colour(x, y), side: 8)
    }
    let drawing = picture.drawn()
    let zoom = try #require(drawing.tileZoom)
    let pixels = try Self.pixel(picture)
    #expect(pixels.width == Int(view.width * scale) && pixels.height == Int(view.height * scale))
    let count = Double(1 << zoom)
    var (compared, edges) = (0, 0)
    // Above and below stand the arrow and the bar.
    for y in stride(from: Int(60 * scale), to: pixels.height - Int(45 * scale), by: 3) {
      for x in stride(from: 5, to: pixels.width - 5, by: 3) {
        // As far as a tile's margin reaches, at its corners too.
        let places = (0..<25).compactMap { number in
          view.worldPoint(
            at: PicturePoint(
              x: (Double(x) - 1.75 + Double(number % 5) * 1.125) / scale,
              y: (Double(y) - 1.75 + Double(number / 5) * 1.125) / scale))
        }
        guard places.count == 25,
          places.allSatisfy({
            $0.y > 0.001 && $0.y < 0.999 && abs($0.x - view.centre.x) < 0.499
          })
        else { continue }
        let tiles = Set(
          places.map {
            TileCell(zoom: zoom, column: Int(floor($0.x * count)), row: Int(floor($0.y * count)))
          })
        let colours = tiles.map { Self.colour($0.wrappedColumn, $0.row) }
        if tiles.count == 1 {
          compared += 1
          #expect(Self.distance(pixels[x, y], colours[0]) <= 3, "at \(x), \(y)")
        } else {
          // Between tiles there are only their colours: the ground would be brighter than all of them.
          edges += 1
          for channel in 0..<3 {
            let range = colours.map { Int($0[channel]) }
            let value = Int(pixels[x, y][channel])
            #expect(
              value >= (range.min() ?? 0) - 6 && value <= (range.max() ?? 0) + 6,
              "at \(x), \(y): \(pixels[x, y]) among \(colours)")
          }
        }
      }
    }
    #expect(compared > 3000 && edges > 50, "\(compared) \(edges)")
  }

  @Test(
    "a mark is at the pixel where the viewport has its place",
    .enabled(if: isThere, "skipped: no rsvg-convert (Debian: librsvg2-bin)"), arguments: views)
  func marks(view: Viewport) throws {
    var picture = MapPicture(viewport: view)
    let red = Colour(red: 1, green: 0, blue: 0)
    var expected: [PicturePoint] = []
    for (x, y) in [(100.0, 100.0), (500, 120), (320, 240), (90, 390), (560, 400)] {
      guard let world = view.worldPoint(at: PicturePoint(x: x, y: y)), world.y > 0, world.y < 1,
        abs(world.x - view.centre.x) < 0.5
      else { continue }
      let position = WebMercator.position(of: world)
      let place = try #require(view.picturePoint(of: WebMercator.project(position)))
      expected.append(place)
      picture.annotations.append(.circle(centre: place, radius: 4, fill: red, stroke: nil))
    }
    let pixels = try Self.pixel(picture)
    for place in expected {
      #expect(pixels[Int(place.x), Int(place.y)] == [255, 0, 0, 255])
      #expect(pixels[Int(place.x) + 8, Int(place.y)] != [255, 0, 0, 255])
    }
  }

  @Test(
    "a missing tile is its parent's part, and where there is none there is ground",
    .enabled(if: isThere, "skipped: no rsvg-convert (Debian: librsvg2-bin)"), arguments: [0.0, 40],
    [0.0, 40])
  func gaps(heading: Double, pitch: Double) throws {
    let view = GraticuleTests.view(52.5, 13.4, zoom: 12.1, heading: heading, pitch: pitch)
    var picture = MapPicture(viewport: view)
    // The middle's own tile is missing: the quarters of its parent have a colour each.
    let count = Double(1 << 12)
    let (x, y) = (Int(view.centre.x * count), Int(view.centre.y * count))
    picture.tiles = TileStore(minimumZoom: 11, maximumZoom: 12) { zoom, column, row in
      guard zoom == 11 else { return nil }
      guard column == x / 2, row == y / 2 else { return nil }
      return TinyPNG.encoded(width: 64, height: 64) { u, v in
        [u < 32 ? 200 : 20, v < 32 ? 200 : 20, 90, 255]
      }
    }
    let pixels = try Self.pixel(picture)
    let ground = Palette(.light).ground
    for column in x / 2 * 2 - 1...x / 2 * 2 + 2 {
      for row in y / 2 * 2 - 1...y / 2 * 2 + 2 {
        let middle = MercatorPoint(
          x: (Double(column) + 0.4) / count, y: (Double(row) + 0.4) / count)
        guard let place = view.picturePoint(of: middle),
          view.frame.grown(by: -40).contains(place)
        else { continue }
        let expected: TinyPNG.Pixel =
          column / 2 == x / 2 && row / 2 == y / 2
          ? [column % 2 == 0 ? 200 : 20, row % 2 == 0 ? 200 : 20, 90, 255]
          : [UInt8(ground.red * 255), UInt8(ground.green * 255), UInt8(ground.blue * 255), 255]
        #expect(
          Self.distance(pixels[Int(place.x), Int(place.y)], expected) <= 3, "\(column) \(row)")
      }
    }
  }

  @Test(
    "tiles that are drawings are drawn",
    .enabled(if: isThere, "skipped: no rsvg-convert (Debian: librsvg2-bin)"))
  func drawings() throws {
    var picture = MapPicture(viewport: GraticuleTests.view(52.5, 13.4, zoom: 12))
    picture.tiles = TileStore(minimumZoom: 0, maximumZoom: 18) { _, _, _ in
      Array(
        """
        <svg xmlns='http://www.w3.org/2000/svg' width='256' height='256'>\
        <rect width='256' height='256' fill='#0080ff'/></svg>
        """.utf8)
    }
    let pixels = try Self.pixel(picture)
    #expect(pixels[300, 200] == [0, 128, 255, 255])
  }

  @Test(
    "WebP is drawn, or said not to be",
    .enabled(if: isThere, "skipped: no rsvg-convert (Debian: librsvg2-bin)"))
  func webP() throws {
    var picture = MapPicture(viewport: GraticuleTests.view(52.5, 13.4, zoom: 12))
    picture.tiles = TileStore(minimumZoom: 0, maximumZoom: 18) { _, _, _ in WebPSupport.redPixel }
    #expect(WebPSupport.isNeeded(Array(picture.svg().utf8)))
    do {
      #expect(try Self.pixel(picture)[300, 200] == [255, 0, 0, 255])
    } catch {
      #expect("\(error)".contains("does not draw"))
    }
    picture.tiles = nil
    #expect(!WebPSupport.isNeeded(Array(picture.svg().utf8)))
  }

  // A shell that does what a test wants, in rsvg-convert's place.
  private func words(_ script: String, seconds: Double = 20) -> String {
    do {
      _ = try Rasteriser.png(
        svg: String(repeating: "<svg/>", count: 100_000), width: 10, height: 10,
        command: ["sh", "-c", script], seconds: seconds)
      return "made"
    } catch { return "\(error)" }
  }

  @Test("what goes wrong in the program is an error in words")
  func errors() {
    #expect(words("echo 'bad thing' >&2; exit 3").contains("made no PNG: bad thing"))
    #expect(words("exit 0").contains("it did not say why"))
    #expect(words("echo text; cat >/dev/null").contains("made no PNG"))
    #expect(words("kill -9 $$").contains("made no PNG"))
    #expect(words("cat /dev/zero").contains("wrote more"))
    #expect(words("exec sleep 100", seconds: 0.2).contains("took longer than 0.2 s"))
    #expect(words("exec >&- 2>&-; exec sleep 100", seconds: 0.2).contains("took longer"))
    // It has children that keep its output open.
    #expect(words("sleep 2 & exit 1", seconds: 0.3).contains("took longer"))
  }

  @Test("a program that is not there is one that can be installed")
  func missing() throws {
    #expect {
      try Rasteriser.png(svg: "", width: 1, height: 1, command: ["no-such-program"], seconds: 1)
    } throws: { "\($0)".contains("apt-get install librsvg2-bin") }
  }

  @Test("too large a picture is not made")
  func limits() {
    for (width, height) in [(0, 10), (10, -1), (40_000, 10), (30_000, 30_000), (.max, .max)] {
      #expect(throws: RasterError.self) {
        try Rasteriser.png(svg: "<svg/>", width: width, height: height)
      }
    }
  }

  @Test(
    "what is no drawing is said by the program",
    .enabled(if: isThere, "skipped: no rsvg-convert (Debian: librsvg2-bin)"))
  func garbage() {
    #expect(throws: RasterError.self) {
      try Rasteriser.png(svg: "this is no drawing", width: 10, height: 10)
    }
  }

  @Test("pictures that are written and read by the tests are the same")
  func png() throws {
    let bytes = TinyPNG.encoded(width: 300, height: 120) { x, y in
      [UInt8(x & 255), UInt8(y), 7, UInt8(255 - y)]
    }
    let picture = try #require(TinyPNG.decoded(bytes))
    #expect(picture.width == 300 && picture[299, 119] == [43, 119, 7, 136])
  }
}
