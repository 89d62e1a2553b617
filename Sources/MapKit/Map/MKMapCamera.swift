// From where the map is looked at.

public import CoreLocation
import Geodesy
import MapDrawing

/// A point above the map from which it is looked at.
open class MKMapCamera: NSObject, NSCopying, NSSecureCoding {
  /// What is in the middle of the view.
  open var centerCoordinate: CLLocationCoordinate2D
  /// What is up in the view, degrees clockwise from true north.
  open var heading: CLLocationDirection
  /// Degrees from straight down; 0 is flat. A map shows 60 at most.
  open var pitch: CGFloat
  /// Metres from the camera to what is in the middle of the view.
  open var centerCoordinateDistance: CLLocationDistance

  /// Metres that the camera is above the map.
  open var altitude: CLLocationDistance {
    get { centerCoordinateDistance * cos(min(max(pitch, 0), 89) * Double.pi / 180) }
    set { centerCoordinateDistance = newValue / cos(min(max(pitch, 0), 89) * Double.pi / 180) }
  }

  /// A camera at no distance of 0 degrees north, 0 degrees east.
  public override init() {
    centerCoordinate = CLLocationCoordinate2D(latitude: 0, longitude: 0)
    heading = 0
    pitch = 0
    centerCoordinateDistance = 0
    super.init()
  }

  /// A camera at a distance from what is in the middle of the view.
  public init(
    lookingAtCenter centerCoordinate: CLLocationCoordinate2D,
    fromDistance distance: CLLocationDistance, pitch: CGFloat, heading: CLLocationDirection
  ) {
    self.centerCoordinate = centerCoordinate
    centerCoordinateDistance = distance
    self.pitch = pitch
    self.heading = heading
    super.init()
  }

  /// A camera above a place that looks at another one: heading and pitch are what that takes.
  public convenience init(
    lookingAtCenter centerCoordinate: CLLocationCoordinate2D,
    fromEyeCoordinate eyeCoordinate: CLLocationCoordinate2D, eyeAltitude: CLLocationDistance
  ) {
    let way = Geodesic.inverse(from: Position(eyeCoordinate), to: Position(centerCoordinate))
    let ground = way.distance.isFinite ? way.distance : 0
    self.init(
      lookingAtCenter: centerCoordinate, fromDistance: hypot(ground, eyeAltitude),
      pitch: atan2(ground, eyeAltitude) * 180 / .pi,
      heading: ground > 0 ? (way.initialAzimuth + 360).truncatingRemainder(dividingBy: 360) : 0)
  }

  /// The same camera as another object.
  open func copy(with zone: NSZone? = nil) -> Any {
    MKMapCamera(
      lookingAtCenter: centerCoordinate, fromDistance: centerCoordinateDistance, pitch: pitch,
      heading: heading)
  }

  /// True: archives of it are safe to read.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the camera into an archive.
  open func encode(with coder: NSCoder) {
    coder.encode(centerCoordinate.latitude, forKey: "latitude")
    coder.encode(centerCoordinate.longitude, forKey: "longitude")
    coder.encode(centerCoordinateDistance, forKey: "distance")
    coder.encode(Double(pitch), forKey: "pitch")
    coder.encode(heading, forKey: "heading")
  }

  /// Reads a camera from an archive; nil where a part of it is missing.
  public required init?(coder: NSCoder) {
    for key in ["latitude", "longitude", "distance", "pitch", "heading"] {
      guard coder.containsValue(forKey: key) else { return nil }
    }
    centerCoordinate = CLLocationCoordinate2D(
      latitude: coder.decodeDouble(forKey: "latitude"),
      longitude: coder.decodeDouble(forKey: "longitude"))
    centerCoordinateDistance = coder.decodeDouble(forKey: "distance")
    pitch = coder.decodeDouble(forKey: "pitch")
    heading = coder.decodeDouble(forKey: "heading")
    super.init()
  }

  init(_ viewport: Viewport) {
    centerCoordinate = MKMapPoint(viewport.centre).coordinate
    heading = viewport.heading * 180 / .pi
    pitch = viewport.pitch * 180 / .pi
    centerCoordinateDistance = viewport.cameraDistance / viewport.pointsPerMetre
    super.init()
  }

  /// What a viewport becomes with this camera; `nil` if a number is not finite. A distance of zero or less keeps the
  /// viewport's.
  func applied(to viewport: Viewport) -> Viewport? {
    guard CLLocationCoordinate2DIsValid(centerCoordinate), heading.isFinite, pitch.isFinite,
      centerCoordinateDistance.isFinite
    else { return nil }
    var view = viewport
    let middle = MKMapPoint(centerCoordinate)
    let kept = MKMapCamera(viewport).centerCoordinateDistance
    let distance = centerCoordinateDistance > 0 ? centerCoordinateDistance : kept
    view.centre = middle.projected
    view.pointsPerWorld *= view.cameraDistance / view.pointsPerMetre / distance
    view.heading = heading * .pi / 180
    view.pitch = pitch * .pi / 180
    return view.settled
  }
}
