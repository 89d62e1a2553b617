import FoundationEssentials
import Geodesy
package import MapDrawing

/// Draws a way: its line, how exactly it is known, where it begins and ends.
package struct TrackPicture {
  /// How large the picture is.
  var size: PictureSize
  var isDark: Bool
  var scale: Double
  /// The map below; a graticule where there is none.
  var tiles: TileStore?

  /// Draws what was collected; nil where there is no place in it.
  package func drawn(_ collector: TrackCollector) -> MapPicture.Drawing? {
    let stretches = collector.stretches.filter { !$0.isEmpty }
    guard let first = stretches.first?.first, let last = stretches.last?.last else { return nil }
    let lines = stretches.map(TrackLine.init)
    let swath = AccuracySwath(lines)
    let whole = Viewport.wholeEarth(width: width, height: height)
    let rect = Self.atLeastTwentyMetres(swath.rect)
    let view =
      whole.showing(rect.middle, size: (rect.width, rect.height), margins: margins) ?? whole
    var picture = MapPicture(viewport: view)
    picture.tiles = tiles
    picture.look = isDark ? .dark : .light
    picture.scale = scale
    picture.belowLabels = [swath.shape(color, in: view)]
    picture.overlays = lines.flatMap { $0.shapes(color, edge: edgeColor, in: view) }
    picture.title = "A track"
    let ends = [("start", first, Colour(hex: 0x2AA653)), ("end", last, Colour(hex: 0xE63833))]
    let shown = collector.places.count > 1 ? ends : Array(ends.prefix(1))
    // The words stand aside, where no way is: beside its ends they would cover it.
    for (line, (word, place, colour)) in shown.enumerated() {
      let base = 38 + 18 * Double(line)
      if let point = view.picturePoint(of: place.projected) {
        picture.annotations.append(dot(point, colour))
      }
      picture.annotations += [
        dot(PicturePoint(x: width - 16, y: base - 4), colour),
        .text(
          words(word, place), at: PicturePoint(x: width - 28, y: base),
          style: TextStyle(size: 12, colour: ink, halo: paper, anchor: .end)),
      ]
    }
    return picture.drawn()
  }

  private var width: Double { Double(size.width) }
  private var height: Double { Double(size.height) }

  private func dot(_ centre: PicturePoint, _ colour: Colour) -> MapShape {
    .circle(centre: centre, radius: 5.5, fill: colour, stroke: Stroke(colour: .white, width: 2))
  }

  private var ink: Colour { isDark ? Colour(hex: 0xE6EAEE) : Colour(hex: 0x2B333A) }
  private var paper: Colour { isDark ? Colour(hex: 0x14171B) : Colour(hex: 0xFFFFFF) }
  private var color: Colour {
    isDark ? Colour(red: 0.35, green: 0.68, blue: 1) : Colour(red: 0.09, green: 0.36, blue: 0.75)
  }
  /// The edge of the line, so that it can be seen on any ground.
  private var edgeColor: Colour {
    isDark
      ? Colour(red: 0.07, green: 0.07, blue: 0.07, alpha: 0.85)
      : Colour(red: 1, green: 1, blue: 1, alpha: 0.85)
  }

  /// The end and when it was, as far as there is space for it.
  private func words(_ word: String, _ place: TrackPoint) -> String {
    guard let utc = place.utc, size.width >= 300 else { return word }
    let time = Date(timeIntervalSince1970: utc).formatted(
      .iso8601.year().month().day().dateTimeSeparator(.space).time(
        includingFractionalSeconds: false))
    return "\(word) \(time) UTC"
  }

  /// Above the way the words stand.
  private var margins: PictureMargins {
    let side = min(width, height) / 10
    return PictureMargins(top: max(side, 74), left: side, bottom: max(side, 40), right: side)
  }

  private static func atLeastTwentyMetres(_ rect: TrackRect) -> TrackRect {
    let latitude = WebMercator.position(of: rect.middle).latitude
    let least = 20 * TrackRect.widthOfMetre(atLatitude: latitude)
    return rect.grown(byX: max(least - rect.width, 0) / 2, y: max(least - rect.height, 0) / 2)
  }

  package init(size: PictureSize, isDark: Bool, scale: Double, tiles: TileStore? = nil) {
    self.size = size; self.isDark = isDark; self.scale = scale; self.tiles = tiles
  }
}
