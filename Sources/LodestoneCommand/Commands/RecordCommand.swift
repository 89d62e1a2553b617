import ArgumentParser
import LogConversion
import Lodestone
import OutputProtocols
import TerminalUI

/// `lodestone record FILE`: every transfer of a run, or what was measured, into one file.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract:
      "Record every transfer on the buses, to be replayed anywhere; or measurements as MCAP.",
    discussion: """
      The file is text and holds the board file too: one file says all about a problem. It says where the board was as \
      well: only its owner can read a new file, and the command needs authorization for the board's exact position \
      (exit code 77 without). After the file was moved away, SIGHUP makes it begin a new one of the same name (log \
      rotation). Each file is a recording by itself; about a second between two of them is in neither. A terminal that \
      hangs up ends it, unless it was started with nohup, which also makes it ignore SIGHUP: rotate the recordings of a \
      service (systemd).

      A board that the daemon owns is recorded through it, while other programs use it, for root and the users that 'agents' in serve.yaml \
      names. A recording begins with the setup of the chips, so that they are set up again for each file.

      With --format mcap the file has what the board measures, as messages of ROS 2 for Foxglove, PlotJuggler and ROS: /imu/data, \
      /imu/mag, /gnss/fix, /heading/magnetic, /heading/true, /pressure, /temperature, /humidity, /log. --format foxglove has positions and \
      reasons as Foxglove's own messages instead, for its map panel; ROS 2 cannot read those. Without authorization for the position such a file has \
      no positions, orientations and true headings. It can be read at any moment, also after the process was killed or while the disk is \
      full: at most 5 seconds are missing then, and the index. One file holds about a day; use --rotate for more.

      \(RotationOptions.discussion)
      """)

  @OptionGroup var board: BoardOptions

  @Argument(help: "Where the recording goes: a file.", completion: .file())
  var file: String

  @OptionGroup var duration: DurationOptions

  @OptionGroup var rotation: RotationOptions

  enum Format: String, ExpressibleByArgument, CaseIterable {
    /// Every transfer, as text.
    case trace
    /// Measurements as messages of ROS 2.
    case mcap
    /// Measurements, some as messages of Foxglove.
    case foxglove

    var audience: RobotMessages.Audience? {
      switch self {
      case .trace: nil
      case .mcap: .robots
      case .foxglove: .foxglove
      }
    }
  }

  @Option(help: "What to write: trace (transfers), mcap (measurements for ROS 2) or foxglove.")
  var format = Format.trace

  @Flag(help: "Over a file that is there already.")
  var force = false

  @Flag(
    help: """
      Go on when the file cannot be written (a full disk): try again every second, and print every minute what was lost \
      by then. Go on too when the daemon that is recorded was started again. Without it a write error ends the recording. --rotate implies it.
      """)
  var keepTrying = false

  func validate() throws {
    // It is written so that it can be read after a power loss, and rotated: that takes a file.
    guard file != "-" else {
      throw ValidationError(
        "'-' is not standard output here: a recording is a file. For one of this name write ./-")
    }
  }

  func run() throws {
    let rotation = rotation.rotation
    // A series never writes over a file.
    if rotation == nil { try OutputFile.refuseTaken(file, unless: force) }
    if let audience = format.audience {
      let view = try BoardViews.open(board: board.name, calibratesInUse: true)
      let run = MCAPRecordingRun(
        path: file, rotation: rotation, keepsTrying: keepTrying, audience: audience)
      return try run.run(
        ObservationRun(
          board: view, seconds: duration.seconds, demand: MCAPRecordingRun.demand))
    }
    try RecordingRun(
      board: board.name, file: file, seconds: duration.seconds, keepsTrying: keepTrying,
      rotation: rotation
    ).run()
  }
}

/// `lodestone replay FILE`: the same drivers through the same transfers.
struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Run a recording through the drivers and the fusion again.",
    discussion: """
      Prints JSON lines as monitor does, counted from the recording's start. Alike to the bit every time. A recording may be compressed \
      by gzip or zstd. --format mcap writes an MCAP file to standard output, as record --format mcap does: lodestone replay \
      drive.trace --format mcap > drive.mcap
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    /// JSON lines.
    case json
    /// MCAP with messages of ROS 2.
    case mcap
    /// MCAP with some messages of Foxglove.
    case foxglove
  }

  @Option(help: "What to print: json, mcap (for ROS 2) or foxglove.")
  var format = Format.json

  @Flag(
    help: """
      Give headings in the light of the whole recording, not only of what came before them; needs a gyro \
      and an accelerometer in it.
      """)
  var smooth = false

  @Argument(help: "A recording.", completion: .file())
  var file: String

  func run() throws {
    let run = try RecordedRun(contentsOf: file)
    let program = "Lodestone \(LodestoneRuntime.version)"
    switch format {
    case .json: try run.writeLines(smooth: smooth) { Terminal.write($0) }
    case .mcap: try run.writeMCAP(for: .robots, smooth: smooth, by: program)
    case .foxglove: try run.writeMCAP(for: .foxglove, smooth: smooth, by: program)
    }
  }
}
