// What a board says of itself, on its way to the status and the journal.

import BoardFile
import FacadeTestSupport
import LocationServices
import SensorTypes
import Testing

@testable import LocationDaemon

struct BoardMessagesTests {
  private func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }

  @Test("a message goes to the journal once, and again after another one; the status counts it")
  func repeated() {
    var messages = BoardMessages()
    for second in 0..<10 { messages.take("no corrections", at: at(Double(second))) }
    #expect(messages.takeLines() == ["no corrections"])
    #expect(messages.takeLines() == [])
    messages.take("corrections", at: at(20))
    messages.take("no corrections", at: at(30))
    #expect(messages.takeLines() == ["corrections", "no corrections"])
    let report = messages.report(at: at(40))
    #expect(report.map(\.text) == ["corrections", "no corrections"])
    #expect(report.map(\.count) == [1, 11] && report.map(\.age) == [20, 10])
  }

  @Test("a board that says much fills neither the journal nor the status")
  func flood() {
    var messages = BoardMessages()
    var lines: [String] = []
    // An hour.
    for second in 0..<3_600 {
      messages.take("message \(second)", at: at(Double(second)))
      lines += messages.takeLines()
    }
    #expect((20...50).contains(lines.count), "\(lines.count)")
    #expect(lines.last?.contains("messages left out before: ") == true)
    let report = messages.report(at: at(3_600))
    #expect(report.count == BoardMessages.most && report.last?.text == "message 3599")
    // Nobody takes the lines.
    for second in 3_600..<20_000 { messages.take("message \(second)", at: at(Double(second))) }
    #expect(messages.takeLines().count <= 20)
    messages.take(String(repeating: "x", count: 10_000), at: at(30_000))
    #expect(messages.report(at: at(30_000)).last?.text.count == BoardMessages.longest + 3)
  }

  @Test("the status has the chips with their problems and corrections, and what the board has said")
  func status() throws {
    let bench = try DaemonBench()
    let daemon = try #require(bench.daemon)
    #expect(daemon.status.chips == [] && daemon.status.messages == [])
    daemon.openBoard()
    var receiver = SensorStatus(
      index: 0, chip: "u-blox", position: "/dev/ttyAMA0", state: .running,
      since: Timestamp(seconds: 1))
    receiver.counters.samples = 12
    receiver.link = ReceiverLink()
    receiver.link?.corrections = CorrectionStatus(source: "caster.example/MOUNT")
    receiver.link?.corrections?.phase = .pausing
    receiver.link?.corrections?.failure = "wrong user name or password (401)"
    let compass = SensorStatus(
      index: 1, chip: "LIS3MDL", position: "/dev/i2c-1:0x1e", state: .failed("no answer"),
      since: Timestamp(seconds: 1))
    bench.board.set(Board(name: "boat", sensors: []), [receiver, compass])
    bench.board.publish(
      .diagnostic("u-blox at /dev/ttyAMA0 has no corrections", at: Timestamp(seconds: 2)))
    let status = daemon.status
    let chips = try #require(status.chips)
    #expect(chips.map(\.name) == ["u-blox at /dev/ttyAMA0", "LIS3MDL at /dev/i2c-1:0x1e"])
    #expect(chips.map(\.state) == ["running", "failed"] && chips[0].samples == 12)
    #expect(chips[0].problem == nil && chips[1].problem == "no answer")
    #expect(chips[0].corrections?.contains("wrong user name or password (401)") == true)
    #expect(chips[1].corrections == nil)
    #expect(status.messages?.map(\.text) == ["u-blox at /dev/ttyAMA0 has no corrections"])
    #expect(daemon.takeMessages() == ["u-blox at /dev/ttyAMA0 has no corrections"])
    #expect(daemon.takeMessages() == [])
  }

  @Test("the journal is told of a chip that fails, and that it works again once it delivers")
  func chips() {
    var journal = OutputJournal()
    func look(_ seconds: Double, _ state: String, _ problem: String? = nil) -> [String] {
      journal.lines(
        for: [
          DaemonStatus.ChipReport(
            name: "LIS3MDL at 1", state: state, problem: problem, samples: 0, corrections: nil)
        ], at: at(seconds))
    }
    #expect(look(0, "running") == [])
    #expect(look(5, "failed", "no answer") == [])
    #expect(look(10, "failed", "no answer") == ["LIS3MDL at 1: no answer"])
    #expect(look(15, "starting") == [] && look(20, "failed", "no answer") == [])
    #expect(look(25, "idle") == [] && look(30, "starting") == [])
    #expect(look(35, "running") == ["LIS3MDL at 1 works again"])
    #expect(look(40, "running") == [])
  }
}
