// The JSON lines of a log, as a track.

import CommandTestSupport
import Foundation
import OutputProtocols
import SensorTypes
import TerminalUI
import Testing

@testable import LogConversion

@Suite final class PositionLinesTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func file(_ text: String) throws -> String {
    let file = folder.appending(path: UUID().uuidString)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  /// What a text says of positions, and which lines of it were skipped.
  private func read(_ text: String) throws -> (
    [PositionLines.PositionLine], PositionLines.SkippedLines
  ) {
    var lines = try PositionLines(InputFile(file(text)))
    var said: [PositionLines.PositionLine] = []
    while let line = try lines.next() { said.append(line) }
    return (said, lines.skipped)
  }

  private func fixes(_ text: String) throws -> [GNSSFix] {
    try read(text).0.compactMap { if case .fix(let fix) = $0 { fix } else { nil } }
  }

  private func line(_ fix: GNSSFix, carried: DeadReckonedPosition? = nil) -> String {
    var lines = ObservationLines { _ in nil }
    return lines.line(
      for: .location(LocationEstimate(fix: fix, isSimulated: false, carried: carried))) + "\n"
  }

  @Test("a position comes back with its time and all that was said of it")
  func everything() throws {
    var expected = GNSSFix.full
    // Lines with a date have no time of day of their own.
    expected.timeOfDay = nil
    #expect(try fixes(line(.full)) == [expected])
    var assumed = GNSSFix.full
    (assumed.accuracySource, assumed.isValid) = (.worstCase, false)
    let read = try #require(try fixes(line(assumed)).first)
    #expect(read.hasAssumedAccuracy && !read.isValid && read.place == nil)
  }

  @Test("what is not known stays unknown")
  func unknown() throws {
    var fix = GNSSFix(received: Timestamp(nanoseconds: 0), mode: .twoDimensional)
    (fix.latitude, fix.longitude) = (48, 11)
    let read = try #require(try fixes(line(fix)).first)
    #expect(read.horizontalAccuracy == nil && read.verticalAccuracy == nil && read.speed == nil)
    #expect(read.course == nil && read.altitude == nil && read.utc == nil)
    #expect(read.place?.latitude == 48)
  }

  @Test("a loss, and a position that is carried on, break the line of the track")
  func interruptions() throws {
    var lines = ObservationLines { _ in nil }
    let lost = lines.line(for: .locationUnavailable(.noFix, at: Timestamp(nanoseconds: 0))) + "\n"
    let carried = DeadReckonedPosition(fixTime: Timestamp(nanoseconds: 0), isTurnMeasured: true)
    let said = try read(line(.full) + lost + line(.full, carried: carried) + line(.full)).0
    #expect(said.map { $0 == .interruption } == [false, true, true, false])
  }

  @Test("other lines say nothing; damaged, cut off, newer and long ones are counted")
  func skipped() throws {
    let sound = line(.full)
    let text = """
      {"v":1,"sequence":0,"monotonic":0,"kind":"heading","magneticHeading":1}
      { "kind": "sensor", "v": 1 }

      no JSON at all
      {"v":1,"kind":"location","latitude":48
      {"v":1,"kind":"location","latitude":"48","longitude":11}
      {"v":1,"kind":"location","latitude":1e999,"longitude":11}
      {"v":2,"kind":"location","latitude":48,"longitude":11}
      {"v":1,"kind":"weather"}
      {"a":\(String(repeating: "[", count: 30_000))
      {"v":1,"kind":"sky","inView":"\(String(repeating: "x", count: 1 << 18))"}
      \u{0}\u{FFFD}{}
      [1,2]

      """
    let (said, skipped) = try read(text + sound + sound.dropLast(20))
    #expect(said.count == 1)
    #expect(skipped == .init(damaged: 8, newer: 2, tooLong: 1))
    #expect(
      skipped.words
        == "lines that were skipped: 8 damaged or cut off, 2 of a newer kind, 1 too long")
    #expect(PositionLines.SkippedLines().words == nil)
  }

  @Test("lines of any length between pieces are read, and the longest ones only skipped")
  func lengths() throws {
    let filler = { (count: Int) in String(repeating: " ", count: count) }
    for count in [65_000, 65_535, 65_536 - 40, 65_536, 65_537, 131_072, 200_000] {
      let text = filler(count) + "\n" + line(.full)
      let (said, skipped) = try read(text)
      #expect(said.count == 1 && skipped.tooLong == (count > 65_536 ? 1 : 0), "\(count)")
    }
    // The last line is too long, and has no end.
    #expect(try read(line(.full) + filler(300_000)).1.tooLong == 1)
  }

  @Test("whatever a damaged file holds, it is read to its end")
  func damage() throws {
    var numbers = SeededNumbers(3)
    let line = line(.full)
    let sound = Array((0..<20).map { _ in line }.joined().utf8)
    for _ in 0..<300 {
      var bytes = sound
      for _ in 0..<Int(1 + 30 * numbers.uniform()) {
        let place = Int(numbers.uniform() * Double(bytes.count - 1))
        switch Int(numbers.uniform() * 3) {
        case 0: bytes[place] = UInt8(numbers.uniform() * 255)
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + 40))
        default: bytes.insert(contentsOf: bytes[place...].prefix(40), at: place)
        }
      }
      let path = folder.appending(path: "damaged")
      try Data(bytes).write(to: path)
      var lines = try PositionLines(InputFile(path.path))
      var count = 0
      while try lines.next() != nil { count += 1 }
      #expect(count + lines.skipped.damaged + lines.skipped.newer <= 60)
    }
  }

  @Test("a track comes out of JSON lines that begin amid a line")
  func track() throws {
    let collector = TrackCollector()
    try TrackFile(file("cut\":1}\n" + line(.full) + line(.full))).read(by: collector)
    #expect(collector.places.map(\.latitude) == [-33.123456789, -33.123456789])
    #expect(collector.places.map(\.accuracy) == [3.02, 3.02])
  }

  @Test("JSON without a position is a finding, and JSON of gpsd is a receiver's log")
  func others() throws {
    let collector = TrackCollector()
    do {
      try TrackFile(file(#"{"v":1,"kind":"heading"}"# + "\n")).read(by: collector)
      Issue.record("there is no position in it")
    } catch let error as CommandError {
      #expect(error.kind == .finding)
    }
    #expect(!PositionLines.isOne(beginning: Array(#"{"class":"TPV","kind2":1}"#.utf8)))
    #expect(!PositionLines.isOne(beginning: Array("latitude,longitude\n".utf8)))
    #expect(!PositionLines.isOne(beginning: []))
  }
}
