import ArgumentParser
import Foundation
import LogConversion
import MapDrawing
import TerminalUI

/// `lodestone track FILE`: the way that a board or a receiver went.
struct TrackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "track",
    abstract:
      "The track of a recording, of a receiver's log or of a table, as GPX, GeoJSON or a picture.",
    discussion: """
      What the file is, its content says: a recording by lodestone record, which is replayed; a receiver's bytes \
      (NMEA, UBX, mixed); a table with a header that has latitude and longitude in it (CSV). A new line begins where \
      positions are missing. Exit code 1 when there is no position in it.

      A picture has the line, around it how exactly it is known where that was said, and a scale bar, on a graticule or on \
      --tiles. SVG stands by itself; PNG is made of it by rsvg-convert (apt install librsvg2-bin).
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    /// GPX 1.1.
    case gpx
    /// RFC 7946.
    case geojson
    /// A picture of lines.
    case svg
    /// A picture of pixels.
    case png
  }

  @Argument(
    help: "A recording, a receiver's log or a table, or - for standard input.",
    completion: .file())
  var file: String

  @Option(help: "What to print: gpx, geojson, svg or png.")
  var format = Format.gpx

  @Option(help: "A picture's width and height in points, as 1000x700.")
  var size = PictureSize(width: 1000, height: 700)

  @Option(help: "A PNG's pixels for each point, 1 to 4.")
  var scale = 1.0

  @Flag(help: "Draw in dark colours.")
  var dark = false

  @Option(
    help: "The map below: a folder of tiles z/x/y.png, or an MBTiles file.",
    completion: .file())
  var tiles: String?

  func validate() throws {
    guard size.isDrawable else { throw ValidationError("--size takes 100x100 to 8000x8000") }
    guard (1...4).contains(scale) else { throw ValidationError("--scale takes 1 to 4") }
    if dark || tiles != nil, format == .gpx || format == .geojson {
      throw ValidationError("--dark and --tiles go with --format svg or png")
    }
  }

  func run() throws {
    switch format {
    case .gpx: _ = try read(by: GPXWriter())
    case .geojson: _ = try read(by: GeoJSONWriter())
    case .svg, .png: try draw()
    }
  }

  /// Reads the file, and hands what it says to a writer. Returns false where nobody reads the output any more.
  private func read(by writer: any LogWriter) throws -> Bool {
    var input = try InputFile(file)
    let beginning = try input.beginning()
    var reader = LogReader(
      writer, hint: "; a table (CSV) has a header with latitude and longitude in it")
    do {
      let isWanted =
        if RecordedRun.isOne(beginning: beginning) {
          try replay(&input, by: &reader)
        } else if PositionTable.isOne(beginning: beginning) {
          try table(input, by: &reader)
        } else {
          try reader.read(&input)
        }
      guard isWanted else { return false }
    } catch {
      // What came out is whole, up to there.
      _ = reader.finish()
      throw error
    }
    guard reader.finish() else { return false }
    if reader.places == 0 { throw CommandError("\(file): there is no position in it") }
    return true
  }

  private func replay(_ input: inout InputFile, by reader: inout LogReader) throws -> Bool {
    var bytes: [UInt8] = []
    while let data = try input.read(1 << 16) { bytes += data }
    return try reader.replay(RecordedRun(bytes, file: file), named: input.name)
  }

  private func table(_ input: InputFile, by reader: inout LogReader) throws -> Bool {
    var table = try PositionTable(input)
    return try reader.read(&table, named: input.name)
  }

  private func draw() throws {
    if format == .png, Terminal.isInteractive {
      throw CommandError(
        "a picture is nothing for a terminal: lodestone track … --format png >track.png",
        kind: .usage)
    }
    // A map that is not there is said before a long log is read.
    let store = try tiles.map(TileFiles.open)
    let collector = TrackCollector()
    _ = try read(by: collector)
    let picture = TrackPicture(
      size: CGSize(width: size.width, height: size.height), isDark: dark, scale: scale,
      tiles: store)
    guard let drawing = picture.drawn(collector) else { return }
    if collector.thinning > 1 {
      Terminal.warn("lodestone: of every \(collector.thinning) positions one is drawn")
    }
    if collector.leftOut > 0 {
      Terminal.warn("lodestone: the first \(collector.leftOut) positions are left out")
    }
    for fault in drawing.tileFaults { Terminal.warn("lodestone: \(fault)") }
    if let tiles, drawing.tileCount == 0, drawing.tileFaults.isEmpty {
      Terminal.warn("lodestone: no tile of \(tiles) lies below the track")
    }
    guard format == .png else {
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
}

/// How large a picture is, points.
struct PictureSize: ExpressibleByArgument {
  var width: Int
  var height: Int

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  init?(argument: String) {
    let parts = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]),
      width > 0, height > 0
    else { return nil }
    self.init(width: width, height: height)
  }

  var isDrawable: Bool {
    (100...8000).contains(width) && (100...8000).contains(height)
  }

  var defaultValueDescription: String { "\(width)x\(height)" }
}
