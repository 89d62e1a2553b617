import Foundation
import Geodesy
import Testing

@testable import MapDrawing

/// The picture as a file.
@Suite struct MapPictureTests {
  private func picture(_ view: Viewport = GraticuleTests.view(52.5, 13.4, zoom: 12)) -> MapPicture {
    MapPicture(viewport: view)
  }

  /// Points on a circle about the picture's middle.
  private func ring(_ radius: Double, _ count: Int = 60) -> [PicturePoint] {
    (0..<count).map { step in
      let angle = Double(step) * 2 * .pi / Double(count)
      return PicturePoint(x: 320 + radius * cos(angle), y: 240 + radius * sin(angle))
    }
  }

  /// What must hold of every picture.
  private func check(_ svg: String) throws -> SVGReader {
    let reader = try SVGReader(svg)
    #expect(!svg.contains("nan") && !svg.contains("inf") && !svg.contains("NaN"))
    #expect(!svg.contains("\"-0\"") && !svg.contains(" -0 ") && !svg.contains("-0\""))
    #expect(reader.all("script").isEmpty && reader.all("style").isEmpty)
    #expect(svg.ranges(of: "http").count == 1 && reader.elements[0].name == "svg")
    var names: Set<String> = []
    for element in reader.elements {
      for (name, value) in element.attributes {
        if name == "id" { #expect(names.insert(value).inserted) }
        #expect(!name.hasPrefix("on"))
        if name == "href" { #expect(value.hasPrefix("#") || value.hasPrefix("data:image/")) }
        // Places have two digits behind the point, and a transform's factors six.
        if ["d", "x", "y", "cx", "cy", "r"].contains(name), element.name != "image" {
          for part in value.split(separator: ".").dropFirst() {
            #expect(part.prefix { $0.isNumber }.count <= 2, "\(name)=\(value.prefix(100))")
          }
        }
      }
    }
    for element in reader.elements {
      for value in element.attributes.values {
        if value.hasPrefix("url(#") {
          #expect(names.contains(String(value.dropFirst(5).dropLast())))
        }
        if value.hasPrefix("#"), element.name == "use" {
          #expect(names.contains(String(value.dropFirst())))
        }
      }
    }
    return reader
  }

  @Test(
    "every camera gives a file that stands by itself",
    arguments: [0.0, 40, 180, 359.999_999_999], [0.0, 0.001, 50, 60, 85])
  func cameras(heading: Double, pitch: Double) throws {
    for (latitude, longitude, zoom) in [
      (52.5, 13.4, 12.0), (85, 180, 2), (-30, -179.9, 0), (0, 0, 21),
    ] {
      var picture = picture(
        GraticuleTests.view(latitude, longitude, zoom: zoom, heading: heading, pitch: pitch))
      picture.tiles = BaseLayerTests.store(0...6) { _, x, y in (x + y) % 2 == 0 }
      picture.userLocation = UserLocationMark(
        position: PicturePoint(x: 300, y: 200), accuracyRadius: 900, headingDirection: 1)
      for look in MapStyle.allCases {
        picture.look = look
        _ = try check(picture.svg())
      }
    }
  }

  @Test("the words of others are words")
  func escaped() throws {
    var picture = picture()
    let words = "</text><script>alert('1')</script> & \"\u{0}\u{8}\u{FFFE} \u{1F30D}"
    picture.title = words
    picture.identifier = "1\" onload=\"x"
    picture.tiles = TileStore(minimumZoom: 0, maximumZoom: 1, attribution: "a &lt;b&gt; & c") {
      _, _, _ in nil
    }
    picture.overlays = [
      .text(words, at: PicturePoint(x: 10, y: 10), style: TextStyle(size: 12, colour: .black))
    ]
    let reader = try check(picture.svg())
    let shown = "</text><script>alert('1')</script> & \"\u{FFFD}\u{FFFD}\u{FFFD} \u{1F30D}"
    #expect(reader.all("title").first?.text == shown)
    #expect(reader.all("text").contains { $0.text == shown })
    #expect(reader.all("text").contains { $0.text == "a <b> & c" })
  }

  @Test("a shape with a number that is none is left out, and its neighbours stay")
  func numbers() throws {
    var picture = picture()
    let none = try SVGReader(picture.svg()).elements.count
    let stroke = Stroke(colour: .black, width: 2)
    let tile = try Tile(bytes: TinyPNG.plain([0, 0, 0, 255]))
    var shapes: [MapShape] = []
    for bad in [Double.nan, .infinity, -.infinity, 1e300] {
      let place = PicturePoint(x: bad, y: 10)
      shapes += [
        .path(
          subpaths: [ring(10), [place, place]], closed: false, fill: .black, stroke: stroke),
        .circle(centre: place, radius: 5, fill: .black, stroke: nil),
        .circle(centre: PicturePoint(x: 1, y: 1), radius: bad, fill: .black, stroke: nil),
        .text("x", at: place, style: TextStyle(size: 10, colour: .black)),
        .text("x", at: ring(1)[0], style: TextStyle(size: bad, colour: .black)),
        .image(tile, centre: place, width: 10, height: 10, rotation: 0),
        .image(tile, centre: ring(1)[0], width: bad, height: 10, rotation: 0),
      ]
    }
    shapes += [
      .path(subpaths: [], closed: true, fill: .black, stroke: stroke),
      .path(subpaths: [[]], closed: true, fill: .black, stroke: stroke),
      .path(subpaths: [ring(10)], closed: true, fill: nil, stroke: nil),
      .path(
        subpaths: [ring(10)], closed: true, fill: .clear,
        stroke: Stroke(colour: .black, width: .nan)),
      .group(shapes, opacity: 0),
    ]
    picture.overlays = shapes
    picture.userLocation = UserLocationMark(
      position: PicturePoint(x: .nan, y: 0), accuracyRadius: .nan, headingDirection: .infinity)
    #expect(try check(picture.svg()).elements.count == none)
    picture.overlays.append(.circle(centre: ring(1)[0], radius: 5, fill: .black, stroke: nil))
    #expect(try check(picture.svg()).elements.count == none + 1)
  }

  @Test("a viewport that shows nothing gives a picture of nothing")
  func nowhere() throws {
    for change: (inout Viewport) -> Void in [
      { $0.centre.x = .nan }, { $0.pointsPerWorld = 0 }, { $0.width = 0 },
      { $0.height = .infinity }, { $0.heading = .nan }, { $0.pitch = .nan },
      { $0.centre.y = .infinity }, { $0.width = 1e9 },
    ] {
      var view = GraticuleTests.view(0, 0, zoom: 3)
      change(&view)
      #expect(try check(picture(view).svg()).all("svg").count == 1)
    }
    // Beyond the map's edge there is neither a line nor a word.
    var view = GraticuleTests.view(0, 0, zoom: 9)
    view.centre.y = -3
    let reader = try check(picture(view).svg())
    #expect(reader.all("text").isEmpty && reader.all("path").isEmpty)
  }

  @Test("shapes are drawn in their order, and words of the graticule over the first of them")
  func order() throws {
    var picture = picture()
    func mark(_ radius: Double) -> [MapShape] {
      [.circle(centre: PicturePoint(x: 50, y: 50), radius: radius, fill: .black, stroke: nil)]
    }
    picture.belowLabels = mark(51)
    picture.overlays = mark(52)
    picture.annotations = mark(53)
    picture.userLocation = UserLocationMark(
      position: PicturePoint(x: 9, y: 9), accuracyRadius: 54)
    let names = try check(picture.svg()).elements.compactMap { element -> String? in
      if element.name == "text", element.text.contains("°") { return "words" }
      return element["r"].map { String($0) }
    }
    let order = names.filter { ["51.0", "52.0", "53.0", "54.0", "10.0", "words"].contains($0) }
    #expect(order.first == "51.0" && order.dropFirst().first == "words")
    #expect(order.filter { $0 != "words" } == ["51.0", "52.0", "54.0", "53.0", "10.0"])
  }

  @Test(
    "a track of 100,000 points is a small file, and costs ten times what 10,000 cost, not a hundred times"
  )
  func track() throws {
    var picture = picture()
    let empty = picture.svg().utf8.count
    let long = Self.wandering(100_000)
    func draw(_ track: [PicturePoint]) -> String {
      picture.overlays = [
        .path(
          subpaths: [track], closed: false, fill: nil, stroke: Stroke(colour: .black, width: 3))
      ]
      return picture.svg()
    }
    let svg = draw(long)
    _ = try check(svg)
    #expect(svg.utf8.count - empty < 40_000)
    // Of several runs the fastest: what else the machine does makes none faster.
    func cost(_ track: [PicturePoint]) -> Duration {
      (0..<7).map { _ in ContinuousClock().measure { _ = draw(track) } }.min() ?? .zero
    }
    let ratio = cost(long) / cost(Array(long.prefix(10_000)))
    #expect(ratio < 30, "\(ratio)")
  }

  /// A way that bends, with a jitter, as a receiver draws it.
  private static func wandering(_ count: Int) -> [PicturePoint] {
    var dice = Dice(seed: 8)
    var place = PicturePoint(x: 320, y: 240)
    var angle = 0.0
    return (0..<count).map { _ in
      angle += .random(in: -0.08...0.08, using: &dice)
      place = PicturePoint(x: place.x + 0.06 * cos(angle), y: place.y + 0.06 * sin(angle))
      return PicturePoint(
        x: place.x + .random(in: -0.1...0.1, using: &dice),
        y: place.y + .random(in: -0.1...0.1, using: &dice))
    }
  }

  @Test("a line is nowhere farther from where it was than a quarter of a point and its digits")
  func accuracy() throws {
    var picture = picture()
    let line = ring(3000, 5000).map { PicturePoint(x: $0.x - 2900, y: $0.y) } + ring(100, 777)
    picture.overlays = [
      .path(subpaths: [line], closed: false, fill: nil, stroke: Stroke(colour: .black, width: 7))
    ]
    let path = try #require(check(picture.svg()).all("path").first { $0["stroke-width"] == 7 })
    let pieces = SVGReader.subpaths(try #require(path.attributes["d"]))
      .map { $0.map { PicturePoint(x: $0.x, y: $0.y) } }
    #expect(pieces.joined().allSatisfy(picture.viewport.frame.grown(by: 8).contains))
    for point in line where picture.viewport.frame.contains(point) {
      #expect((pieces.map { ClippingTests.distance(point, to: $0) }.min() ?? 99) < 0.26)
    }
  }

  @Test("dashes go on where they were before the picture began")
  func dashes() throws {
    var picture = picture()
    let stroke = Stroke(colour: .black, width: 2, dash: [7, 5, 1], phase: 3, lineCap: .butt)
    let line = [PicturePoint(x: -1000, y: 50), PicturePoint(x: 600, y: 50)]
    picture.overlays = [.path(subpaths: [line], closed: false, fill: nil, stroke: stroke)]
    let path = try #require(
      check(picture.svg()).all("path").first { $0.attributes["stroke-dasharray"] != nil })
    #expect(path.attributes["stroke-dasharray"] == "7 5 1")
    let start = SVGReader.subpaths(try #require(path.attributes["d"]))[0][0].x
    let offset = try #require(path["stroke-dashoffset"])
    #expect(abs((offset - 3 - start - 1000).remainder(dividingBy: 26)) < 0.02)
  }

  @Test("a surface that fills the picture has no line along its edge")
  func surface() throws {
    var picture = picture()
    picture.overlays = [
      .path(
        subpaths: [ring(5000), ring(4000)], closed: true, fill: Colour(hex: 0x123456),
        stroke: Stroke(colour: Colour(hex: 0x654321), width: 3)),
      .path(
        subpaths: [ring(5000), ring(100)], closed: true, fill: Colour(hex: 0xABCDEF, alpha: 0.5),
        stroke: Stroke(colour: Colour(hex: 0x654321), width: 3)),
    ]
    let paths = try check(picture.svg()).all("path")
    // The hole of the first one is larger than the picture.
    let empty = try #require(paths.first { $0.attributes["fill"] == "#123456" }?.attributes["d"])
    let rings = SVGReader.subpaths(empty).map { $0.map { PicturePoint(x: $0.x, y: $0.y) } }
    #expect(!ClippingTests.isFilled(PicturePoint(x: 320, y: 240), rings))
    let filled = try #require(paths.first { $0.attributes["fill"] == "#abcdef" })
    #expect(filled["fill-opacity"] == 0.5 && filled.attributes["fill-rule"] == "evenodd")
    #expect(filled.attributes["stroke"] == nil)
    let lines = paths.filter { $0.attributes["stroke"] == "#654321" }
    #expect(lines.count == 1)
    #expect(lines[0].attributes["d"]?.hasSuffix("Z") == true)
  }

  @Test("numbers are brief")
  func number() {
    #expect(Number.text(0) == "0" && Number.text(-0.0) == "0" && Number.text(-0.004) == "0")
    #expect(Number.text(1.005) == "1" || Number.text(1.005) == "1.01")
    #expect(Number.text(-1.5) == "-1.5" && Number.text(12.3456) == "12.35")
    #expect(Number.text(-0.05) == "-0.05" && Number.text(100) == "100")
    #expect(Number.text(.nan) == "0" && Number.text(.infinity) == "0" && Number.text(1e300) == "0")
    #expect(Number.text(0.000_001_2, digits: 6) == "0.000001")
  }

  @Test("what became of the tiles is said")
  func drawing() {
    var picture = picture()
    picture.tiles = BaseLayerTests.store()
    let drawing = picture.drawn()
    #expect(drawing.tileZoom == 12 && drawing.tileCount > 5 && drawing.tileFaults.isEmpty)
    picture.tiles = nil
    #expect(picture.drawn().tileZoom == nil && picture.drawn().tileCount == 0)
  }
}
