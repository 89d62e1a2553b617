import FoundationXML
import Geodesy
import MapDrawing
import Testing

@testable import MapKit

/// A renderer of the program's own.
private final class CrossRenderer: MKOverlayRenderer {
  override func draw(_ mapRect: MKMapRect, zoomScale: MKZoomScale, in context: CGContext) {
    let rect = rect(for: overlay.boundingMapRect)
    context.saveGState()
    context.setStrokeColor(.red)
    context.setLineWidth(3 / zoomScale)
    context.move(to: CGPoint(x: rect.minX, y: rect.minY))
    context.addLine(to: CGPoint(x: rect.maxX, y: rect.maxY))
    context.strokePath()
    context.translateBy(x: rect.midX, y: rect.midY)
    context.rotate(by: .pi / 2)
    context.scaleBy(x: 0.5, y: 0.5)
    context.setFillColor(red: 0, green: 0, blue: 1, alpha: 0.5)
    context.fill(CGRect(x: 0, y: 0, width: rect.width, height: rect.height / 2))
    context.restoreGState()
  }
}

/// Counts what an SVG document consists of.
private final class Elements: NSObject, XMLParserDelegate {
  var names: [String] = []
  var references: [String] = []

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?, attributes: [String: String]
  ) {
    names.append(elementName)
    references += attributes.filter { $0.key.hasSuffix("href") }.map(\.value)
  }

  init?(_ data: Data) {
    super.init()
    let parser = XMLParser(data: data)
    parser.delegate = self
    guard parser.parse() else { return nil }
  }
}

/// The words of an SVG document.
private final class RecordPhrases: NSObject, XMLParserDelegate {
  var words: [String] = []

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?, attributes: [String: String]
  ) { if elementName == "text" { words.append("") } }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    if !words.isEmpty { words[words.count - 1] += string }
  }

  init?(_ data: Data) {
    super.init()
    let parser = XMLParser(data: data)
    parser.delegate = self
    guard parser.parse() else { return nil }
  }
}

@Suite struct PictureTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }

  private struct Path {
    var points: [PicturePoint]
    var fill: Colour?
    var stroke: Stroke?
  }

  private func paths(_ shapes: [MapShape]) -> [Path] {
    shapes.flatMap { shape -> [Path] in
      switch shape {
      case .path(let subpaths, _, let fill, let stroke):
        return [Path(points: subpaths.flatMap { $0 }, fill: fill, stroke: stroke)]
      case .group(let shapes, _): return paths(shapes)
      default: return []
      }
    }
  }

  func expect(_ point: PicturePoint, at coordinate: CLLocationCoordinate2D) {
    let place = map.convert(coordinate, toPointTo: map)
    #expect(hypot(point.x - place.x, point.y - place.y) < 1e-6)
  }

  @Test("B3 K7: the way travelled is a line through the locations, on a turned and pitched map too")
  func way() throws {
    let places = (0..<50).map { place(52.5 + Double($0) * 1e-4, 13.4 + sin(Double($0) / 5) * 1e-3) }
    let line = MKPolyline(coordinates: places, count: places.count)
    bench.spy.makeRenderer = { overlay in
      let renderer = MKPolylineRenderer(overlay: overlay)
      renderer.strokeColor = .systemRed
      renderer.lineWidth = 4
      renderer.lineDashPattern = [6, 3]
      return renderer
    }
    map.camera = MKMapCamera(
      lookingAtCenter: places[20], fromDistance: 2000, pitch: 40, heading: 70)
    map.addOverlay(line)
    let drawn = paths(map.picture(isDark: false, scale: 1).overlays)
    #expect(drawn.count == 1 && drawn[0].points.count == 50)
    for (point, place) in zip(drawn[0].points, places) { expect(point, at: place) }
    let stroke = try #require(drawn[0].stroke)
    #expect(abs(stroke.width - 4) < 1e-9 && stroke.lineJoin == .round)
    #expect(stroke.dash.map { $0.rounded() } == [6, 3] && drawn[0].fill == nil)
  }

  @Test("K7: an area has its holes, a circle its radius, each level its place")
  func areas() throws {
    let hole = MKPolygon(coordinates: [place(1, 1), place(1, 2), place(2, 2)], count: 3)
    let area = MKPolygon(
      coordinates: [place(0, 0), place(0, 4), place(4, 4), place(4, 0)], count: 4,
      interiorPolygons: [hole])
    let circle = MKCircle(center: place(2, 2), radius: 50_000)
    bench.spy.makeRenderer = { overlay in
      let renderer: MKOverlayPathRenderer =
        overlay is MKCircle
        ? MKCircleRenderer(overlay: overlay) : MKPolygonRenderer(overlay: overlay)
      renderer.fillColor = UIColor.green.withAlphaComponent(0.25)
      renderer.alpha = 0.5
      return renderer
    }
    map.region = region(place(2, 2), 6)
    map.addOverlay(area, level: .aboveRoads)
    map.addOverlay(circle)
    let picture = map.picture(isDark: false, scale: 1)
    #expect(paths(picture.belowLabels)[0].points.count == 7)
    #expect(paths(picture.belowLabels)[0].fill?.alpha == 0.25)
    guard case .group(_, let opacity) = picture.overlays[0] else {
      Issue.record("a renderer's alpha is lost")
      return
    }
    #expect(opacity == 0.5)
    let middle = map.convert(circle.coordinate, toPointTo: map)
    let radius = 50_000 * map.viewport.pointsPerMetre
    for point in paths(picture.overlays)[0].points {
      #expect(abs(hypot(point.x - middle.x, point.y - middle.y) - radius) < 0.01 * radius)
    }
  }

  @Test("K7: a renderer of one's own draws where it says")
  func own() throws {
    let circle = MKCircle(center: berlin, radius: 500)
    bench.spy.makeRenderer = { CrossRenderer(overlay: $0) }
    map.region = region(berlin, 0.02)
    map.addOverlay(circle)
    let drawn = paths(map.picture(isDark: false, scale: 1).overlays)
    let rect = circle.boundingMapRect
    #expect(drawn.count == 2 && abs((drawn[0].stroke?.width ?? 0) - 3) < 1e-9)
    expect(drawn[0].points[0], at: rect.origin.coordinate)
    expect(drawn[0].points[1], at: MKMapPoint(x: rect.maxX, y: rect.maxY).coordinate)
    // Turned by a quarter, x goes down and y to the left; half as large.
    let corners = [
      (rect.midX, rect.midY), (rect.midX, rect.midY + rect.width / 2),
      (rect.midX - rect.height / 4, rect.midY + rect.width / 2),
      (rect.midX - rect.height / 4, rect.midY),
    ]
    for (point, corner) in zip(drawn[1].points, corners) {
      expect(point, at: MKMapPoint(x: corner.0, y: corner.1).coordinate)
    }
    #expect(drawn[1].fill == Colour(red: 0, green: 0, blue: 1, alpha: 0.5))
  }

  @Test("K9: a picture stands by itself, and the delegate hears that it is drawn")
  func document() throws {
    let point = MKPointAnnotation(coordinate: berlin, title: "Gate <&> \"tower\"")
    map.region = region(berlin, 0.02)
    map.addAnnotation(point)
    map.base = BaseMap()
    bench.spy.calls = []
    let image = map.image(isDark: true, scale: 2)
    #expect(bench.spy.calls == ["will render", "rendered true"])
    #expect(image.size == CGSize(width: 640, height: 480) && image.scale == 2)
    let data = try #require(image.svgData())
    let elements = try #require(Elements(data))
    #expect(elements.names.first == "svg" && elements.references.isEmpty)
    #expect(!elements.names.contains("script"))
  }

  @Test("a scale bar and, on a map that is turned, an arrow are drawn unless they are not wanted")
  func furniture() throws {
    map.base = BaseMap()
    func texts() throws -> [String] {
      let words = try #require(map.image().svgData().flatMap(RecordPhrases.init)).words
        .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
      return ["N", " m"].filter { part in
        words.contains {
          $0 == part || part == " m" && $0.wholeMatch(of: /\d+ m( in the middle)?/) != nil
        }
      }
    }
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 0, heading: 0)
    #expect(try texts() == [" m"])
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 0, heading: 40)
    #expect(try texts() == ["N", " m"])
    map.showsCompass = false
    #expect(try texts() == [" m"])
    map.showsScale = false
    #expect(try texts().isEmpty)
  }

  @Test("K9: tiles that cannot be read are said, and the picture is there all the same")
  func loading() throws {
    map.region = region(berlin, 0.02)
    map.base = BaseMap(
      tiles: TileStore(minimumZoom: 0, maximumZoom: 18) { _, _, _ in
        throw CocoaError(.fileReadCorruptFile)
      })
    bench.spy.calls = []
    let image = map.image()
    #expect(
      bench.spy.calls == ["will render", "will load", "failed to load", "rendered false"])
    #expect(image.svgData() != nil && bench.spy.errors.count == 1)
    map.base = BaseMap(tiles: TileStore(minimumZoom: 0, maximumZoom: 18) { _, _, _ in nil })
    bench.spy.calls = []
    _ = map.image()
    #expect(bench.spy.calls == ["will render", "will load", "loaded", "rendered true"])
  }

  @Test("K6: pins, markers, images and callouts are drawn at their annotation's place")
  func annotations() throws {
    map.region = region(berlin, 0.02)
    let point = MKPointAnnotation(coordinate: berlin, title: "Gate", subtitle: "of a town")
    bench.spy.makeView = { _, annotation in
      let pin = MKPinAnnotationView(annotation: annotation, reuseIdentifier: nil)
      pin.pinTintColor = MKPinAnnotationView.greenPinColor()
      pin.canShowCallout = true
      return pin
    }
    map.addAnnotation(point)
    let foot = paths(map.picture(isDark: false, scale: 1).annotations)[0].points[1]
    #expect(abs(foot.x - 320) < 1e-6 && abs(foot.y - 240) < 1e-6)
    func words() -> [String] {
      map.picture(isDark: false, scale: 1).annotations.compactMap {
        if case .text(let text, _, _) = $0 { text } else { nil }
      }
    }
    #expect(words().isEmpty)
    map.selectAnnotation(point, animated: false)
    #expect(words() == ["Gate", "of a town"])
    // In a corner the words stay in the picture.
    for corner in [CGPoint(x: 2, y: 2), CGPoint(x: 638, y: 10), CGPoint(x: 2, y: 478)] {
      point.coordinate = map.convert(corner, toCoordinateFrom: map)
      for case .text(_, let place, _) in map.picture(isDark: false, scale: 1).annotations {
        #expect(map.bounds.insetBy(dx: 20, dy: 10).contains(CGPoint(x: place.x, y: place.y)))
      }
    }
    point.coordinate = berlin
    map.view(for: point)?.isHidden = true
    #expect(map.picture(isDark: false, scale: 1).annotations.isEmpty)
  }
}
