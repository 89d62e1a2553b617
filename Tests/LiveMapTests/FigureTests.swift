import BoardFile
@testable import LiveMap
import RecordedFigures
import SensorTypes
import Testing

@Suite("what the map's pages are sent is as it was")
struct FigureTests {
  @Test("a minute of headings, altitudes and positions, with a loss")
  func minute() throws {
    var state = LiveStateTests.state(["LIS3MDL", "BMP280", "u-blox"])
    var summary = FigureSummary()
    func note(_ messages: [LiveMessage]) {
      for message in messages { summary.add("message", text: message.text) }
    }
    for step in 0..<600 {
      let time = Double(step) / 10
      note(state.take(LiveStateTests.heading(time)))
      note(state.take(LiveStateTests.altitude(time)))
      if step % 10 == 0, step < 200 || step > 300 {
        note(state.take(LiveStateTests.location(time, latitude: 52 + time * 1e-4)))
      }
      if step == 200 {
        note(state.take(.locationUnavailable(.noFix, at: LiveStateTests.at(time))))
        note(state.take(.headingUnavailable(.uncalibrated, at: LiveStateTests.at(time))))
        note(state.take(.diagnostic("a wire is loose", at: LiveStateTests.at(time))))
      }
      if step % 25 == 0 { note(state.due(at: LiveStateTests.at(time))) }
    }
    note(state.snapshot(at: LiveStateTests.at(60)))
    #expect(try RecordedFigures("live-map").differences(of: "minute", summary) == [])
  }
}
