import MapDrawing
import TerminalUI

/// A picture of a way, on standard output: what `lodestone track` draws.
package struct TrackDrawing {
  private let size: PictureSize
  private let scale: Double
  private let isDark: Bool
  private let isPixels: Bool
  private let tiles: String?

  /// - Parameters:
  ///   - size: How large the picture is.
  ///   - scale: A PNG's pixels for each point.
  ///   - isDark: Whether it has dark colours.
  ///   - isPixels: Whether it is a PNG; an SVG otherwise.
  ///   - tiles: The path of the map below; `nil` for a graticule.
  package init(size: PictureSize, scale: Double, isDark: Bool, isPixels: Bool, tiles: String?) {
    self.size = size
    self.scale = scale
    self.isDark = isDark
    self.isPixels = isPixels
    self.tiles = tiles
  }

  /// Draws what a file says.
  package func draw(_ file: TrackFile) throws {
    if isPixels, Terminal.isInteractive {
      throw CommandError(
        "a picture is nothing for a terminal: lodestone track … --format png >track.png",
        kind: .usage)
    }
    // A map that is not there is said before a long log is read.
    let store = try tiles.map(TileFiles.open)
    let collector = TrackCollector()
    try file.read(by: collector)
    let picture = TrackPicture(size: size, isDark: isDark, scale: scale, tiles: store)
    guard let drawing = picture.drawn(collector) else { return }
    for remark in Self.remarks(on: drawing, of: collector, tiles: tiles) {
      Terminal.warn("lodestone: \(remark)")
    }
    guard isPixels else {
      Terminal.write(drawing.svg)
      return
    }
    do {
      let png = try Rasteriser.png(
        svg: drawing.svg, width: Int(Double(size.width) * scale),
        height: Int(Double(size.height) * scale))
      Terminal.write(png)
    } catch let error as RasterError {
      throw CommandError("\(error)", kind: error.isProgramMissing ? .configuration : .io)
    }
  }

  /// What the picture does not show of the way, or of the map below it.
  static func remarks(
    on drawing: MapPicture.Drawing, of collector: TrackCollector, tiles: String?
  ) -> [String] {
    var remarks: [String] = []
    if collector.thinning > 1 {
      remarks.append("of every \(collector.thinning) positions one is drawn")
    }
    if collector.leftOut > 0 {
      remarks.append("the first \(collector.leftOut) positions are left out")
    }
    remarks += drawing.tileFaults.map { "\($0)" }
    if let tiles, drawing.tileCount == 0, drawing.tileFaults.isEmpty {
      remarks.append("no tile of \(tiles) lies below the track")
    }
    return remarks
  }
}

/// The size of a picture, points.
package struct PictureSize: Sendable, Equatable {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Reads `1000x700`; `nil` for anything that is not two numbers above zero.
  package init?(_ text: String) {
    let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]),
      width > 0, height > 0
    else { return nil }
    self.init(width: width, height: height)
  }

  /// Whether a picture of this size is drawn at all.
  package var isDrawable: Bool {
    (100...8000).contains(width) && (100...8000).contains(height)
  }
}
