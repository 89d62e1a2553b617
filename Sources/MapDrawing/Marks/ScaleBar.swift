// How long a length is.

import Geodesy
import LinearAlgebra

/// A round length and how wide it is in the middle of the picture, along a line that lies in it.
struct ScaleBar: Hashable, Sendable {
  /// Metres.
  let length: Double
  let width: Double
  /// Into how many parts the bar is cut.
  let parts: Int
  /// Whether other parts of the picture have another scale.
  let isForMiddle: Bool

  /// The longest that is not wider than a number of points; nil where the middle is not on earth.
  init?(view: Viewport, widest: Double) {
    guard let metres = Self.metresPerPoint(view), widest > 20 else { return nil }
    let power = pow(10, floor(log10(widest * metres)))
    guard power > 0, power.isFinite else { return nil }
    let factor = [5.0, 2, 1].first { $0 * power <= widest * metres } ?? 1
    length = factor * power
    width = length / metres
    parts = factor == 5 ? 5 : 4
    isForMiddle = view.pitch > 0 || Self.scaleVaries(view)
  }

  /// How many metres a point is in the middle, to the right. North and east differ a little: latitudes are those of an
  /// ellipsoid, the projection is a sphere's.
  static func metresPerPoint(_ view: Viewport) -> Double? {
    guard view.centre.y >= 0, view.centre.y <= 1 else { return nil }
    let latitude = WebMercator.position(of: view.centre).latitude
    let degree = WGS84.metresPerDegree(atLatitude: latitude)
    let east = 360 * degree.east
    let north = 360 * cos(latitude * .pi / 180) * degree.north
    let metres = hypot(cos(view.heading) * east, sin(view.heading) * north) / view.pointsPerWorld
    return metres > 0 && metres.isFinite ? metres : nil
  }

  /// Whether latitudes in the picture have scales that differ by more than a tenth.
  private static func scaleVaries(_ view: Viewport) -> Bool {
    let range = GroundRect(around: view.ground)
    func scale(_ y: Double) -> Double {
      cos(WebMercator.position(of: MercatorPoint(x: 0, y: y)).latitude * .pi / 180)
    }
    var scales = [scale(range.minY), scale(range.maxY), scale(view.centre.y)]
    if range.minY < 0.5, range.maxY > 0.5 { scales.append(1) }
    guard let low = scales.min(), let high = scales.max() else { return false }
    return high > low * 1.1
  }

  /// The length in words.
  var text: String {
    let isFar = length >= 1000
    return Number.text(isFar ? length / 1000 : length, digits: 3) + (isFar ? " km" : " m")
  }
}
