/// Something that is drawn, in points of the picture.
///
/// What has a place or a size that is no number is left out.
package enum MapShape: Hashable, Sendable {
  /// Lines through points, and what they enclose by the even-odd rule: a ring within a ring is a hole.
  case path(subpaths: [[PicturePoint]], closed: Bool, fill: Colour?, stroke: Stroke?)
  case circle(centre: PicturePoint, radius: Double, fill: Colour?, stroke: Stroke?)
  /// RecordPhrases on a line whose base is at a height.
  case text(String, at: PicturePoint, style: TextStyle)
  /// A picture, as large as it is said to be and turned about its middle, radians clockwise.
  case image(Tile, centre: PicturePoint, width: Double, height: Double, rotation: Double)
  /// Shapes that together cover what lies below as much as is said, 0 to 1.
  case group([MapShape], opacity: Double)

  /// A rectangle with its corners on a line each.
  package static func rectangle(
    x: Double, y: Double, width: Double, height: Double, fill: Colour?, stroke: Stroke?
  ) -> MapShape {
    let corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return .path(
      subpaths: [corners.map { PicturePoint(x: $0, y: $1) }], closed: true, fill: fill,
      stroke: stroke)
  }
}
