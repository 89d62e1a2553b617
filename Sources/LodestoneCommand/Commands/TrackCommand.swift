import ArgumentParser

/// `lodestone track FILE`: the way that a board or a receiver went.
struct TrackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "track",
    abstract:
      "The track of a recording, or of a receiver's log, as GPX or GeoJSON with accuracies.",
    discussion: """
      What the file is, its content says: a recording by lodestone record, which is replayed, or a receiver's bytes \
      (NMEA, UBX, mixed). A new line begins where positions are missing. Exit code 1 when there is no position in it.
      """)

  /// What comes out.
  enum Format: String, ExpressibleByArgument, CaseIterable {
    /// GPX 1.1.
    case gpx
    /// RFC 7946.
    case geojson

    var writer: any LogWriter {
      switch self {
      case .gpx: GPXWriter()
      case .geojson: GeoJSONWriter()
      }
    }
  }

  @Argument(help: "A recording or a receiver's log, or - for standard input.", completion: .file())
  var file: String

  @Option(help: "What to print: gpx or geojson.")
  var format = Format.gpx

  func run() throws {
    var input = try InputFile(file)
    let isRecording = RecordedRun.isOne(beginning: try input.beginning())
    var reader = LogReader(format.writer)
    do {
      guard try isRecording ? replay(&input, by: &reader) : reader.read(&input) else { return }
    } catch {
      // What came out is whole, up to there.
      _ = try reader.finish()
      throw error
    }
    guard try reader.finish() else { return }
    if reader.places == 0 { throw CommandError("\(file): there is no position in it") }
  }

  private func replay(_ input: inout InputFile, by reader: inout LogReader) throws -> Bool {
    var bytes: [UInt8] = []
    while let data = try input.read(1 << 16) { bytes += data }
    return try reader.replay(RecordedRun(bytes, file: file), named: input.name)
  }
}
