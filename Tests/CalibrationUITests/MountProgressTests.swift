import CalibrationCore
import TerminalUI
import Testing

@testable import CalibrationUI

/// What the guide to the mount says, second by second.
struct MountProgressTests {
  /// A gesture that is seen, one that is not, one that no chip can show, and the end.
  private static let states: [(step: MountStep, hint: String?, seconds: Double)] = [
    (.level, nil, 0), (.level, nil, 0.6), (.level, "hold it still", 9), (.noseUp, nil, 9.2),
    (.clockwise, nil, 30), (.free, nil, 50), (.done, nil, 101),
  ]

  private func texts(_ format: OutputFormat, width: Int? = nil) -> [String] {
    var progress = MountProgress(format: format)
    return Self.states.map { state in
      progress.text(
        of: state.step, hint: state.hint, (seen: [.level], unchecked: [.clockwise]),
        seconds: state.seconds, width: width)
    }
  }

  @Test("a step's line is what to do, then its outcome; a state is said once a second")
  func lines() {
    #expect(
      texts(.text) == [
        "Lay the board level, as it is used, and do not touch it.\n   0 s  ...\n", "",
        "   9 s  hold it still\n",
        "   9 s  seen\nLift the nose (its forward end) by 45 degrees and hold it.\n   9 s  ...\n",
        "  30 s  NOT seen\nLevel again; turn it clockwise (seen from above), half a turn.\n"
          + "  30 s  ...\n",
        "  50 s  not checked: no gyro or magnetometer\n"
          + "Turn it slowly every way: nose down, on its sides, on its head.\n  50 s  ...\n",
        "",
      ])
  }

  @Test("on a terminal the line of a finished step stays, and each fits the width")
  func terminal() {
    let texts = self.texts(.text, width: 41)
    #expect(texts[1].isEmpty && texts[6].isEmpty)
    #expect(texts[2] == "\r   9 s  -> hold it still\u{1B}[K")
    let pieces = texts[3].split(separator: "\r")
    #expect(pieces.count == 2 && pieces[0].hasPrefix("   9 s  Lay the board level"))
    #expect(pieces[0].hasSuffix(" seen\u{1B}[K\n") && pieces[1].hasPrefix("   9 s  Lift the nose"))
    for piece in texts.flatMap({ $0.split(separator: "\r") }) {
      let line = piece.replacing("\u{1B}[K", with: "").replacing("\n", with: "")
      #expect(line.count <= 40, "\(line)")
    }
    // Where there is room, nothing is cut.
    #expect(
      self.texts(.text, width: 100)[3].hasPrefix(
        "\r   9 s  Lay the board level, as it is used, and do not touch it. seen\u{1B}[K\n"))
  }

  @Test("a program is given an object a second, and the end")
  func objects() {
    let lines = texts(.json)
    #expect(
      lines[0] == "{\"v\":1,\"kind\":\"progress\",\"seconds\":0,\"step\":\"level\","
        + "\"say\":\"Lay the board level, as it is used, and do not touch it.\"}\n")
    #expect(lines[1].isEmpty)
    #expect(lines[2].contains("\"hint\":\"hold it still\""))
    #expect(lines[6].contains("\"step\":\"done\""))
  }
}
