import ArgumentParser
import LogConversion
import OutputProtocols
import TerminalUI

/// `lodestone decode FILE...`: what a receiver said, epoch by epoch.
struct DecodeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode",
    abstract: "A receiver's bytes (NMEA, UBX, mixed) to JSON lines, GPX, a table or plain NMEA.",
    discussion: """
      It prints what the receiver says; whether that is good enough is not judged here. Each file is a log by itself: \
      what is one in pieces is joined by cat FILES | lodestone decode -. Files that cannot be read, or have no message in \
      them, are named, and the exit code is that of the first of them (66, 65). Exit code 1 when nothing comes out, not \
      even a header, or a track without a position.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    /// All that the receiver says, one object a line.
    case json
    /// A track a file.
    case gpx
    /// A table, a row an epoch.
    case csv
    /// RMC, GGA and GST anew.
    case nmea

    var writer: any LogWriter {
      switch self {
      case .json: ObservationLines { _ in nil }
      case .gpx: GPXWriter()
      case .csv: CSVWriter()
      case .nmea: NMEAWriter()
      }
    }
  }

  @Argument(help: "Files, or - for standard input.", completion: .file())
  var files: [String]

  @Option(help: "What to print: json, gpx, csv or nmea.")
  var format = Format.json

  @Option(
    help: """
      The logs are not older than that day (2020-01-31): what an old receiver dates 1024 weeks or more before it is put \
      right, and marked by weeksAdded.
      """)
  var notBefore: String?

  func run() throws {
    let window = try notBefore.map { text in
      guard let day = LogReader.day(text) else {
        throw CommandError("--not-before: '\(text)' is no date like 2026-11-21", kind: .usage)
      }
      return LogReader.Window(notBefore: day)
    }
    try LogReader.run(files, format.writer, needsPlaces: format == .gpx, window: window)
  }
}
