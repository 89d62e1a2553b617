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
  func longProblem() {
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

  @Test("a problem that somebody has to mend is told at once")
  func lasting() {
    var journal = OutputJournal()
    var report = DaemonStatus.OutputReport(
      name: "nmea0183", place: "/etc/passwd (4800 baud)", positions: .none, listeners: nil,
      sent: 0, dropped: 0, problem: "this is no serial port", line: 3, isLasting: true)
    let start = Timestamp(nanoseconds: 0)
    let title = "nmea0183 at /etc/passwd (4800 baud) (line 3)"
    #expect(journal.lines(for: [report], at: start) == ["\(title): this is no serial port"])
    (report.problem, report.isLasting) = (nil, nil)
    #expect(
      journal.lines(for: [report], at: start.advanced(bySeconds: 1)) == ["\(title) works again"])
  }

  @Test("outputs that go to one place are told apart, and one that works hides no other")
  func onePlace() {
    func reports(_ problems: [String?]) -> [DaemonStatus.OutputReport] {
      problems.enumerated().map { index, problem in
        DaemonStatus.OutputReport(
          name: "mqtt", place: "mqtt://broker:1883", positions: .none, listeners: nil, sent: 0,
          dropped: 0, problem: problem, line: index + 3)
      }
    }
    var journal = OutputJournal()
    let problems = ["/none: there is no such file", nil, "wrong user name or password", nil]
    var lines: [String] = []
    for second in 0..<10 {
      let now = Timestamp(nanoseconds: 0).advanced(bySeconds: Double(second))
      lines += journal.lines(for: reports(problems), at: now)
    }
    #expect(
      lines == [
        "mqtt at mqtt://broker:1883 (line 3): /none: there is no such file",
        "mqtt at mqtt://broker:1883 (line 5): wrong user name or password",
      ])
    let later = Timestamp(nanoseconds: 0).advanced(bySeconds: 20)
    #expect(
      journal.lines(for: reports([nil, nil, problems[2], nil]), at: later)
        == ["mqtt at mqtt://broker:1883 (line 3) works again"])
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
