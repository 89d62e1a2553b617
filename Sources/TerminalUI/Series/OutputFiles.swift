// Where a command that may run for weeks writes.

import Lodestone
import StateStore

/// How the files of a series follow each other.
package struct Rotation: Sendable {
  /// When a file is full.
  package var rule: RotationRule
  /// The finished files that are kept; `nil` keeps all.
  package var keep: Int?
  /// Whether finished files are compressed.
  package var compresses: Bool

  package init(rule: RotationRule, keep: Int?, compresses: Bool) {
    self.rule = rule
    self.keep = keep
    self.compresses = compresses
  }
}

/// The files that a command writes one after the other: the files of a series, or one name, whose file somebody may move away.
struct OutputFiles {
  /// The seconds by which the name of a file may be ahead of the clock without a message.
  private static let silentLead = 60.0

  /// As the person named it.
  let path: String
  private let series: (files: FileSeries, rule: RotationRule, upkeep: SeriesUpkeep)?
  private let appends: Bool
  private var hasSaidLead = false

  /// - Parameters:
  ///   - path: The file, or the name of the series.
  ///   - rotation: How the files of a series follow each other; `nil` for one file.
  ///   - appends: Whether a file that exists is continued. A series never opens one that exists.
  init(path: String, rotation: Rotation?, appends: Bool) throws {
    self.path = path
    self.appends = appends
    guard let rotation else {
      series = nil
      return
    }
    if rotation.compresses, !FileCompressor.isInstalled() {
      throw CommandError(
        "--compress needs gzip, which is not installed: apt install gzip", kind: .configuration)
    }
    let files = try FileSeries(path: path)
    let upkeep = SeriesUpkeep(of: files, keep: rotation.keep, compresses: rotation.compresses) {
      Terminal.warn("lodestone: \($0)")
    }
    series = (files, rotation.rule, upkeep)
  }

  /// Whether the files are those of a series.
  var isSeries: Bool { series != nil }

  /// Opens the next file, and has those before it looked after.
  ///
  /// - Parameter wall: The system's clock, in seconds since the beginning of 1970.
  mutating func open(at wall: Double = RuntimeClocks.system.wallTime()) throws -> OutputFile {
    guard let series else {
      return try appends ? OutputFile(appendingTo: path) : OutputFile(path: path)
    }
    let (file, lead) = try series.files.create(at: wall)
    if lead > Self.silentLead, !hasSaidLead {
      hasSaidLead = true
      Terminal.warn(
        "lodestone: \(file.path) is named by the newest file of the series, because the system's clock is not set or "
          + "is behind it")
    }
    return file
  }

  /// Has finished files deleted and compressed. Called when another file is being written.
  func lookAfter() { series?.upkeep.wake() }

  /// Returns whether a file of a series is full.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that it holds.
  ///   - seconds: The seconds since it was begun.
  func isFull(bytes: Int, seconds: Double) -> Bool {
    series?.rule.isReached(bytes: bytes, seconds: seconds) ?? false
  }

  /// Ends what is being done for finished files, within a few seconds.
  func finish() { series?.upkeep.finish() }
}
