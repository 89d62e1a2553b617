/// Where somebody is who looks at the map, as a dot.
package struct UserLocationMark: Hashable, Sendable {
  /// Where the dot's middle is.
  package var position: PicturePoint
  /// The radius of the circle in which the position is, points at the scale of the picture's middle; nil for no circle.
  /// On a pitched map the circle lies on the ground.
  package var accuracyRadius: Double?
  /// Where it is headed in the picture, radians clockwise from up; nil for no cone.
  package var headingDirection: Double?
  /// How far the heading may be off to either side, radians.
  package var headingHalfWidth: Double
  /// Whether it is where it was, and may not be any more.
  package var isStale: Bool

  /// Makes a dot without a circle and a cone, unless they are given.
  package init(
    position: PicturePoint, accuracyRadius: Double? = nil, headingDirection: Double? = nil,
    headingHalfWidth: Double = 0.4, isStale: Bool = false
  ) {
    self.position = position
    self.accuracyRadius = accuracyRadius
    self.headingDirection = headingDirection
    self.headingHalfWidth = headingHalfWidth
    self.isStale = isStale
  }
}
