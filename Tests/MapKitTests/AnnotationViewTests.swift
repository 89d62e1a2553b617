import MapDrawing
import Testing

@testable import MapKit

/// A witness may be deprecated without a warning where it is called.
private protocol OlderPins {
  var pins: [UIColor?] { get }
  var colours: [String] { get }
}
private struct Pins: OlderPins {
  @available(*, deprecated)
  var pins: [UIColor?] {
    let cases: [MKPinAnnotationColor] = [.red, .green, .purple]
    return cases.map { color in
      let pin = MKPinAnnotationView(annotation: nil, reuseIdentifier: nil)
      pin.pinColor = color
      return pin.pinTintColor
    }
  }
  @available(*, deprecated)
  var colours: [String] {
    let tints = [
      MKPinAnnotationView.redPinColor(), MKPinAnnotationView.greenPinColor(),
      MKPinAnnotationView.purplePinColor(), UIColor.cyan,
    ]
    return tints.map { tint in
      let pin = MKPinAnnotationView(annotation: nil, reuseIdentifier: nil)
      pin.pinTintColor = tint
      return "\(pin.pinColor) \(pin.pinColor.rawValue)"
    } + ["\(MKPinAnnotationColor(rawValue: 3).map { "\($0)" } ?? "none")"]
  }
}

/// What stands for annotations, and what it looks like.
@Suite struct AnnotationViewTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }

  private func words(_ shapes: [MapShape]) -> [String] {
    shapes.flatMap { shape -> [String] in
      switch shape {
      case .text(let text, _, _): [text]
      case .group(let shapes, _): words(shapes)
      default: []
      }
    }
  }

  private func fills(_ shapes: [MapShape]) -> [Colour] {
    shapes.flatMap { shape -> [Colour] in
      switch shape {
      case .path(_, _, let fill, _), .circle(_, _, let fill, _): [fill].compactMap { $0 }
      case .group(let shapes, _): fills(shapes)
      default: []
      }
    }
  }

  private func shapes() -> [MapShape] { map.picture(isDark: false, scale: 1).annotations }

  @Test("K6: a view is as it was made until it is used; before another use its states are reset")
  func reuse() {
    let view = MKAnnotationView(annotation: nil, reuseIdentifier: "buoy")
    #expect(view.reuseIdentifier == "buoy" && view.annotation == nil && view.image == nil)
    #expect(view.isEnabled && !view.isHighlighted && !view.isSelected && !view.canShowCallout)
    #expect(!view.isDraggable && view.dragState == .none)
    view.isHighlighted = true
    view.setSelected(true, animated: false)
    view.setDragState(.dragging, animated: false)
    view.canShowCallout = true
    #expect(view.isSelected && view.dragState == .dragging)
    view.prepareForReuse()
    #expect(!view.isHighlighted && !view.isSelected && view.dragState == .none)
    #expect(view.canShowCallout)
  }

  @Test("K6: a view is told before it is shown, and stands in the map")
  func display() throws {
    final class Told: MKAnnotationView {
      var events: [String] = []
      override func prepareForDisplay() {
        events.append("display \(annotation != nil) \(superview != nil)")
      }
      override func setSelected(_ selected: Bool, animated: Bool) {
        super.setSelected(selected, animated: animated)
        events.append("selected \(selected) \(animated)")
      }
    }
    map.region = region(berlin, 0.2)
    let point = MKPointAnnotation(coordinate: berlin)
    bench.spy.makeView = { _, annotation in Told(annotation: annotation, reuseIdentifier: nil) }
    map.addAnnotation(point)
    let view = try #require(map.view(for: point) as? Told)
    map.selectAnnotation(point, animated: true)
    map.deselectAnnotation(point, animated: false)
    #expect(view.events == ["display true false", "selected true true", "selected false false"])
    #expect(view.superview === map)
  }

  @Test("K6: an image gives a view its size, and is drawn there, over what is behind it")
  func image() throws {
    let svg = Data("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)
    let image = try #require(UIImage(data: svg, scale: 2))
    map.region = region(berlin, 0.2)
    let point = MKPointAnnotation(coordinate: berlin)
    bench.spy.makeView = { _, annotation in
      let view = MKAnnotationView(annotation: annotation, reuseIdentifier: nil)
      view.image = image
      view.backgroundColor = .yellow
      view.alpha = 0.5
      return view
    }
    map.addAnnotation(point)
    #expect(map.view(for: point)?.frame.size == image.size)
    guard case .group(let shapes, let opacity)? = shapes().first, shapes.count == 2,
      case .image(_, let centre, let width, _, _) = shapes[1]
    else {
      Issue.record("no image")
      return
    }
    #expect(opacity == 0.5 && fills(shapes) == [Colour(red: 1, green: 1, blue: 0, alpha: 1)])
    #expect(abs(centre.x - 320) < 1e-9 && width == image.size.width)
  }

  @Test("K6: a callout stands above its view, moved by its offset")
  func callout() throws {
    map.region = region(berlin, 0.2)
    let point = MKPointAnnotation(coordinate: berlin, title: "Gate")
    bench.spy.makeView = { _, annotation in
      let view = MKPinAnnotationView(annotation: annotation, reuseIdentifier: nil)
      view.canShowCallout = true
      return view
    }
    map.addAnnotation(point)
    map.selectAnnotation(point, animated: false)
    func place() throws -> PicturePoint {
      try #require(
        shapes().compactMap { shape -> PicturePoint? in
          if case .text("Gate", let place, _) = shape { place } else { nil }
        }.first)
    }
    let before = try place()
    #expect(abs(before.x - 320) < 1e-9 && before.y < 240 - 32)
    try #require(map.view(for: point)).calloutOffset = CGPoint(x: 10, y: -20)
    let after = try place()
    #expect(abs(after.x - before.x - 10) < 1e-9 && abs(after.y - before.y + 20) < 1e-9)
    // A phone's code may give it more; nothing but the words is drawn.
    let view = try #require(map.view(for: point))
    let button = UIControl(frame: .zero)
    view.leftCalloutAccessoryView = button
    view.rightCalloutAccessoryView = button
    view.detailCalloutAccessoryView = button
    #expect(view.leftCalloutAccessoryView === view.detailCalloutAccessoryView)
    #expect(try place() == after)
  }

  @Test("K6: a marker has its colours, its sign and its words")
  func marker() throws {
    map.region = region(berlin, 0.2)
    let point = MKPointAnnotation(coordinate: berlin, title: "Gate", subtitle: "of a town")
    map.addAnnotation(point)
    let marker = try #require(map.view(for: point) as? MKMarkerAnnotationView)
    let (red, white) = (UIColor.systemRed.colour(), UIColor.white.colour())
    #expect(fills(shapes()) == [red, white] && words(shapes()) == ["Gate"])
    marker.markerTintColor = .blue
    marker.glyphTintColor = .yellow
    #expect(fills(shapes()) == [UIColor.blue.colour(), UIColor.yellow.colour()])
    marker.glyphText = "P12"
    #expect(words(shapes()) == ["P1", "Gate"])
    marker.subtitleVisibility = .visible
    #expect(words(shapes()) == ["P1", "Gate", "of a town"])
    marker.subtitleVisibility = .adaptive
    #expect(words(shapes()) == ["P1", "Gate"])
    map.selectAnnotation(point, animated: false)
    #expect(words(shapes()) == ["P1", "Gate", "of a town"])
    marker.titleVisibility = .hidden
    marker.subtitleVisibility = .hidden
    #expect(words(shapes()) == ["P1"])
    func images() -> [Tile] {
      shapes().compactMap { if case .image(let tile, _, _, _, _) = $0 { tile } else { nil } }
    }
    func sign(_ name: String) throws -> UIImage {
      try #require(UIImage(data: Data("<svg id=\"\(name)\"/>".utf8)))
    }
    marker.glyphImage = try sign("plain")
    #expect(images() == [marker.glyphImage?.tile].compactMap { $0 })
    marker.selectedGlyphImage = try sign("selected")
    #expect(images() == [marker.selectedGlyphImage?.tile].compactMap { $0 })
    map.deselectAnnotation(point, animated: false)
    #expect(images() == [marker.glyphImage?.tile].compactMap { $0 })
  }

  @Test("K6: pins have the colours that are asked for, in the spelling of before iOS 9 too")
  func pins() {
    let pin = MKPinAnnotationView(annotation: nil, reuseIdentifier: nil)
    #expect(pin.pinTintColor == MKPinAnnotationView.redPinColor())
    let older: any OlderPins = Pins()
    #expect(
      older.pins == [
        MKPinAnnotationView.redPinColor(), MKPinAnnotationView.greenPinColor(),
        MKPinAnnotationView.purplePinColor(),
      ])
    #expect(older.colours == ["red 0", "green 1", "purple 2", "red 0", "none"])
  }

  @Test("K5 K6: the board is a dot with the circle of its accuracy and the cone of its heading")
  func user() throws {
    map.region = region(berlin, 0.02)
    map.user.isShown = true
    map.userIs(
      at: CLLocation(
        coordinate: berlin, altitude: 0, horizontalAccuracy: 100, verticalAccuracy: -1,
        timestamp: Date()))
    #expect(map.view(for: map.userLocation) is MKUserLocationView)
    let mark = try #require(map.picture(isDark: false, scale: 1).userLocation)
    #expect(abs(mark.position.x - 320) < 1e-6 && abs(mark.position.y - 240) < 1e-6)
    #expect(mark.headingDirection == nil)
    // A hundred metres to the east, by the map's own measure.
    let east = MKMapPoint(
      x: MKMapPoint(berlin).x + 100 * MKMapPointsPerMeterAtLatitude(berlin.latitude),
      y: MKMapPoint(berlin).y)
    let edge = map.convert(east.coordinate, toPointTo: map)
    #expect(abs((mark.accuracyRadius ?? 0) - (edge.x - 320)) < 0.01 * (edge.x - 320))
    // A view of the program's own is drawn in its place.
    bench.spy.makeView = { _, annotation in
      MKPinAnnotationView(annotation: annotation, reuseIdentifier: nil)
    }
    map.delegate = nil
    map.delegate = bench.spy
    #expect(map.picture(isDark: false, scale: 1).userLocation == nil && shapes().count == 3)
  }

  @Test("priorities and states have the SDK's numbers")
  func numbers() {
    #expect(MKFeatureDisplayPriority.required.rawValue == 1000)
    #expect(MKFeatureDisplayPriority.defaultHigh == MKFeatureDisplayPriority(750))
    #expect(MKFeatureDisplayPriority.defaultLow == MKFeatureDisplayPriority(rawValue: 250))
    let states: [MKAnnotationViewDragState] = [.none, .starting, .dragging, .canceling, .ending]
    #expect(states.map(\.rawValue) == [0, 1, 2, 3, 4])
    #expect(MKAnnotationViewDragState(rawValue: 5) == nil)
    let visibilities: [MKFeatureVisibility] = [.adaptive, .hidden, .visible]
    #expect(visibilities.map(\.rawValue) == [0, 1, 2] && MKFeatureVisibility(rawValue: 3) == nil)
  }
}
