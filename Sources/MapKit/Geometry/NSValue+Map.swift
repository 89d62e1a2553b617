// Coordinates and spans as objects, for collections that take nothing else.

public import CoreLocation

extension NSValue {
  // Two doubles. A structure's own name is not understood here, and Foundation's own structures have others.
  private static let twoDoubles = "[2d]"

  private convenience init(_ first: Double, _ second: Double) {
    self.init(bytes: [first, second], objCType: Self.twoDoubles)
  }

  /// The two numbers; nil where it holds something else, for which there might be no room.
  private var pair: (Double, Double)? {
    guard String(cString: objCType) == Self.twoDoubles else { return nil }
    var pair = (0.0, 0.0)
    withUnsafeMutableBytes(of: &pair) { bytes in
      if let start = bytes.baseAddress { getValue(start) }
    }
    return pair
  }

  /// Makes a value of a coordinate.
  public convenience init(mkCoordinate coordinate: CLLocationCoordinate2D) {
    self.init(coordinate.latitude, coordinate.longitude)
  }

  /// Makes a value of a span.
  public convenience init(mkCoordinateSpan span: MKCoordinateSpan) {
    self.init(span.latitudeDelta, span.longitudeDelta)
  }

  /// The coordinate; invalid where it holds something else.
  public var mkCoordinateValue: CLLocationCoordinate2D {
    pair.map { CLLocationCoordinate2D(latitude: $0.0, longitude: $0.1) }
      ?? kCLLocationCoordinate2DInvalid
  }

  /// The span; nothing where it holds something else.
  public var mkCoordinateSpanValue: MKCoordinateSpan {
    pair.map { MKCoordinateSpan(latitudeDelta: $0.0, longitudeDelta: $0.1) } ?? MKCoordinateSpan()
  }
}
