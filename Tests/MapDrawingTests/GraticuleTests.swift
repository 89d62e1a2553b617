import Foundation
import Geodesy
import Testing

@testable import MapDrawing

@Suite struct GraticuleTests {
  static func view(
    _ latitude: Double, _ longitude: Double, zoom: Double, heading: Double = 0, pitch: Double = 0,
    width: Double = 640, height: Double = 480
  ) -> Viewport {
    Viewport(
      centre: WebMercator.project(Position(latitude: latitude, longitude: longitude)),
      pointsPerWorld: 256 * pow(2, zoom), heading: heading * .pi / 180, pitch: pitch * .pi / 180,
      width: width, height: height)
  }

  /// The angle that a label names, by its words alone.
  static func degrees(_ label: String) -> Double {
    let parts = label.split { "°′″NSEW".contains($0) }.compactMap { Double($0) }
    let size = zip(parts, [1, 60, 3600]).reduce(0) { $0 + $1.0 / $1.1 }
    return label.hasSuffix("S") || label.hasSuffix("W") ? -size : size
  }

  private static let views = [
    view(52.5, 13.4, zoom: 12), view(52.5, 13.4, zoom: 12, heading: 40),
    view(52.5, 13.4, zoom: 14, heading: 200, pitch: 50), view(-17, 179.9, zoom: 7),
    view(-17, -179.9, zoom: 7, heading: 33, pitch: 30), view(78.2, 15.6, zoom: 6),
    view(10, 100, zoom: 1.5), view(0, 0, zoom: 0), view(85, 0, zoom: 3, heading: 10),
    view(52.5, 13.4, zoom: 20), view(0.00001, 0.00001, zoom: 22, heading: 5),
  ]

  @Test("a line is where its label says, whatever the camera does", arguments: views)
  func places(view: Viewport) throws {
    let lines = Graticule(view: view, ground: view.ground).lines
    #expect(!lines.isEmpty)
    for line in lines {
      for share in [0, 0.3, 1] {
        let point = line.start.toward(line.end, share)
        let position = WebMercator.position(of: try #require(view.worldPoint(at: point)))
        let isMeridian = !line.label.contains("N") && !line.label.contains("S")
        let isParallel = !line.label.contains("E") && !line.label.contains("W")
        let tolerance = 0.001 * 360 / view.pointsPerWorld
        let named = Self.degrees(line.label)
        let east = (position.longitude - named).remainder(dividingBy: 360)
        #expect(
          (isMeridian && abs(east) < tolerance)
            || (isParallel && abs(position.latitude - named) < tolerance),
          "\(line.label) at \(position)")
        #expect(view.frame.grown(by: 0.001).contains(point))
      }
    }
  }

  @Test(
    "there are a few lines across, by round steps",
    arguments: [0.0, 30, 52.5, 78], [0.5, 2, 5, 8, 11, 14, 17, 20, 22])
  func count(latitude: Double, zoom: Double) {
    for (width, height) in [(390.0, 844.0), (1280, 800), (640, 480)] {
      let view = Self.view(latitude, 13.4, zoom: zoom, width: width, height: height)
      let lines = Graticule(view: view, ground: view.ground).lines
      let upright = lines.count { abs($0.start.x - $0.end.x) < 1 }
      // Those of a small earth are as many as the earth is wide.
      let range = GroundRect(around: view.ground)
      let across = min(width, (range.maxX - range.minX) * view.pointsPerWorld)
      #expect((Int(across / 330)...Int(across / 330) + 9).contains(upright), "\(view)")
      #expect((1...16).contains(lines.count - upright), "\(view)")
    }
  }

  @Test("angles are written with as many parts as their step needs")
  func words() {
    func text(_ degrees: Double, _ step: Double) -> String {
      AngleStep.nearest(to: step).text(
        MicroArcseconds(microseconds: Int((degrees * 3.6e9).rounded())), positive: "E",
        negative: "W")
    }
    #expect(text(13, 1) == "13°E")
    #expect(text(-13.5, 0.5) == "13°30′W")
    #expect(text(13, 0.5) == "13°00′E")
    #expect(text(13 + 5.0 / 3600, 5.0 / 3600) == "13°00′05″E")
    #expect(text(13 + 5.2 / 3600, 0.2 / 3600) == "13°00′05.2″E")
    #expect(text(-(13 + 5.002 / 3600), 0.002 / 3600) == "13°00′05.002″W")
    #expect(text(0, 1) == "0°" && text(180, 90) == "180°" && text(-180, 90) == "180°")
    #expect(
      MicroArcseconds(microseconds: 190 * MicroArcseconds.microsecondsPerDegree).wrapped.degrees
        == -170)
    #expect(
      MicroArcseconds(microseconds: -190 * MicroArcseconds.microsecondsPerDegree).wrapped.degrees
        == 170)
  }

  @Test("words lie within the picture, on their lines and not over each other", arguments: views)
  func labels(view: Viewport) throws {
    var picture = MapPicture(viewport: view)
    picture.title = nil
    let texts = try SVGReader(picture.svg()).all("text").filter { $0.text.contains("°") }
    let lines = Graticule(view: view, ground: view.ground).lines
    #expect(texts.count > 2)
    var boxes: [PictureRect] = []
    for text in texts {
      let (x, y) = (try #require(text["x"]), try #require(text["y"]))
      let width = Double(text.text.count) * 5.2
      let box = PictureRect(minX: x - width / 2, minY: y - 7, maxX: x + width / 2, maxY: y)
      #expect(view.frame.contains(box), "\(text)")
      #expect(!boxes.contains(where: box.intersects), "\(text)")
      boxes.append(box)
      let middle = PicturePoint(x: x, y: y - 9.5 * 0.36)
      let near = lines.filter { $0.label == text.text }
        .map { ClippingTests.distance(middle, to: [$0.start, $0.end]) }.min()
      #expect(try #require(near) < 0.02)
    }
  }
}
