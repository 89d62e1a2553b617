// The guide's screen: what stands where, and that it fits.

import CalibrationCore
@testable import CalibrationUI
import LinearAlgebra
import SensorTypes
import Testing

@testable import TerminalUI

struct GuideScreenTests {
  private func look(_ environment: [String: String]) -> TerminalCapabilities {
    TerminalCapabilities(environment: environment)
  }

  /// Sample `k` of a board that turns about two axes, 25 samples a second.
  static func turned(_ k: Int) -> CalibrationSample {
    let attitude =
      Quaternion(rotationVector: Vector3(0, 0, 0.12 * Double(k)))
      * Quaternion(rotationVector: Vector3(0.02 * Double(k), 0, 0))
    return CalibrationSample(
      time: Timestamp(seconds: 1 + Double(k) * 0.04),
      field: attitude.conjugate.rotate(Vector3(0, 20, -44)) + Vector3(30, -20, 10),
      force: attitude.conjugate.rotate(Vector3(0, 0, 9.8)))
  }

  /// A coach that has seen something, by an easy turn about.
  private static let seen: CalibrationCoach = {
    var coach = CalibrationCoach()
    for k in 0..<400 {
      coach.take(turned(k))
    }
    // One fit is enough, and all that an unoptimised build has time for.
    coach.update(at: Timestamp(seconds: 17))
    return coach
  }()

  private func coach() -> CalibrationCoach { Self.seen }

  @Test("it fits 80 by 24, with and without colours, and says what to do")
  func fits() {
    for environment in [["LANG": "C"], ["LANG": "C", "NO_COLOR": "1"], ["LANG": "de_DE.UTF-8"]] {
      for coach in [CalibrationCoach(), coach()] {
        let screen = GuideScreen(
          look: look(environment), title: "LSM303DLHC-M at /dev/i2c-1:0x1e")
        let lines = screen.lines(coach, note: nil)
        #expect(lines.count <= 24)
        for line in lines {
          let plain = line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
          #expect(plain.count <= 80, "\(plain)")
          #expect(ScreenTerminal.cut(line, to: 80).count == line.count)
        }
        #expect(lines.joined().contains(coach.words.pose.uppercased()))
        #expect(lines.joined().contains("q quit without saving"))
      }
    }
  }

  @Test(
    "a small terminal gets the figures whole, without the sphere",
    arguments: [(60, 24), (44, 20), (80, 18)])
  func small(columns: Int, rows: Int) {
    let screen = GuideScreen(look: look(["NO_COLOR": "1"]), title: "LIS3MDL at /dev/i2c-1:0x1c")
    let lines = screen.lines(coach(), size: (columns, rows))
    #expect(lines.count <= rows)
    // But for the title, whose end is the chip's place.
    #expect(lines.dropFirst().allSatisfy { $0.count <= columns })
    for name in ["seen", "score", "field", "heading", "samples", "time"] {
      let line = lines.first { $0.hasPrefix("   \(name) ") }
      #expect(line.map { $0.count < columns } ?? false, "\(name)")
    }
    #expect(lines.last?.contains("s save") ?? false)
  }

  @Test(
    "a smaller one keeps what to do, how far it is and the keys", arguments: [(60, 16), (40, 12)])
  func smaller(columns: Int, rows: Int) {
    let screen = GuideScreen(look: look(["NO_COLOR": "1"]), title: "LIS3MDL at /dev/i2c-1:0x1c")
    for coach in [CalibrationCoach(), coach()] {
      let lines = screen.lines(coach, size: (columns, rows))
      #expect(lines.count <= rows)
      #expect(lines.contains("   " + coach.words.pose.uppercased()))
      for name in ["seen", "score", "time"] {
        #expect(lines.contains { $0.hasPrefix("   \(name) ") }, "\(name)")
      }
      #expect(lines.last.map { $0.contains("s save") && $0.count <= columns } ?? false)
    }
  }

  @Test("a warning stands in place of the hint, and what the command has to say in place of both")
  func warning() throws {
    let screen = GuideScreen(look: look(["NO_COLOR": "1"]), title: "LIS3MDL at /dev/i2c-1:0x1c")
    var coach = coach()
    coach.update(at: Timestamp(seconds: 60))
    #expect(coach.warning == .noField)
    func says(_ words: String, in lines: [String]) -> Bool {
      lines.map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: " ").contains(words)
    }
    let words = try #require(coach.warning?.words)
    #expect(says(words, in: screen.lines(coach)))
    let lines = screen.lines(coach, note: "really quit? y or n")
    #expect(says("really quit? y or n", in: lines) && !says(words, in: lines))
    #expect(!says(words, in: screen.lines(self.coach())))
  }

  @Test("without UTF-8 there is nothing but ASCII, without colours no escape")
  func plain() {
    let screen = GuideScreen(look: look(["LC_ALL": "POSIX", "NO_COLOR": "x"]), title: "x")
    let text = screen.lines(coach()).joined()
    #expect(text.utf8.allSatisfy { $0 >= 32 && $0 < 127 })
    #expect(text.contains("##"))
    #expect(look(["LC_ALL": "", "LANG": "en_US.utf8"]).isUnicode)
    #expect(!look(["LC_ALL": "C", "LANG": "en_US.UTF-8"]).isUnicode)
    #expect(look(["NO_COLOR": ""]).hasColor)
    #expect(!look(["NO_COLOR": "1"]).hasColor)
  }

  @Test("the map has every cell once")
  func map() {
    let screen = GuideScreen(look: look(["NO_COLOR": "1"]), title: "x")
    let rings = screen.map(CalibrationCoach())
    #expect(rings.count == SphereCells.rings.count)
    for (line, count) in zip(rings, SphereCells.rings) {
      #expect(line.count == 34)
      #expect(line.filter { $0 != " " }.count == 2 * count)
    }
    let seen = screen.map(coach()).joined().filter { $0 == "#" }.count / 2
    #expect(abs(seen - coach().cells.filled) <= 1)
  }

  @Test("a line is cut where the terminal ends, colours count for nothing")
  func cut() {
    #expect(ScreenTerminal.cut("abcdef", to: 3) == "abc")
    #expect(ScreenTerminal.cut("\u{1B}[1mab\u{1B}[0mcd", to: 3) == "\u{1B}[1mab\u{1B}[0mc")
    #expect(GuideScreen.clock(125.9) == "2:05")
  }
}
