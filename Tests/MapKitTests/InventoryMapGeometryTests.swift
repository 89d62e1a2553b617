import FacadeTestSupport
import MapKit
import Testing

// The inventory of MapKit, geometry, types and errors: each symbol once, with its type. What it does stands in the tests that
// `Tests/api-inventory.txt` names.

struct InventoryMapGeometryTests {
  @Test("K3: inventory: points, sizes and rectangles of the map")
  func rectangles() {
    sets(\MKMapPoint.x, Double.self)
    sets(\MKMapPoint.y, Double.self)
    has(\MKMapPoint.coordinate, CLLocationCoordinate2D.self)
    gives(MKMapPoint.distance(to:), ((MKMapPoint) -> (MKMapPoint) -> CLLocationDistance).self)
    gives(MKMapPoint.init(x:y:), ((Double, Double) -> MKMapPoint).self)
    gives(MKMapPoint.init(_:), ((CLLocationCoordinate2D) -> MKMapPoint).self)
    gives(MKMapPoint(), MKMapPoint.self)
    sets(\MKMapSize.width, Double.self)
    sets(\MKMapSize.height, Double.self)
    gives(MKMapSize.init(width:height:), ((Double, Double) -> MKMapSize).self)
    gives(MKMapSize(), MKMapSize.self)
    gives(MKMapSize.world, MKMapSize.self)
    sets(\MKMapRect.origin, MKMapPoint.self)
    sets(\MKMapRect.size, MKMapSize.self)
    gives(MKMapRect.init(origin:size:), ((MKMapPoint, MKMapSize) -> MKMapRect).self)
    gives(
      MKMapRect.init(x:y:width:height:), ((Double, Double, Double, Double) -> MKMapRect).self)
    #expect(MKMapRect() == MKMapRect(x: 0, y: 0, width: 0, height: 0))
    gives([MKMapRect.world, MKMapRect.null], [MKMapRect].self)
    let sides: [KeyPath<MKMapRect, Double>] = [
      \.minX, \.minY, \.midX, \.midY, \.maxX, \.maxY, \.width, \.height,
    ]
    let rect = MKMapRect(x: 1, y: 2, width: 4, height: 6)
    #expect(sides.map { rect[keyPath: $0] } == [1, 2, 3, 5, 5, 8, 4, 6])
    let questions: [KeyPath<MKMapRect, Bool>] = [\.isNull, \.isEmpty, \.spans180thMeridian]
    #expect(questions.allSatisfy { !rect[keyPath: $0] })
    gives(MKMapRect.contains(_:), ((MKMapRect) -> (MKMapPoint) -> Bool).self)
    gives(MKMapRect.contains(_:), ((MKMapRect) -> (MKMapRect) -> Bool).self)
    gives(MKMapRect.intersects, ((MKMapRect) -> (MKMapRect) -> Bool).self)
    gives(MKMapRect.union, ((MKMapRect) -> (MKMapRect) -> MKMapRect).self)
    gives(MKMapRect.intersection, ((MKMapRect) -> (MKMapRect) -> MKMapRect).self)
    gives(MKMapRect.insetBy(dx:dy:), ((MKMapRect) -> (Double, Double) -> MKMapRect).self)
    gives(MKMapRect.offsetBy(dx:dy:), ((MKMapRect) -> (Double, Double) -> MKMapRect).self)
    gives(MKMapRect.remainder, ((MKMapRect) -> () -> MKMapRect).self)
    gives(
      rect.divided(atDistance: 1, from: CGRectEdge.minXEdge),
      (slice: MKMapRect, remainder: MKMapRect).self)
    #expect(Set([rect]).count == 1 && Set([rect.origin]).count == 1 && Set([rect.size]).count == 1)
  }

  @Test("K2: inventory: spans and regions")
  func regions() {
    sets(\MKCoordinateSpan.latitudeDelta, CLLocationDegrees.self)
    sets(\MKCoordinateSpan.longitudeDelta, CLLocationDegrees.self)
    gives(
      MKCoordinateSpan.init(latitudeDelta:longitudeDelta:),
      ((CLLocationDegrees, CLLocationDegrees) -> MKCoordinateSpan).self)
    gives(MKCoordinateSpan(), MKCoordinateSpan.self)
    sets(\MKCoordinateRegion.center, CLLocationCoordinate2D.self)
    sets(\MKCoordinateRegion.span, MKCoordinateSpan.self)
    gives(
      MKCoordinateRegion.init(center:span:),
      ((CLLocationCoordinate2D, MKCoordinateSpan) -> MKCoordinateRegion).self)
    gives(
      MKCoordinateRegion.init(center:latitudinalMeters:longitudinalMeters:),
      ((CLLocationCoordinate2D, CLLocationDistance, CLLocationDistance) -> MKCoordinateRegion).self)
    gives(MKCoordinateRegion.init(_:), ((MKMapRect) -> MKCoordinateRegion).self)
    gives(MKCoordinateRegion(), MKCoordinateRegion.self)
    gives(MKZoomScale.self, CGFloat.Type.self)
  }

  @Test("K3: inventory: the functions of before Swift 4.2")
  func functions() {
    gives([MKMapRectNull, MKMapRectWorld], [MKMapRect].self)
    gives(MKMapSizeWorld, MKMapSize.self)
    gives(MKMapPointForCoordinate, ((CLLocationCoordinate2D) -> MKMapPoint).self)
    gives(MKCoordinateForMapPoint, ((MKMapPoint) -> CLLocationCoordinate2D).self)
    gives(MKMetersBetweenMapPoints, ((MKMapPoint, MKMapPoint) -> CLLocationDistance).self)
    gives(MKMetersPerMapPointAtLatitude, ((CLLocationDegrees) -> CLLocationDistance).self)
    gives(MKMapPointsPerMeterAtLatitude, ((CLLocationDegrees) -> Double).self)
    gives(
      MKCoordinateSpanMake, ((CLLocationDegrees, CLLocationDegrees) -> MKCoordinateSpan).self)
    gives(
      MKCoordinateRegionMake,
      ((CLLocationCoordinate2D, MKCoordinateSpan) -> MKCoordinateRegion).self)
    gives(
      MKCoordinateRegionMakeWithDistance,
      ((CLLocationCoordinate2D, CLLocationDistance, CLLocationDistance) -> MKCoordinateRegion).self)
    gives(MKCoordinateRegionForMapRect, ((MKMapRect) -> MKCoordinateRegion).self)
    gives(MKMapPointMake, ((Double, Double) -> MKMapPoint).self)
    gives(MKMapSizeMake, ((Double, Double) -> MKMapSize).self)
    gives(MKMapRectMake, ((Double, Double, Double, Double) -> MKMapRect).self)
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
    gives(MKMapPointEqualToPoint, ((MKMapPoint, MKMapPoint) -> Bool).self)
    gives(MKMapSizeEqualToSize, ((MKMapSize, MKMapSize) -> Bool).self)
    gives(MKMapRectContainsPoint, ((MKMapRect, MKMapPoint) -> Bool).self)
    gives(MKMapRectRemainder, ((MKMapRect) -> MKMapRect).self)
    gives(
      MKMapRectDivide,
      ((
        MKMapRect, UnsafeMutablePointer<MKMapRect>, UnsafeMutablePointer<MKMapRect>, Double,
        CGRectEdge
      ) -> Void).self)
    gives(MKStringFromMapPoint, ((MKMapPoint) -> String).self)
    gives(MKStringFromMapSize, ((MKMapSize) -> String).self)
    gives(MKStringFromMapRect, ((MKMapRect) -> String).self)
    gives(MKRoadWidthAtZoomScale, ((MKZoomScale) -> CGFloat).self)
  }

  @Test("inventory: coordinates and spans as objects")
  func values() {
    gives(NSValue.init(mkCoordinate:), ((CLLocationCoordinate2D) -> NSValue).self)
    gives(NSValue.init(mkCoordinateSpan:), ((MKCoordinateSpan) -> NSValue).self)
    has(\NSValue.mkCoordinateValue, CLLocationCoordinate2D.self)
    has(\NSValue.mkCoordinateSpanValue, MKCoordinateSpan.self)
  }

  @Test("inventory: errors")
  func errors() {
    let codes: [MKError.Code] = [
      .unknown, .serverFailure, .loadingThrottled, .placemarkNotFound, .directionsNotFound,
      .decodingFailed,
    ]
    #expect(codes.map(\.rawValue) == [1, 2, 3, 4, 5, 6] as [UInt])
    #expect(MKError.Code(rawValue: 2) == MKError.serverFailure)
    gives(MKErrorDomain, String.self)
    gives(MKError.errorDomain, String.self)
    let error = MKError(.placemarkNotFound, userInfo: [:])
    gives(error.code, MKError.Code.self)
    gives(error.errorCode, Int.self)
    gives(error.userInfo, [String: Any].self)
    gives(error.errorUserInfo, [String: Any].self)
    gives(error.localizedDescription, String.self)
    #expect(
      codes == [
        MKError.unknown, MKError.serverFailure, MKError.loadingThrottled, MKError.placemarkNotFound,
        MKError.directionsNotFound, MKError.decodingFailed,
      ])
  }

  @Test("inventory: the formatter of distances")
  func formatter() {
    changes(\MKDistanceFormatter.locale, Locale.self)
    changes(\MKDistanceFormatter.units, MKDistanceFormatter.Units.self)
    changes(\MKDistanceFormatter.unitStyle, MKDistanceFormatter.DistanceUnitStyle.self)
    gives(
      { $0.string(fromDistance:) },
      ((MKDistanceFormatter) -> (CLLocationDistance) -> String).self)
    gives(
      { $0.distance(from:) },
      ((MKDistanceFormatter) -> (String) -> CLLocationDistance).self)
    let units: [MKDistanceFormatterUnits] = [.default, .metric, .imperial, .imperialWithYards]
    #expect(units.map(\.rawValue) == [0, 1, 2, 3] as [UInt])
    #expect(MKDistanceFormatter.Units(rawValue: 4) == nil)
    let styles: [MKDistanceFormatterUnitStyle] = [.default, .abbreviated, .full]
    #expect(styles.map(\.rawValue) == [0, 1, 2] as [UInt])
    #expect(MKDistanceFormatter.DistanceUnitStyle(rawValue: 3) == nil)
  }
}
