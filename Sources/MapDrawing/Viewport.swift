// Where the map is looked at from, and what lies where in the picture.

package import Geodesy
import LinearAlgebra

/// A point of the picture: points to the right of its left edge, and below its upper one.
package struct PicturePoint: Hashable, Sendable {
  /// Points to the right.
  package var x: Double
  package var y: Double

  /// Makes a point of its distances from the upper left corner.
  package init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// Which part of the projected earth a picture shows: a camera over the map's plane that looks at the middle of
/// the picture.
///
/// Its field of view is 30 degrees from the picture's upper edge to the lower one, so that with a pitch of zero every
/// part of the map has the same scale, and the camera is as high as makes that scale.
package struct Viewport: Hashable, Sendable {
  /// What lies in the middle of the picture. Its `x` is from 0 up to 1.
  package var centre: MercatorPoint
  /// How many points wide the whole earth is, at the scale of the middle.
  package var pointsPerWorld: Double
  /// What is up in the picture, radians clockwise from north.
  package var heading: Double
  /// How far the camera is tilted from straight down, radians, 0 to `pitchLimit`.
  package var pitch: Double
  /// The picture's width, points.
  package var width: Double
  /// The picture's height, points.
  package var height: Double

  /// Makes a viewport, north up and flat unless something else is said.
  package init(
    centre: MercatorPoint, pointsPerWorld: Double, heading: Double = 0, pitch: Double = 0,
    width: Double, height: Double
  ) {
    self.centre = centre
    self.pointsPerWorld = pointsPerWorld
    self.heading = heading
    self.pitch = pitch
    self.width = width
    self.height = height
  }

  /// Half of the field of view, from the middle to the upper edge, radians.
  package static let halfFieldOfView = 15 * Double.pi / 180

  /// The largest pitch, radians: the horizon stays out of the picture.
  package static let pitchLimit = 60 * Double.pi / 180

  /// The camera's distance from what it looks at, in points at the scale of the middle: it is the focal length, too.
  package var cameraDistance: Double { height / 2 / tan(Self.halfFieldOfView) }

  /// Where a point of the earth lies in the picture, or outside of it. Of the earths that lie side by side across 180
  /// degrees it is the one nearest to the middle. Nil behind the camera.
  package func picturePoint(of point: MercatorPoint) -> PicturePoint? {
    let step = (point.x - centre.x).remainder(dividingBy: 1)
    return picturePoint(east: step, south: point.y - centre.y)
  }

  /// As `picturePoint(of:)`, of the very point that is given, however far from the middle it is. A line that crosses 180
  /// degrees is drawn with it.
  package func unwrappedPicturePoint(of point: MercatorPoint) -> PicturePoint? {
    picturePoint(east: point.x - centre.x, south: point.y - centre.y)
  }

  private func picturePoint(east: Double, south: Double) -> PicturePoint? {
    let (s, c) = (sin(heading), cos(heading))
    let (east, south) = (east * pointsPerWorld, south * pointsPerWorld)
    let ahead = east * s - south * c
    let right = east * c + south * s
    guard pitch != 0 else { return PicturePoint(x: width / 2 + right, y: height / 2 - ahead) }
    let depth = cameraDistance + ahead * sin(pitch)
    guard depth > cameraDistance * Self.nearest else { return nil }
    let scale = cameraDistance / depth
    return PicturePoint(
      x: width / 2 + right * scale, y: height / 2 - ahead * cos(pitch) * scale)
  }

  /// What is nearer to the camera than this share of its distance is behind it.
  private static let nearest = 0.01

  /// What of the earth lies at a point of the picture; beyond an edge of the map where the picture is. Nil on the
  /// horizon and above it.
  package func worldPoint(at point: PicturePoint) -> MercatorPoint? {
    var right = point.x - width / 2
    var ahead = height / 2 - point.y
    if pitch != 0 {
      let divisor = cameraDistance * cos(pitch) - ahead * sin(pitch)
      guard divisor > cameraDistance * Self.nearest else { return nil }
      ahead *= cameraDistance / divisor
      right *= 1 + ahead * sin(pitch) / cameraDistance
    }
    let (s, c) = (sin(heading), cos(heading))
    return MercatorPoint(
      x: centre.x + (ahead * s + right * c) / pointsPerWorld,
      y: centre.y + (right * s - ahead * c) / pointsPerWorld)
  }

  /// How many points of the picture a metre is in the middle.
  package var pointsPerMetre: Double {
    let latitude = WebMercator.position(of: centre).latitude
    return pointsPerWorld / (360 * WGS84.metresPerDegree(atLatitude: latitude).east)
  }

  /// The four corners of the picture on the earth, clockwise from the upper left one.
  package var corners: [MercatorPoint] {
    [(0, 0), (width, 0), (width, height), (0, height)].compactMap { x, y in
      worldPoint(at: PicturePoint(x: x, y: y))
    }
  }

  /// The smallest rectangle of the map that holds the picture. It may go on beyond an edge of the map.
  package var bounds: (minimum: MercatorPoint, maximum: MercatorPoint) {
    var low = centre
    var high = centre
    for corner in corners {
      low = MercatorPoint(x: min(low.x, corner.x), y: min(low.y, corner.y))
      high = MercatorPoint(x: max(high.x, corner.x), y: max(high.y, corner.y))
    }
    return (low, high)
  }
}
