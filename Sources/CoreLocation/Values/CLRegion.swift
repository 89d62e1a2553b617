// Areas that can be monitored.

public import Foundation
import Geodesy

/// An area with a name. Make a `CLCircularRegion` or a `CLBeaconRegion`; what macOS had before them, a circle that is a
/// plain region, is monitored as well.
///
/// Regions compare by `identifier`: two with the same one are the same region, whatever their shape, and of two that
/// are monitored the later replaces the earlier.
open class CLRegion: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable as the SDK's: the two flags are to be set before a region is handed to a manager.

  private let name: String
  /// The shape of a region that is neither of its subclasses; `nil` for one without.
  private let circle: (center: CLLocationCoordinate2D, radius: CLLocationDistance)?

  /// The name, by which regions are told apart.
  open var identifier: String { name }
  /// Whether entering it is told; true by default.
  open var notifyOnEntry = true
  /// Whether leaving it is told; true by default.
  open var notifyOnExit = true

  /// The middle of a circle; `kCLLocationCoordinate2DInvalid` for a region that is none.
  @available(*, deprecated, message: "use CLCircularRegion")
  open var center: CLLocationCoordinate2D { circle?.center ?? kCLLocationCoordinate2DInvalid }
  /// The radius of a circle, metres; negative for a region that is none.
  @available(*, deprecated, message: "use CLCircularRegion")
  open var radius: CLLocationDistance { circle?.radius ?? -1 }

  /// Makes a circle, as it was made before there was `CLCircularRegion`. A negative radius is none.
  @available(*, deprecated, message: "use CLCircularRegion")
  public init(
    circularRegionWithCenter center: CLLocationCoordinate2D, radius: CLLocationDistance,
    identifier: String
  ) {
    name = identifier
    circle = (center, radius > 0 ? radius : 0)
    super.init()
  }

  init(name: String) {
    self.name = name
    circle = nil
    super.init()
  }

  /// Makes a region without a name and a shape, which stands for none yet: it is not monitored.
  public override init() {
    (name, circle) = ("", nil)
    super.init()
  }

  /// Whether a coordinate is within the circle, as `CLCircularRegion.contains(_:)` says it; `false` for a region that is
  /// none.
  @available(*, deprecated, message: "use CLCircularRegion")
  open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    shape?.contains(coordinate) ?? false
  }

  /// The circle that a region is; `nil` for one of beacons, or without a shape.
  var shape: CLCircularRegion? {
    circle.map { circle in
      let region = CLCircularRegion(
        center: circle.center, radius: circle.radius, identifier: identifier)
      region.takeFlags(of: self)
      return region
    }
  }

  /// A region with the same name, shape and flags.
  open func copy(with zone: NSZone? = nil) -> Any { CLRegion(copyOf: self) }

  private func takeFlags(of region: CLRegion) {
    (notifyOnEntry, notifyOnExit) = (region.notifyOnEntry, region.notifyOnExit)
  }

  /// Whether the other has the same name.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CLRegion)?.identifier == identifier
  }

  /// A hash of the name.
  open override var hash: Int { identifier.hashValue }

  /// The name.
  open override var description: String { "\(type(of: self)) (identifier:'\(identifier)')" }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the name, the flags and, of a plain circle, its shape.
  open func encode(with coder: NSCoder) {
    coder.encode(identifier as NSString, forKey: "identifier")
    coder.encode(number: notifyOnEntry ? 1 : 0, forKey: "onEntry")
    coder.encode(number: notifyOnExit ? 1 : 0, forKey: "onExit")
    guard let circle else { return }
    coder.encode(number: circle.center.latitude, forKey: "latitude")
    coder.encode(number: circle.center.longitude, forKey: "longitude")
    coder.encode(number: circle.radius, forKey: "radius")
  }

  /// Reads the name and the flags; `nil` where one is missing.
  public required init?(coder: NSCoder) {
    guard let name = coder.text(forKey: "identifier"), let onEntry = coder.flag(forKey: "onEntry"),
      let onExit = coder.flag(forKey: "onExit")
    else { return nil }
    self.name = name
    if let latitude = coder.number(forKey: "latitude"),
      let longitude = coder.number(forKey: "longitude"), let radius = coder.number(forKey: "radius")
    {
      circle = (
        CLLocationCoordinate2D(latitude: latitude, longitude: longitude), radius > 0 ? radius : 0
      )
    } else {
      circle = nil
    }
    (notifyOnEntry, notifyOnExit) = (onEntry, onExit)
    super.init()
  }

  init(copyOf region: CLRegion) {
    name = region.identifier
    circle = region.circle
    super.init()
    takeFlags(of: region)
  }
}

/// What lies within a distance of a point, over the WGS 84 ellipsoid.
open class CLCircularRegion: CLRegion, @unchecked Sendable {
  private let middle: CLLocationCoordinate2D
  private let distance: CLLocationDistance

  /// The middle.
  open override var center: CLLocationCoordinate2D { middle }
  /// The radius, metres; 0 where it was made with a negative one, or with none.
  open override var radius: CLLocationDistance { distance }

  /// Makes a region. It is not checked: one whose middle is no coordinate contains nothing.
  public init(
    center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String
  ) {
    middle = center
    distance = radius > 0 ? radius : 0
    super.init(name: identifier)
  }

  /// Makes one that is nowhere, which stands for none yet: it contains nothing and is not monitored.
  public override init() {
    (middle, distance) = (kCLLocationCoordinate2DInvalid, 0)
    super.init(name: "")
  }

  private init(copyOf region: CLCircularRegion) {
    (middle, distance) = (region.center, region.radius)
    super.init(copyOf: region)
  }

  override var shape: CLCircularRegion? { self }

  /// Whether a coordinate is inside, or on the boundary, by the length of the shortest line to the middle. The SDK has
  /// a sphere for that, and may say otherwise within half a percent of the radius.
  open override func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    guard CLLocationCoordinate2DIsValid(center), CLLocationCoordinate2DIsValid(coordinate) else {
      return false
    }
    return Geodesic.inverse(
      from: Position(latitude: center.latitude, longitude: center.longitude),
      to: Position(latitude: coordinate.latitude, longitude: coordinate.longitude)
    ).distance <= radius
  }

  /// A region with the same name, shape and flags.
  open override func copy(with zone: NSZone? = nil) -> Any { CLCircularRegion(copyOf: self) }

  /// The name and the shape, as the SDK prints them.
  open override var description: String {
    let shape = String(
      format: "center:<%+.8f,%+.8f>, radius:%.2fm", center.latitude, center.longitude, radius)
    return "CLCircularRegion (identifier:'\(identifier)', \(shape))"
  }

  /// Writes name, flags and shape.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(numbers: [center.latitude, center.longitude, radius])
  }

  /// Reads what `encode(with:)` wrote; `nil` where something is missing.
  public required init?(coder: NSCoder) {
    guard let numbers = coder.numbers(3) else { return nil }
    middle = CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1])
    distance = numbers[2] > 0 ? numbers[2] : 0
    super.init(coder: coder)
  }
}
