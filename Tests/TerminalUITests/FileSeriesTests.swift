// The files of a series in a real folder, with the clock as an argument.

import Foundation
import Glibc
import StateStore
import Testing

@testable import TerminalUI

@Suite final class FileSeriesTests {
  private let folder: URL
  /// 2026-11-29T02:00:00Z
  private let wall = 1_795_917_600.5

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-series-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }

  private func series() throws -> FileSeries {
    try FileSeries(path: folder.appending(path: "drive.jsonl").path)
  }

  private func put(_ name: String, _ text: String = "kept\n") throws {
    try Data(text.utf8).write(to: folder.appending(path: name))
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
  }

  private func stamp(_ hour: Int) -> String {
    "drive-20261128T\(hour < 10 ? "0" : "")\(hour)0000Z.jsonl"
  }

  private func write(_ text: String, into file: OutputFile) throws {
    try Array(text.utf8).withUnsafeBytes { try file.write($0) }
  }

  @Test(
    "a new file never has a name that is taken, also when the clock stands still or is set back")
  func newNames() throws {
    let series = try series()
    // A folder that has the name of a file of the series, and a link to nowhere that has the next one.
    try FileManager.default.createDirectory(
      at: folder.appending(path: "drive-20261129T020000Z.jsonl"), withIntermediateDirectories: false
    )
    try FileManager.default.createSymbolicLink(
      atPath: folder.appending(path: "drive-20261129T020001Z.jsonl").path,
      withDestinationPath: folder.appending(path: "elsewhere").path)
    var files: [OutputFile] = []
    var leads: [Double] = []
    for wall in [wall, wall, wall - 86_400, 17, wall + 60] {
      let (file, lead) = try series.create(at: wall)
      try write("\(wall)\n", into: file)
      files.append(file)
      leads.append(lead)
    }
    #expect(
      files.map { URL(filePath: $0.path).lastPathComponent } == [
        "drive-20261129T020002Z.jsonl", "drive-20261129T020003Z.jsonl",
        "drive-20261129T020004Z.jsonl", "drive-20261129T020005Z.jsonl",
        "drive-20261129T020100Z.jsonl",
      ])
    #expect(leads[0] == 1.5 && leads[2] > 86_400 && leads[3] > 1e9 && leads[4] < 0)
    #expect(!names.contains("elsewhere"))
    var status = stat()
    #expect(stat(files[0].path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test("the oldest finished files are deleted, and nothing that is not exactly of the series")
  func deletion() throws {
    let series = try series()
    for hour in 1...4 { try put(stamp(hour)) }
    // A file and its compressed form are one.
    try put(stamp(5) + ".gz")
    try put(stamp(5))
    try put(stamp(6) + ".gz.part")
    let foreign = [
      "drive.jsonl", "drive-20261128T010000Z.json", "xdrive-20261128T010000Z.jsonl",
      "drive-20261128T010000Z.jsonl.bak", "drive-20261128T250000Z.jsonl",
    ]
    for name in foreign { try put(name) }
    // A link whose name belongs to the series leads to a file that does not.
    try put("precious")
    try FileManager.default.createSymbolicLink(
      atPath: folder.appending(path: stamp(0)).path,
      withDestinationPath: folder.appending(path: "precious").path)
    let current = try series.create(at: wall).file
    #expect(try series.prune(keeping: 3).isEmpty)
    let kept = [stamp(0), stamp(3), stamp(4), stamp(5), stamp(5) + ".gz", "precious"]
    let own = URL(filePath: current.path).lastPathComponent
    #expect(names == (foreign + kept + [own]).sorted())
    #expect(try series.prune(keeping: nil).isEmpty && names.count == foreign.count + kept.count + 1)
    withExtendedLifetime(current) {}
  }

  @Test("a file that another process writes is neither deleted nor compressed")
  func inUse() throws {
    let series = try series()
    let others = try series.create(at: wall - 3_600).file
    try write("theirs\n", into: others)
    for hour in 1...3 { try put(stamp(hour)) }
    #expect(try series.prune(keeping: 1).isEmpty)
    #expect(names == [stamp(3), URL(filePath: others.path).lastPathComponent])
    #expect(try series.uncompressed().map(\.name) == [stamp(3)])
    try others.finish()
    // The newest is left alone whatever its lock says: where a disk knows no locks it may be the one that is written.
    #expect(try series.uncompressed().map(\.name) == [stamp(3)])
    let own = try series.create(at: wall).file
    // A process that another test starts holds all locks until it has become another program.
    let (end, nobody) = (DispatchTime.now() + 10, DispatchSemaphore(value: 0))
    while try series.uncompressed().count != 2, DispatchTime.now() < end {
      _ = nobody.wait(timeout: .now() + 0.01)
    }
    #expect(try series.uncompressed().count == 2)
    withExtendedLifetime(own) {}
  }

  @Test(
    "a file that cannot be deleted is reported",
    .enabled(if: geteuid() != 0, "root may delete all"))
  func undeletable() throws {
    let series = try series()
    for hour in 1...2 { try put(stamp(hour)) }
    #expect(chmod(folder.path, 0o500) == 0)
    defer { chmod(folder.path, 0o700) }
    #expect(try series.prune(keeping: 1).map(\.code) == [EACCES])
  }

  @Test("files are named as the person named the folder")
  func relative() throws {
    #expect(try FileSeries(path: "drive.jsonl").place("x") == "x")
    #expect(try FileSeries(path: "a/b/drive").place("x") == "a/b/x")
    #expect(try FileSeries(path: "/drive").place("x") == "/x")
  }

  @Test("a name that says that it is compressed is no name of a series")
  func wrongName() {
    for name in ["drive.gz", "drive.zst", "drive/"] {
      #expect(throws: CommandError.self) { try FileSeries(path: self.folder.path + "/" + name) }
    }
  }

  @Test(
    "a finished file is compressed, keeps its mode and can be read",
    .enabled(if: FileCompressor.isInstalled()))
  func compression() throws {
    let series = try series()
    let lines = (0..<5_000).map { "{\"v\":1,\"sequence\":\($0)}\n" }.joined()
    try put(stamp(1), lines)
    #expect(chmod(folder.appending(path: stamp(1)).path, 0o640) == 0)
    try put(stamp(2))
    let entry = try #require(try series.uncompressed().first)
    #expect(try FileCompressor(series: series).compress(entry) { false })
    #expect(names == [stamp(1) + ".gz", stamp(2)])
    var status = stat()
    let path = folder.appending(path: stamp(1) + ".gz").path
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    #expect(Int(status.st_size) < lines.utf8.count / 4)
    var input = try InputFile(path)
    #expect(try input.isCompressed && input.readAll() == Array(lines.utf8))
    // It is not there any more.
    #expect(try !FileCompressor(series: series).compress(entry) { false })
  }

  @Test(
    "a compression that is given up, or finds its name taken, leaves the original",
    .enabled(if: FileCompressor.isInstalled()))
  func givenUp() throws {
    let series = try series()
    try put(stamp(1), String(repeating: "abc\n", count: 4 << 20))
    try put(stamp(2))
    let entry = try #require(try series.uncompressed().first)
    #expect(throws: FileProblem.self) {
      try FileCompressor(series: series).compress(entry) { true }
    }
    #expect(names == [stamp(1), stamp(2)])
    try put(stamp(1) + ".gz", "taken")
    #expect(try series.uncompressed().isEmpty)
    #expect(throws: FileProblem.self) {
      try FileCompressor(series: series).compress(entry) { false }
    }
    #expect(
      try names == [stamp(1), stamp(1) + ".gz", stamp(2)] && text(stamp(1) + ".gz") == "taken")
  }

  @Test(
    "the upkeep deletes and compresses on its own thread",
    .enabled(if: FileCompressor.isInstalled()))
  func upkeep() throws {
    let series = try series()
    for hour in 1...4 { try put(stamp(hour)) }
    let current = try series.create(at: wall).file
    let upkeep = SeriesUpkeep(of: series, keep: 2, compresses: true) { Issue.record("\($0)") }
    upkeep.wake()
    upkeep.wake()
    let own = URL(filePath: current.path).lastPathComponent
    let wanted = [stamp(3) + ".gz", stamp(4) + ".gz", own]
    let deadline = ContinuousClock.now.advanced(by: .seconds(60))
    while names != wanted, ContinuousClock.now < deadline { poll(nil, 0, 10) }
    upkeep.finish()
    #expect(names == wanted)
    // After its end nothing is done any more.
    try put(stamp(5))
    upkeep.wake()
    upkeep.finish()
    #expect(names.contains(stamp(5)))
    withExtendedLifetime(current) {}
  }
}
