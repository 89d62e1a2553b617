import ArgumentParser
import LogConversion
import Lodestone

/// `lodestone track FILE`: the way that a board or a receiver went.
struct TrackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "track",
    abstract:
      "The track of a recording, of a receiver's log, of JSON lines or of a table, as GPX, GeoJSON, a table, MCAP or a picture.",
    discussion: """
      What the file is, its content says: a recording by lodestone record, which is replayed; the JSON lines of lodestone \
      monitor, replay or decode; a receiver's bytes (NMEA, UBX, mixed); a table with a header that has latitude and \
      longitude in it (CSV). Each of them may be compressed by gzip or zstd. A new line begins where positions are \
      missing. JSON lines that are damaged, were cut off or are of a newer kind are skipped and counted. Exit code 1 when \
      there is no position in it.

      A picture has the line, around it how exactly it is known where that was said, and a scale bar, on a graticule or on \
      --tiles. SVG stands by itself; PNG is made of it by rsvg-convert (apt install librsvg2-bin).

      An MCAP file has each position as sensor_msgs/msg/NavSatFix on /gnss/fix and as foxglove.LocationFix on /gnss/location, for the map \
      of Foxglove. Of a recording, replay --format mcap has all the rest too.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    /// GPX 1.1.
    case gpx
    /// RFC 7946.
    case geojson
    /// A table, a row an epoch.
    case csv
    /// An MCAP file of Foxglove's and ROS 2's positions.
    case mcap
    /// A picture of lines.
    case svg
    /// A picture of pixels.
    case png
  }

  @Argument(
    help: "A recording, a receiver's log, JSON lines or a table, or - for standard input.",
    completion: .file())
  var file: String

  @Option(help: "What to print: gpx, geojson, csv, mcap, svg or png.")
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
    if dark || tiles != nil, ![.svg, .png].contains(format) {
      throw ValidationError("--dark and --tiles go with --format svg or png")
    }
  }

  private static let program = "Lodestone \(LodestoneRuntime.version)"

  func run() throws {
    let track = TrackFile(file)
    switch format {
    case .gpx: try track.read(by: GPXWriter())
    case .geojson: try track.read(by: GeoJSONWriter())
    case .csv: try track.read(by: CSVWriter())
    case .mcap: try track.read(by: MCAPTrackWriter.forStandardOutput(by: Self.program))
    case .svg, .png:
      try TrackDrawing(
        size: size, scale: scale, isDark: dark, isPixels: format == .png, tiles: tiles
      ).draw(track)
    }
  }
}

extension PictureSize: ExpressibleByArgument {
  package init?(argument: String) { self.init(argument) }

  package var defaultValueDescription: String { "\(width)x\(height)" }
}
