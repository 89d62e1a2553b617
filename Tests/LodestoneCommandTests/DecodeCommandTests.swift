// `lodestone decode` as a shell sees it: its exit codes.

import Foundation
import Testing

/// The exit codes of `decode`, by the README's table and by what it says of `decode`: the code of
/// the first file that is of no use, else 1 where nothing comes out, or only positions could and none does.
@Suite struct DecodeCommandTests {
  /// Files to decode, in a folder that goes with this object.
  private final class Files {
    private static let names: Set<String> = [
      "log", "lost", "mute", "sky", "noise", "empty", "folder", "missing", "damaged",
    ]
    private let folder: URL

    init() throws {
      folder = FileManager.default.temporaryDirectory
        .appending(path: "lodestone-decode-\(UUID().uuidString)")
      let inner = folder.appending(path: "folder")
      try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
      let place = "4807.038,N,01131.000,E"
      try write(Self.sentence("GPRMC,123400,A,\(place),1.5,90,221126,,"), to: "log")
      try write(Self.sentence("GPRMC,123400,V,,,,,,,221126,,"), to: "lost")
      // How far a boat is from its way, and nothing of where.
      try write(Self.sentence("GPXTE,A,A,0.67,L,N"), to: "mute")
      try write(Self.sentence("GPGSV,1,1,01,05,45,120,40"), to: "sky")
      // The mute one is there for a whole message.
      try write(
        Self.sentence("GPXTE,A,A,0.67,L,N")
          + Self.sentence("GPRMC,123400,A,\(place),1.5,90,221126,,").replacing("1.5", with: "2.5"),
        to: "damaged")
      try write("abc", to: "noise")
      try write("", to: "empty")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// An argument with the path of the file that it names, where it names one.
    func path(_ argument: String) -> String {
      Self.names.contains(argument) ? folder.appending(path: argument).path : argument
    }

    private func write(_ text: String, to name: String) throws {
      try Data(text.utf8).write(to: folder.appending(path: name))
    }

    /// A sentence with its check sum: the exclusive or of what stands between $ and *.
    private static func sentence(_ content: String) -> String {
      let sum = content.utf8.reduce(UInt8(0), ^)
      return "$\(content)*" + String(format: "%02X", sum) + "\r\n"
    }
  }

  /// Runs the command; what it prints is not looked at.
  private func exitCode(_ arguments: [String]) throws -> Int32 {
    let files = try Files()
    // The command is built into the folder of the tests.
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let process = Process()
    process.executableURL = URL(filePath: tests).deletingLastPathComponent()
      .appending(path: "lodestone")
    process.arguments = ["decode"] + arguments.map(files.path)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationReason == .exit)
    withExtendedLifetime(files) {}
    return process.terminationStatus
  }

  @Test(
    "decode ends with the exit code of what it found",
    arguments: [
      (["log"], 0), (["log", "log"], 0), (["--format", "gpx", "log"], 0),
      // Without a position: other lines, rows and sentences come out all the same.
      (["lost"], 0), (["--format", "csv", "lost"], 0), (["--format", "nmea", "lost"], 0),
      (["--format", "gpx", "lost"], 1), (["--format", "gpx", "lost", "log"], 0),
      (["mute"], 1), (["--format", "csv", "mute"], 1), (["mute", "log"], 0),
      (["sky"], 0), (["--format", "csv", "sky"], 1), (["--format", "nmea", "sky"], 1),
      // Half of it may be lost, and not all.
      (["damaged"], 1), (["damaged", "log"], 1), (["--format", "gpx", "log", "damaged"], 1),
      (["missing"], 66), (["folder"], 66), (["noise"], 65), (["empty"], 65),
      (["--format", "gpx", "missing"], 66), (["--format", "gpx", "noise"], 65),
      // The first of several, wherever it stands.
      (["log", "missing"], 66), (["missing", "log"], 66), (["log", "noise", "log"], 65),
      (["noise", "missing"], 65), (["missing", "noise"], 66),
      (["log", "missing", "noise", "log"], 66),
      (["--format", "gpx", "log", "noise", "missing"], 65),
      // Wrong options.
      ([], 64), (["--format", "kml", "log"], 64), (["--not-before", "2026-02-30", "log"], 64),
      (["--not-before", "2020-01-31", "log"], 0),
    ] as [([String], Int32)])
  func codes(arguments: [String], code: Int32) throws {
    #expect(try exitCode(arguments) == code)
  }
}
