// Attitudes and places in the frames of MAVLink.

import LinearAlgebra
import SensorTypes

/// An attitude from the body (forward, right, down) to the earth (north, east, down), and what is known of it.
struct MAVLinkAttitude {
  var time: Timestamp
  /// From body to earth.
  var rotation: Quaternion
  /// Whether north is true north; else the attitude points anywhere.
  var isNorth: Bool
  /// In rad/s about forward, right and down; `nil` without a gyro.
  var rate: Vector3?
  /// Variances of roll, pitch and yaw in rad^2; `nil` where they are not known.
  var variances: (roll: Double?, pitch: Double?, yaw: Double?)

  /// The least cosine of the pitch: a forward axis that points up or down leaves no roll.
  private static let leastCosine = 0.05
  /// The half width of a 95 % interval, and the radius of a 95 % circle, in standard deviations.
  private static let (interval, circle) = (1.959_963_985, 2.447_746_831)

  /// Makes the attitude of a moment; `nil` where there is none, and where roll and pitch are assumed and not measured.
  init?(_ state: PublishedState, widestHeading: Double, at now: Timestamp) {
    guard let reading = state.attitude(at: now), state.tilt(at: now) != nil else { return nil }
    let heading = state.trustedHeading(at: now)
    var north: Quaternion?
    if let heading, heading.accuracy <= widestHeading, heading.trueNorth != nil,
      let declination = heading.declination ?? reading.declination, declination.isFinite
    {
      // East of true north is clockwise seen from above.
      north = reading.north.map {
        Quaternion(rotationVector: Vector3(0, 0, -declination)) * $0
      }
    }
    guard let attitude = north ?? reading.free ?? reading.north, attitude.w.isFinite,
      attitude.vector.isFinite
    else { return nil }
    time = reading.time
    isNorth = north != nil
    let rotation = Self.turned(attitude)
    self.rotation = rotation
    rate = reading.angularRate.flatMap { $0.isFinite ? Self.turned($0) : nil }
    let tilt = reading.tiltAccuracy.map { $0 / Self.circle }
    // How far the forward axis points down is the sine of the pitch, negative.
    let sine = min(1, abs(rotation.rotate(Vector3(1, 0, 0)).z))
    let cosine = max(Self.leastCosine, (1 - sine * sine).squareRoot())
    let yaw = isNorth ? heading.map { $0.accuracy / Self.interval } : nil
    variances = (
      tilt.map { $0 / cosine * $0 / cosine }, tilt.map { $0 * $0 }, yaw.map { $0 * $0 }
    )
  }

  /// A vector with east, north, up (or right, forward, up) as north, east, down (or forward, right, down), and back.
  static func turned(_ vector: Vector3) -> Vector3 { Vector3(vector.y, vector.x, -vector.z) }

  /// A rotation between the frames of this package as one between those of MAVLink, with a positive scalar part.
  static func turned(_ rotation: Quaternion) -> Quaternion {
    let turned = Quaternion(w: rotation.w, vector: turned(rotation.vector)).normalized
    return turned.w < 0 ? Quaternion(w: -turned.w, vector: -turned.vector) : turned
  }
}

/// A place that other places are measured from, on WGS 84.
struct MAVLinkOrigin {
  /// How far a place may be for the flat map to be true to 1 part in 1000, metres.
  static let reach = 50_000.0
  private static let radius = 6_378_137.0
  private static let eccentricitySquared = 6.694_379_990_14e-3

  let latitude: Double
  let longitude: Double

  /// The way north and east in metres, or `nil` beyond the reach.
  func offset(latitude other: Double, longitude otherLongitude: Double) -> (
    north: Double, east: Double
  )? {
    let mean = (latitude + other) / 2 * .pi / 180
    let flattening = 1 - Self.eccentricitySquared * sin(mean) * sin(mean)
    let meridian = Self.radius * (1 - Self.eccentricitySquared) / pow(flattening, 1.5)
    let parallel = Self.radius / flattening.squareRoot() * cos(mean)
    var eastward = otherLongitude - longitude
    if eastward > 180 { eastward -= 360 }
    if eastward < -180 { eastward += 360 }
    let north = (other - latitude) * .pi / 180 * meridian
    let east = eastward * .pi / 180 * parallel
    guard abs(north) <= Self.reach, abs(east) <= Self.reach else { return nil }
    return (north, east)
  }
}
