import FusionCore
import LinearAlgebra
import SensorTypes

/// The heading of the body by a receiver's antennas, or by an instrument on its line.
struct AntennaHeading: Sendable {
  /// One sigma where the receiver reports none, degrees: two antennas, a compass.
  private static let assumed = (antennas: 2.0, compass: 5.0)
  /// One sigma of how exactly the line is known, degrees.
  private static let mounting = 1.0

  /// A heading of the body, as it was measured.
  struct Measured {
    /// Clockwise from magnetic north, 0 up to 2 pi radians.
    var angle: Double
    /// One sigma, radians, without the mounting's part.
    var deviation: Double
    var time: Timestamp
    /// The heading where nothing else measures it.
    var estimate: HeadingEstimate
  }

  /// The angle from the body's y axis to the line, radians clockwise seen from above.
  let angle: Double

  /// A heading that a receiver gives, of the body; `nil` where it gives none, or true north alone and the declination is not known.
  func measured(
    _ said: ReceiverHeading, _ declination: Result<TrueNorth.Declination, NoData>
  ) -> Measured? {
    let degree = Double.pi / 180
    let line: Double
    if let heading = said.trueHeading, case .success(let declination) = declination {
      line = heading * degree - declination.angle
    } else if let heading = said.magneticHeading {
      line = heading * degree
    } else {
      return nil
    }
    let usual = said.magneticHeading == nil ? Self.assumed.antennas : Self.assumed.compass
    let deviation = (said.accuracy ?? usual) * degree
    let turned = (line - angle).truncatingRemainder(dividingBy: 2 * .pi)
    let heading = turned < 0 ? turned + 2 * .pi : turned
    let time = said.received.advanced(bySeconds: -GNSSFix.usualLatency)
    let mounting = Self.mounting * degree
    let variance = deviation * deviation + mounting * mounting
    let estimate = HeadingEstimate(
      time: time, magneticHeading: heading, accuracy: min(1.96 * variance.squareRoot(), .pi),
      field: nil, attitude: attitude(heading, said),
      limit: deviation > mounting ? .antennas : .mounting)
    return Measured(angle: heading, deviation: deviation, time: time, estimate: estimate)
  }

  /// Level where the receiver gives no tilt, or that of a line across the body.
  private func attitude(_ heading: Double, _ said: ReceiverHeading) -> Quaternion {
    let degree = Double.pi / 180
    let turn = Quaternion(rotationVector: Vector3(0, 0, -heading))
    guard abs(sin(angle)) < 0.1, cos(angle) > 0 else { return turn }
    let pitch = Quaternion(rotationVector: Vector3((said.pitch ?? 0) * degree, 0, 0))
    let roll = Quaternion(rotationVector: Vector3(0, (said.roll ?? 0) * degree, 0))
    return turn * pitch * roll
  }
}
