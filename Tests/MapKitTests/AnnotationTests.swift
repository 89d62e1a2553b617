import SimulatedDevices
import Testing

@testable import MapKit

/// A program's own object with a place.
private final class Harbour: NSObject, MKAnnotation {
  var coordinate: CLLocationCoordinate2D
  let title: String?

  init(_ coordinate: CLLocationCoordinate2D, _ title: String? = nil) {
    self.coordinate = coordinate
    self.title = title
  }
}

private final class HarbourView: MKAnnotationView {
  var reuses = 0

  override func prepareForReuse() {
    super.prepareForReuse()
    reuses += 1
  }
}

/// What is pinned to the map.
@Suite struct AnnotationTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }

  @Test("K6: what is added is there, in its order and once; what is removed is not")
  func list() {
    let harbours = (0..<5).map { Harbour(place(Double($0), 0)) }
    map.addAnnotation(harbours[3])
    map.addAnnotations(harbours)
    #expect(map.annotations.map { $0.coordinate.latitude } == [3, 0, 1, 2, 4])
    map.removeAnnotation(harbours[0])
    map.removeAnnotation(harbours[0])
    map.removeAnnotations([harbours[1], harbours[4]])
    #expect(map.annotations.map { $0.coordinate.latitude } == [3, 2])
  }

  @Test("K6: those in a rectangle are those that a linear scan finds, also across 180 degrees")
  func found() {
    var generator = SeededGenerator(seed: 6)
    let harbours = (0..<5000).map { _ in
      Harbour(
        place(
          .random(in: -80...80, using: &generator), .random(in: -180...180, using: &generator)))
    }
    map.addAnnotations(harbours)
    map.removeAnnotations(Array(harbours[..<500]))
    let world = MKMapSize.world.width
    for _ in 0..<300 {
      let rect = MKMapRect(
        x: .random(in: -0.3 * world...world, using: &generator),
        y: .random(in: 0...world, using: &generator),
        width: .random(in: 0...0.4 * world, using: &generator),
        height: .random(in: 0...0.4 * world, using: &generator))
      let expected = harbours[500...].filter { harbour in
        let point = MKMapPoint(harbour.coordinate)
        return [-world, 0, world].contains {
          rect.contains(MKMapPoint(x: point.x + $0, y: point.y))
        }
      }
      #expect(map.annotations(in: rect) == Set(expected as [AnyHashable]))
    }
    #expect(map.annotations(in: .null).isEmpty)
    #expect(map.annotations(in: .world).count == 4500)
  }

  @Test(
    "K6: among a hundred thousand they are found a hundred times faster than by looking at each")
  func fast() {
    var generator = SeededGenerator(seed: 7)
    let harbours = (0..<100_000).map { _ in
      Harbour(
        place(
          .random(in: -80...80, using: &generator), .random(in: -180...180, using: &generator)))
    }
    map.camera = MKMapCamera(lookingAtCenter: place(0, 0), fromDistance: 500, pitch: 0, heading: 0)
    map.addAnnotations(harbours)
    let all = map.annotations
    var ratios: [Double] = []
    for _ in 0..<9 {
      // A hundredth of the map's width: a few dozen of them.
      let middle = MKMapPoint(
        place(
          .random(in: -60...60, using: &generator), .random(in: -170...170, using: &generator)))
      let side = MKMapSize.world.width / 100
      let rect = MKMapRect(
        x: middle.x - side / 2, y: middle.y - side / 2, width: side, height: side)
      // Of a few tries the fastest: other tests run beside this one.
      let clock = ContinuousClock()
      var scanned = Set<AnyHashable>()
      let scan =
        (0..<3).map { _ in
          clock.measure {
            for annotation in all where rect.contains(MKMapPoint(annotation.coordinate)) {
              if let object = annotation as? NSObject { scanned.insert(object) }
            }
          }
        }.min() ?? .zero
      var found = Set<AnyHashable>()
      let search =
        (0..<20).map { _ in
          clock.measure { found = map.annotations(in: rect) }
        }.min() ?? .zero
      #expect(found == scanned)
      ratios.append(scan / search)
    }
    ratios.sort()
    print("annotations(in:) is \(Int(ratios[0])) to \(Int(ratios[8])) times as fast as a scan")
    #expect(ratios[4] > 100)
  }

  @Test("K6: views are made for what is in sight alone, and used again")
  func views() {
    var generator = SeededGenerator(seed: 3)
    var made: [HarbourView] = []
    bench.spy.makeView = { map, annotation in
      if let view = map.dequeueReusableAnnotationView(withIdentifier: "harbour") { return view }
      made.append(HarbourView(annotation: annotation, reuseIdentifier: "harbour"))
      return made.last
    }
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 20_000, pitch: 0, heading: 0)
    map.addAnnotations(
      (0..<20_000).map { _ in
        Harbour(
          place(
            52.5 + .random(in: -2...2, using: &generator),
            13.4 + .random(in: -3...3, using: &generator)))
      })
    var largest = 0
    for step in 0..<200 {
      map.centerCoordinate = place(51 + Double(step) * 0.015, 11 + Double(step) * 0.02)
      largest = max(largest, map.subviews.count)
    }
    #expect(largest > 10 && largest < 200)
    // In sight, and at most as many for others.
    print("20,000 annotations, at most \(largest) in sight: \(made.count) views were made")
    #expect(made.count <= 2 * largest + 8)
    #expect(made.contains { $0.reuses > 10 })
    for view in map.subviews.compactMap({ $0 as? HarbourView }) {
      let annotation = view.annotation
      #expect(annotation.map { map.view(for: $0) === view } == true)
    }
  }

  @Test("K6: a view stands over its annotation, moved by its offset, and moves with the map")
  func stands() throws {
    let harbour = Harbour(berlin)
    map.region = region(berlin, 0.2)
    bench.spy.makeView = { _, annotation in
      let view = MKAnnotationView(annotation: annotation, reuseIdentifier: nil)
      view.frame.size = CGSize(width: 10, height: 10)
      view.centerOffset = CGPoint(x: 3, y: -5)
      return view
    }
    map.addAnnotation(harbour)
    #expect(bench.spy.calls.last == "added 1")
    let view = try #require(map.view(for: harbour))
    #expect(abs(view.center.x - 323) < 1e-9 && abs(view.center.y - 235) < 1e-9)
    map.camera = MKMapCamera(
      lookingAtCenter: place(52.52, 13.38), fromDistance: 5000, pitch: 30, heading: 77)
    let point = map.convert(berlin, toPointTo: map)
    #expect(abs(view.center.x - point.x - 3) < 1e-9 && abs(view.center.y - point.y + 5) < 1e-9)
    map.centerCoordinate = place(0, 0)
    #expect(map.view(for: harbour) == nil && view.superview == nil)
  }

  @Test("K6: without a delegate's view there is a marker, or what was registered")
  func registered() {
    map.region = region(berlin, 0.2)
    let one = Harbour(berlin)
    map.addAnnotation(one)
    #expect(map.view(for: one) is MKMarkerAnnotationView)
    map.register(
      MKPinAnnotationView.self,
      forAnnotationViewWithReuseIdentifier: MKMapViewDefaultAnnotationViewReuseIdentifier)
    let other = Harbour(berlin)
    map.addAnnotation(other)
    #expect(map.view(for: other) is MKPinAnnotationView)
    map.register("own") { HarbourView(annotation: $0, reuseIdentifier: "own") }
    #expect(map.dequeueReusableAnnotationView(withIdentifier: "own") == nil)
    let view = map.dequeueReusableAnnotationView(withIdentifier: "own", for: one)
    #expect(view is HarbourView && view.annotation === one)
  }

  @Test("K6: a removed annotation leaves its view for the next")
  func reuse() throws {
    map.region = region(berlin, 0.2)
    let one = Harbour(berlin)
    bench.spy.makeView = { _, annotation in
      MKPinAnnotationView(annotation: annotation, reuseIdentifier: "pin")
    }
    map.addAnnotation(one)
    let view = try #require(map.view(for: one))
    map.removeAnnotation(one)
    #expect(view.superview == nil && map.view(for: one) == nil)
    #expect(map.dequeueReusableAnnotationView(withIdentifier: "pin") === view)
    #expect(map.dequeueReusableAnnotationView(withIdentifier: "pin") == nil)
  }

  @Test("K6: one is selected; of several the first; what is out of sight is not")
  func selection() {
    map.region = region(berlin, 0.2)
    let harbours = [Harbour(berlin, "a"), Harbour(berlin, "b"), Harbour(place(0, 0), "far")]
    map.addAnnotations(harbours)
    bench.spy.calls = []
    map.selectedAnnotations = [harbours[1], harbours[0]]
    #expect(map.selectedAnnotations.map { $0.title } == ["b"])
    #expect(map.view(for: harbours[1])?.isSelected == true)
    map.selectAnnotation(harbours[2], animated: false)
    #expect(map.selectedAnnotations.map { $0.title } == ["b"])
    map.selectAnnotation(harbours[0], animated: true)
    #expect(bench.spy.calls == ["selected b", "deselected b", "selected a"])
    map.deselectAnnotation(harbours[1], animated: false)
    #expect(map.selectedAnnotations.count == 1)
    // Out of sight and back it is selected still.
    map.centerCoordinate = place(10, 10)
    map.centerCoordinate = berlin
    #expect(map.view(for: harbours[0])?.isSelected == true)
    map.deselectAnnotation(harbours[0], animated: false)
    #expect(map.selectedAnnotations.isEmpty && bench.spy.calls.last == "deselected a")
    map.selectAnnotation(harbours[0], animated: false)
    map.removeAnnotation(harbours[0])
    #expect(map.selectedAnnotations.isEmpty)
    map.selectedAnnotations = [harbours[1]]
    map.selectedAnnotations = []
    #expect(map.selectedAnnotations.isEmpty)
    map.deselectAnnotation(nil, animated: false)
  }

  @Test("K6: all that are shown are in sight, and on the map; also around 180 degrees")
  func shown() {
    for places in [
      [place(52, 13), place(53, 14), place(52.5, 9)], [place(10, 179), place(-5, -178)],
      [place(48, 11)],
    ] {
      let harbours = places.map { Harbour($0) }
      map.showAnnotations(harbours, animated: false)
      for harbour in harbours {
        #expect(map.annotations.contains { $0 === harbour })
        let point = map.convert(harbour.coordinate, toPointTo: map)
        #expect(map.annotationVisibleRect.contains(point))
      }
    }
    // Half a kilometre at least.
    let width = MKMapPoint(x: map.visibleMapRect.minX, y: map.visibleMapRect.midY).distance(
      to: MKMapPoint(x: map.visibleMapRect.maxX, y: map.visibleMapRect.midY))
    #expect(width > 500 && width < 2000)
    map.showAnnotations([], animated: false)
  }

  @Test("K6: a point that is moved is followed at once, another when the map is looked at again")
  func moved() throws {
    map.region = region(berlin, 0.2)
    let point = MKPointAnnotation()
    point.coordinate = berlin
    point.title = "buoy"
    map.addAnnotation(point)
    let view = try #require(map.view(for: point))
    point.coordinate = place(52.52, 13.40)
    #expect(abs(view.center.x - map.convert(point.coordinate, toPointTo: map).x) < 1e-9)
    point.coordinate = place(0, 0)
    #expect(map.view(for: point) == nil)
    #expect(map.annotations(in: MKMapRect(region(place(0, 0), 1))).count == 1)
    map.removeAnnotation(point)
    point.coordinate = berlin
    #expect(map.annotations(in: .world).isEmpty)

    let harbour = Harbour(place(0, 0))
    map.addAnnotation(harbour)
    harbour.coordinate = berlin
    _ = map.image()
    #expect(map.view(for: harbour) != nil)
  }

  @Test("K6: a point that outlives its map remembers nothing of it")
  func outlived() {
    let point = MKPointAnnotation(coordinate: berlin)
    for _ in 0..<3 {
      let map = MKMapView()
      map.addAnnotation(point)
      #expect(point.observers.count == 1)
    }
    #expect(point.observers.isEmpty)
    point.coordinate = place(1, 2)
  }

  @Test("K6: an annotation of nowhere is on the list and never in sight")
  func nowhere() {
    let harbour = Harbour(kCLLocationCoordinate2DInvalid)
    map.addAnnotation(harbour)
    #expect(map.annotations.count == 1 && map.annotations(in: .world).isEmpty)
    #expect(map.view(for: harbour) == nil)
    map.showAnnotations([harbour], animated: false)
    map.removeAnnotation(harbour)
    #expect(map.annotations.isEmpty)
  }
}
