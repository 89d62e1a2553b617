import MapKit
import Testing

// The inventory of MapKit, geometry, numbers and errors. What else they do is in the tests that `Tests/api-inventory.txt` names.

struct InventoryMapGeometryTests {
  @Test("K3: inventory: points, sizes and rectangles of the map")
  func rectangles() {
    #expect(MKMapRect() == MKMapRect(x: 0, y: 0, width: 0, height: 0))
    let sides: [KeyPath<MKMapRect, Double>] = [
      \.minX, \.minY, \.midX, \.midY, \.maxX, \.maxY, \.width, \.height,
    ]
    let rect = MKMapRect(x: 1, y: 2, width: 4, height: 6)
    #expect(sides.map { rect[keyPath: $0] } == [1, 2, 3, 5, 5, 8, 4, 6])
    let questions: [KeyPath<MKMapRect, Bool>] = [\.isNull, \.isEmpty, \.spans180thMeridian]
    #expect(questions.allSatisfy { !rect[keyPath: $0] })
    #expect(Set([rect]).count == 1 && Set([rect.origin]).count == 1 && Set([rect.size]).count == 1)
  }

  @Test("K2: inventory: spans and regions, of nothing and of their parts")
  func regions() {
    let span = MKCoordinateSpan(latitudeDelta: 1, longitudeDelta: 2)
    let spans: [WritableKeyPath<MKCoordinateSpan, CLLocationDegrees>] = [
      \.latitudeDelta, \.longitudeDelta,
    ]
    #expect(spans.map { span[keyPath: $0] } == [1, 2])
    #expect(spans.allSatisfy { MKCoordinateSpan()[keyPath: $0] == 0 })
    let region = MKCoordinateRegion(center: place(3, 4), span: span)
    #expect(region.center.longitude == 4 && region.span == span)
    #expect(MKCoordinateRegion().center.latitude == 0 && MKCoordinateRegion().span == .init())
  }

  @Test("K3: inventory: the functions of before Swift 4.2")
  func functions() {
    let sides: [(MKMapRect) -> Double] = [
      MKMapRectGetMinX, MKMapRectGetMinY, MKMapRectGetMidX, MKMapRectGetMidY, MKMapRectGetMaxX,
      MKMapRectGetMaxY, MKMapRectGetWidth, MKMapRectGetHeight,
    ]
    let questions: [(MKMapRect) -> Bool] = [
      MKMapRectIsNull, MKMapRectIsEmpty, MKMapRectSpans180thMeridian,
    ]
    let relations: [(MKMapRect, MKMapRect) -> Bool] = [
      MKMapRectEqualToRect, MKMapRectContainsRect, MKMapRectIntersectsRect,
    ]
    let mixtures: [(MKMapRect, MKMapRect) -> MKMapRect] = [MKMapRectUnion, MKMapRectIntersection]
    let moves: [(MKMapRect, Double, Double) -> MKMapRect] = [MKMapRectInset, MKMapRectOffset]
    let rect = MKMapRectMake(10, 20, 4, 6)
    #expect(sides.map { $0(rect) } == [10, 20, 12, 23, 14, 26, 4, 6])
    #expect(questions.map { $0(rect) } == [false, false, false])
    #expect(relations.map { $0(rect, rect) } == [true, true, true])
    let other = MKMapRectMake(12, 18, 4, 6)
    #expect(
      mixtures.map { $0(rect, other) } == [
        MKMapRectMake(10, 18, 6, 8), MKMapRectMake(12, 20, 2, 4),
      ])
    #expect(
      moves.map { $0(rect, 1, 2) } == [MKMapRectMake(11, 22, 2, 2), MKMapRectMake(11, 22, 4, 6)])
  }

  @Test("inventory: errors")
  func errors() {
    let codes: [MKError.Code] = [
      .unknown, .serverFailure, .loadingThrottled, .placemarkNotFound, .directionsNotFound,
      .decodingFailed,
    ]
    #expect(codes.map(\.rawValue) == [1, 2, 3, 4, 5, 6] as [UInt])
    #expect(MKError.Code(rawValue: 2) == MKError.serverFailure)
    #expect(
      codes == [
        MKError.unknown, MKError.serverFailure, MKError.loadingThrottled, MKError.placemarkNotFound,
        MKError.directionsNotFound, MKError.decodingFailed,
      ])
  }

  @Test("inventory: units and styles of distances have the SDK's numbers")
  func formatter() {
    let units: [MKDistanceFormatterUnits] = [.default, .metric, .imperial, .imperialWithYards]
    #expect(units.map(\.rawValue) == [0, 1, 2, 3] as [UInt])
    #expect(MKDistanceFormatter.Units(rawValue: 4) == nil)
    let styles: [MKDistanceFormatterUnitStyle] = [.default, .abbreviated, .full]
    #expect(styles.map(\.rawValue) == [0, 1, 2] as [UInt])
    #expect(MKDistanceFormatter.DistanceUnitStyle(rawValue: 3) == nil)
  }
}
