import CalibrationCore
@testable import CalibrationUI
import RecordedFigures
import SensorTypes
import Testing

@testable import TerminalUI

@Suite("the guide's screens are as they were")
struct FigureTests {
  @Test("ten seconds of turning, in three terminals")
  func guide() throws {
    var coach = CalibrationCoach()
    var summaries = [FigureSummary](repeating: FigureSummary(), count: 3)
    for k in 0..<250 {
      let sample = GuideScreenTests.turned(k)
      coach.take(sample)
      guard k % 50 == 49 else { continue }
      coach.update(at: sample.time)
      let looks: [(environment: [String: String], size: (Int, Int))] = [
        (["LANG": "C"], (80, 24)), (["LANG": "de_DE.UTF-8"], (100, 40)),
        (["LANG": "C", "NO_COLOR": "1"], (44, 20)),
      ]
      for (place, look) in looks.enumerated() {
        let screen = GuideScreen(
          look: TerminalCapabilities(environment: look.environment), title: "LIS3MDL at i2c-1")
        let lines = screen.lines(coach, note: k > 100 ? "a note" : nil, size: look.size)
        summaries[place].add("screen", text: lines.joined(separator: "\n"))
      }
    }
    for (place, summary) in summaries.enumerated() {
      #expect(try RecordedFigures("guide").differences(of: "terminal \(place + 1)", summary) == [])
    }
  }
}
