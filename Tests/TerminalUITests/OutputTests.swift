// What is written to a terminal: nothing foreign steers it, and lines fit.

import CalibrationCore
import TextForms
@testable import CalibrationUI
import Foundation
import Testing

@testable import TerminalUI

@Suite struct OutputTests {
  @Test func controlCharactersAreSpeltOut() {
    #expect(
      Terminal.plain("a\u{1B}[2Jb\u{7}\u{9B}\u{7F}\r") == "a\\u001b[2Jb\\u0007\\u009b\\u007f\\u000d"
    )
    #expect(Terminal.plain("two\nlines\tand °\u{A0}ü") == "two\nlines\tand °\u{A0}ü")
  }

  @Test func aLineOfJSONReadsBackAndIsPlain() throws {
    let foreign = String(String.UnicodeScalarView((0..<0x100).compactMap(Unicode.Scalar.init)))
    var line = JSONLine()
    line.set("foreign", foreign)
    line.set("none", nil as [Double]?, digits: 1)
    line.set("numbers", [1.25, -2], digits: 2)
    #expect(Terminal.plain(line.line) == line.line)
    struct Stored: Codable {
      var foreign: String
      var numbers: [Double]
    }
    let stored = try JSONDecoder().decode(Stored.self, from: Data(line.line.utf8))
    #expect(stored.foreign == foreign && stored.numbers == [1.25, -2])
  }

  @Test func commandsInMessagesNameTheBoardThatWasNamed() {
    func complete(_ text: String) -> String { Hints.complete(text, board: "my boat.yaml") }
    #expect(
      complete("run lodestone doctor; lodestone calibrate rollback LIS3MDL --kind gyro")
        == "run lodestone doctor --board 'my boat.yaml'; "
        + "lodestone calibrate rollback --board 'my boat.yaml' LIS3MDL --kind gyro")
    #expect(
      complete("'lodestone calibrate import FILE'").contains("import --board 'my boat.yaml' FILE"))
    #expect(
      complete("lodestone altitude set METRES")
        == "lodestone altitude set --board 'my boat.yaml' METRES")
    #expect(Hints.complete("lodestone scan", board: "a'b") == "lodestone scan --board 'a'\\''b'")
    #expect(
      Hints.complete("lodestone doctor", board: "/a/b-1.yaml").hasSuffix("--board /a/b-1.yaml"))
    #expect(Hints.complete("lodestone doctor", board: nil) == "lodestone doctor")
    // What takes no board, or names one.
    for text in [
      "lodestone declination", "lodestone monitor --board FILE", "lodestone calibrate fit a",
    ] {
      #expect(complete(text) == text)
    }
    #expect(Hints.board(in: ["doctor", "--board", "a", "--board=b"]) == "b")
    #expect(Hints.board(in: ["doctor", "--board"]) == nil)
  }

  @Test func aCardIsSortedAsItIsPrinted() {
    // The first heading is a little west of north, and is printed as 000.
    let headings = [359.7, 45, 90, 135, 180, 225, 270, 315]
    let card = DeviationCard(points: headings.map { .init(magnetic: $0, compass: $0 + 3) })
    let rows = ReferencedReport.table(card, card).filter { $0.hasPrefix("    ") }
      .compactMap { Int($0.prefix(7).drop { $0 == " " }) }
    #expect(rows == [0, 45, 90, 135, 180, 225, 270, 315])
  }

  @Test(arguments: [0, 4, 16]) func wrappedLinesFit(indent: Int) {
    let text = "one two three four five six seven eight nine ten eleven twelve"
    let lines = Wrap.lines(text, indent: indent, width: 30)
    #expect(lines.allSatisfy { $0.count <= 30 && $0.prefix(indent).allSatisfy { $0 == " " } })
    #expect(lines.flatMap { $0.split(separator: " ") }.joined(separator: " ") == text)
    #expect(Wrap.lines("", indent: indent).isEmpty)
    #expect(Wrap.lines("unbreakable", width: 4) == ["unbreakable"])
    #expect(Wrap.cut("one two three", width: 13) == "one two three")
    #expect(Wrap.cut("one two three", width: 12) == "one two...")
    #expect(Wrap.cut("one two three", width: 10) == "one two...")
    #expect(Wrap.cut("unbreakable", width: 8) == "unbre...")
    #expect(Wrap.rows("name", "").isEmpty)
    #expect(Wrap.rows("name", "a text").joined() == "name            a text")
    #expect(
      Wrap.fitting("  kept as it is\nthis one is broken", width: 15)
        == "  kept as it is\nthis one is\nbroken")
  }
}
