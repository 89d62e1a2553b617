// What the journal is told of outputs.

import LocationServices
import SensorTypes
import Testing

@testable import LocationDaemon

struct OutputJournalTests {
  /// A journal, and the moments at which it looks.
  private struct Desk {
    var journal = OutputJournal()

    mutating func look(
      _ seconds: Double, _ problem: String?, other: String? = nil
    ) -> [String] {
      let reports = [("broker", problem), ("other", other)].map { host, problem in
        DaemonStatus.OutputReport(
          name: "mqtt", place: "mqtt://\(host):1883", positions: .none, listeners: nil, sent: 0,
          dropped: 0, problem: problem)
      }
      return journal.lines(
        for: reports, at: Timestamp(nanoseconds: 0).advanced(bySeconds: seconds))
    }
  }

  @Test("a problem that lasts is told once, and its end")
  func lasting() {
    var desk = Desk()
    #expect(desk.look(0, "connection refused") == [])
    let told = desk.look(5, "connection refused")
    #expect(told == ["mqtt at mqtt://broker:1883: connection refused"])
    for second in 2..<100 { #expect(desk.look(Double(second) * 5, "connection refused") == []) }
    #expect(desk.look(500, nil) == ["mqtt at mqtt://broker:1883 works again"])
    #expect(desk.look(505, nil) == [])
  }

  @Test("a problem that is over soon is not told, and neither is its end")
  func short() {
    var desk = Desk()
    #expect(desk.look(0, "not connected yet") == [])
    #expect(desk.look(3, nil) == [])
    #expect(desk.look(6, "connection refused") == [])
    #expect(desk.look(9, "connection refused") == [])
    #expect(desk.look(11, "connection refused").count == 1)
  }

  @Test("a problem that changes with each attempt is told once a minute")
  func changing() {
    var desk = Desk()
    var count = 0
    for second in 0..<600 { count += desk.look(Double(second), "attempt \(second)").count }
    #expect(count == 10)
  }

  @Test("outputs are told apart by their places")
  func places() {
    var desk = Desk()
    #expect(desk.look(0, "connection refused") == [])
    #expect(desk.look(5, "connection refused").count == 1)
    let lines = desk.look(10, nil, other: "connection refused")
    #expect(lines == ["mqtt at mqtt://broker:1883 works again"])
    #expect(desk.look(15, nil, other: "connection refused").count == 1)
  }
}
