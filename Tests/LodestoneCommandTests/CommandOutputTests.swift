// What the program prints and how it ends, command by command.

import BoardTestSupport
import Foundation
import Glibc
import RecordedFigures
import LinearAlgebra
import SensorTypes
import Testing

/// The program as a person runs it. What is always the same is held against what was recorded; of a board that lives in real
/// time the kinds of lines and the exit code.
struct CommandOutputTests {
  private static let figures = RecordedFigures("commands")

  private static let commands = [
    "monitor", "map", "scan", "doctor", "calibrate", "gnss", "altitude", "record", "replay",
    "track", "decode", "declination", "authorization", "hil", "calibrate magnetometer",
    "calibrate planar", "calibrate heading", "calibrate deviation", "calibrate course",
    "calibrate level", "calibrate gyro", "calibrate mount", "calibrate fit", "calibrate report",
    "calibrate list", "calibrate show", "calibrate rollback", "calibrate export",
    "calibrate import", "calibrate lock", "calibrate unlock", "altitude set", "altitude qnh",
    "altitude clear", "authorization show", "authorization forget", "hil run",
    "calibrate deviation run", "help",
  ]

  @Test("every command's help, with its options and their defaults")
  func help() throws {
    let folder = try CommandFolder()
    let runs = try Self.commands.map { ($0, try folder.run($0 + " --help")) }
    for (name, run) in runs {
      let outcome = try run.outcome()
      var summary = FigureSummary()
      summary.add("help", text: outcome.output + outcome.errors)
      summary.add("code", Double(outcome.code))
      #expect(try Self.figures.differences(of: "help \(name)", summary) == [])
    }
  }

  private static let record = """
    {"schema":1,"kind":"magnetometer","chip":"LIS3MDL","busPosition":"/dev/i2c-1:0x1c","board":"still",\
    "date":"2026-11-22T10:00:00Z","method":"ellipsoid","samples":900,"coverage":0.8,"residual":0.6,\
    "field":48.5,"offset":[12.5,-7.25,30],"matrix":[[1.02,0.01,0],[0.01,0.98,0.02],[0,0.02,1]],\
    "offsetCovariance":[[0.01,0,0],[0,0.01,0],[0,0,0.01]],"score":88,"headingError":0.9}
    """

  /// In this order: each sees what those before it have left.
  private static let lines = [
    "declination 52 13 --date 2026.5", "declination -33.5 -70.25 --date 2027.25 --format json",
    "declination 80 -100 --date 2026.1 --altitude 3000", "declination 91 0",
    "scan --board still.yaml", "calibrate list --board still.yaml",
    "calibrate import --board still.yaml record.json",
    "calibrate list --board still.yaml", "calibrate list --board still.yaml --format json",
    "calibrate show --board still.yaml LIS3MDL",
    "calibrate show --board still.yaml LIS3MDL --format json",
    "calibrate lock --board still.yaml LIS3MDL", "calibrate lock --board still.yaml --format json",
    "calibrate import --board still.yaml record.json --format json",
    "calibrate unlock --board still.yaml LIS3MDL",
    "calibrate rollback --board still.yaml LIS3MDL",
    "calibrate rollback --board still.yaml LIS3MDL --forward --format json",
    "calibrate export --board still.yaml", "calibrate export --board still.yaml --output out.json",
    "calibrate export --board still.yaml --output out.json",
    "calibrate show --board still.yaml NONE",
    "calibrate fit samples.csv",
    "calibrate fit samples.csv --format json --field-strength 48 --dip 65",
    "calibrate fit record.json", "calibrate fit missing.csv", "calibrate gyro --seconds 1",
    "decode log.nmea", "decode log.nmea --format gpx", "decode log.nmea --format csv",
    "decode log.nmea --format nmea", "track log.nmea --format geojson",
    "track log.nmea --format svg",
    "track log.nmea --format svg --dark --size 300x200 --scale 2", "replay drive.trace",
    "replay --smooth drive.trace", "track drive.trace", "track drive.trace --format svg",
    "replay log.nmea", "record --board still.yaml log.nmea",
    "altitude set 36 --board still.yaml", "altitude qnh 1013 --board still.yaml",
    "altitude clear --board still.yaml",
  ]

  /// A board that is turned all about, as a table of its samples.
  private static var samples: String {
    var text = "time,mx,my,mz,ax,ay,az\n"
    for k in 0..<400 {
      let t = 0.12 * Double(k)
      let attitude =
        Quaternion(rotationVector: Vector3(0, 0, t))
        * Quaternion(rotationVector: Vector3(0.017 * Double(k), 0, 0))
      let field = attitude.conjugate.rotate(Vector3(0, 20, -43.5)) + Vector3(30, -20, 10)
      let force = attitude.conjugate.rotate(Vector3(0, 0, 9.8))
      let numbers = [field.x, field.y, field.z, force.x, force.y, force.z]
      text +=
        "\(0.04 * Double(k)),"
        + numbers.map { String(format: "%.4f", $0) }
        .joined(separator: ",") + "\n"
    }
    return text
  }

  private static var log: String {
    (0..<40).map { k in
      let minutes = String(format: "%07.4f", 7.038 + 0.01 * Double(k))
      let content =
        "GPGGA,1235\(String(format: "%02d", k)),48\(minutes),N,01131.0000,E,1,08,0.9,"
        + "\(545 + k).4,M,46.9,M,,"
      let sum = content.utf8.reduce(UInt8(0), ^)
      return "$\(content)*" + String(format: "%02X", sum) + "\r\n"
    }.joined()
  }

  @Test("commands that look at files and records, one after the other")
  func files() throws {
    let folder = try CommandFolder()
    let board = try VirtualBoard(records: true)
    _ = board.run(25)
    for (name, bytes) in [
      ("record.json", Array(Self.record.utf8)), ("samples.csv", Array(Self.samples.utf8)),
      ("log.nmea", Array(Self.log.utf8)), ("drive.trace", board.recording),
    ] {
      try Data(bytes).write(to: folder.url.appending(path: name))
    }
    for (place, line) in Self.lines.enumerated() {
      let outcome = try folder.run(line).outcome()
      var summary = FigureSummary()
      // What becomes of a height depends on this machine's clock: `AltitudeCommandTests` has the words.
      let dependsOnClock = line.hasPrefix("altitude set") || line.hasPrefix("altitude qnh")
      if !dependsOnClock { summary.add("output", text: outcome.output) }
      summary.add("errors", text: outcome.errors)
      summary.add("code", Double(outcome.code))
      #expect(try Self.figures.differences(of: "\(place + 1) \(line)", summary) == [])
    }
  }

  /// What it is run with, how it ends, and the kinds of lines that have to be among those it prints.
  private static let living: [(line: String, code: Int32, kinds: Set<String>)] = [
    ("monitor --board still.yaml --seconds 1 --format json", 0, ["heading", "altitude", "sensor"]),
    ("monitor --board still.yaml --seconds 1", 0, []),
    ("gnss --board still.yaml --seconds 3 --format json", 0, ["sensor", "location"]),
    ("gnss --board still.yaml --seconds 2", 0, []),
    ("record --board still.yaml run.trace --seconds 1", 0, []),
    ("map --board still.yaml --seconds 1 --port 0", 0, []),
    ("doctor --board still.yaml", 0, []), ("authorization show", 0, []),
    ("calibrate level --board still.yaml --yes --seconds 2", 0, []),
    ("calibrate gyro --board still.yaml --yes --seconds 3 --format json", 0, ["calibration"]),
    (
      "calibrate heading 0 --latitude 52 --longitude 13 --board still.yaml --yes --force "
        + "--seconds 2", 0, []
    ),
    ("calibrate planar --board still.yaml --yes --seconds 2 --format json", 1, ["progress"]),
    ("calibrate course --board still.yaml --yes --seconds 2 --format json", 1, ["progress"]),
    ("calibrate mount --board still.yaml --yes --seconds 5 --format json", 1, ["progress"]),
    ("calibrate magnetometer --board still.yaml --yes --seconds 10 --format json", 1, ["progress"]),
  ]

  @Test(
    "commands that look at a board, for seconds",
    .enabled(if: geteuid() == 0, "skipped: others than root have to be allowed the position"))
  func boards() throws {
    let folders = try Self.living.map { _ in try CommandFolder() }
    let runs = try zip(Self.living, folders).map { try $1.run($0.line) }
    for (expected, run) in zip(Self.living, runs) {
      let outcome = try run.outcome()
      #expect(outcome.code == expected.code, "\(expected.line): \(outcome)")
      #expect(outcome.kinds.isSuperset(of: expected.kinds), "\(expected.line): \(outcome)")
      #expect(outcome.output.count + outcome.errors.count > 20, "\(expected.line)")
    }
  }

  /// A text that must be on the terminal after a command, by the command.
  private static let words = [
    "hil run --brief --seconds 1":
      "self-tests (LIS3MDL, LSM6DSOX) are not run on the simulated board",
    "calibrate course --yes --seconds 2": "0 of 8 directions",
    "calibrate mount --yes --seconds 5": "How the chips of 'still' sit",
  ]

  /// Commands that end by themselves before a person, and how.
  private static let shown: [(line: String, code: Int32)] = [
    ("monitor --seconds 1", 0), ("gnss --seconds 8", 0), ("record run.trace --seconds 1", 0),
    ("map --seconds 1 --port 0", 0), ("doctor", 0), ("hil run --brief --seconds 1", 2),
    ("calibrate level --yes --seconds 2", 0), ("calibrate gyro --yes --seconds 3", 0),
    ("calibrate heading 0 --latitude 52 --longitude 13 --yes --force --seconds 2", 0),
    ("calibrate planar --yes --seconds 2", 1), ("calibrate course --yes --seconds 2", 1),
    ("calibrate mount --yes --seconds 5", 1), ("calibrate magnetometer --yes --seconds 10", 1),
    ("calibrate list", 0), ("altitude set 36", 0),
  ]

  @Test(
    "on a terminal commands that look at a board leave the cursor at a line's beginning",
    .enabled(if: geteuid() == 0, "skipped: others than root have to be allowed the position"))
  func cursor() throws {
    let folders = try Self.shown.map { _ in try CommandFolder() }
    let runs = try zip(Self.shown, folders).map { shown, folder in
      try folder.run(shown.line + " --board still.yaml", on: try PseudoTerminal())
    }
    for ((line, code), run) in zip(Self.shown, runs) {
      let outcome = try run.outcome()
      let text = outcome.output
      #expect(outcome.code == code, "\(line): \(text.debugDescription)")
      // Colours, what is cleared, and modes move nothing.
      let plain = text.replacing(/\u{1B}(\[[0-9;?]*[mKJhl]|[>=78])/, with: "")
      // What is drawn is cut to the line, and nothing is written behind it.
      let behind = text.matches(of: /\u{1B}\[K[^\r\n\u{1B}]/.matchingSemantics(.unicodeScalar))
      #expect(behind.isEmpty, "\(line): \(text.debugDescription)")
      let isBegun = plain.utf8.last.map { $0 == 10 || $0 == 13 } ?? false
      #expect(isBegun, "\(line): \(text.suffix(300).debugDescription)")
      if let words = Self.words[line] {
        #expect(text.contains(words), "\(line): \(text.debugDescription)")
      }
    }
  }
}
