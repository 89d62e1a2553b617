import Geodesy
import SensorTypes
import Testing

@testable import LocationServices

/// A client that lets positions wait; a millionth of a degree of latitude is a metre.
private struct Bench {
  var engine = LocationEngine { abs($1.latitude - $0.latitude) * 1e6 }
  var settings = ClientSettings(pausesAutomatically: false)
  var now = 0.0
  private var heard: [String] = []

  init(isStarted: Bool = true) {
    ask(.register)
    ask(.configure(settings))
    if isStarted { ask(.start(.location)) }
  }

  mutating func ask(_ action: ServiceAction) {
    var new: [EventContent] = []
    let request = ServiceRequest(ClientID(rawValue: 1), action)
    engine.handle(request, at: Timestamp(seconds: now)) { new.append($0.content) }
    note(new)
  }

  mutating func allow(_ distance: Double, _ timeout: Double) {
    ask(.allowDeferral(distance: distance, timeout: timeout))
  }

  mutating func configure(_ change: (inout ClientSettings) -> Void) {
    change(&settings)
    ask(.configure(settings))
  }

  mutating func fix(_ metres: Double, at seconds: Double) {
    now = max(now, seconds)
    var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.horizontalAccuracy) = (metres / 1e6, 13, 5)
    say(.location(LocationEstimate(fix: fix, isSimulated: false)))
  }

  mutating func say(_ observation: Observation) {
    var new: [EventContent] = []
    engine.handle(observation) { new.append($0.content) }
    note(new)
  }

  mutating func advance(to seconds: Double) {
    now = seconds
    var new: [EventContent] = []
    engine.advance(to: Timestamp(seconds: seconds)) { new.append($0.content) }
    note(new)
  }

  /// What was told since the last call: metres, those that came together in brackets.
  mutating func takeHeard() -> [String] {
    defer { heard = [] }
    return heard
  }

  private func metres(_ report: LocationReport) -> Int {
    Int((report.position.latitude * 1e6).rounded())
  }

  private mutating func note(_ contents: [EventContent]) {
    for content in contents {
      switch content {
      case .location(let report): heard.append("\(metres(report))")
      case .significantChange(let report): heard.append("change \(metres(report))")
      case .deferredLocations(let batch): heard.append("\(batch.map(metres))")
      case .deferralEnded(nil): heard.append("end")
      case .deferralEnded(.failed?): heard.append("failed")
      case .deferralEnded(let problem?): heard.append("\(problem)")
      case .paused: heard.append("paused")
      case .failure: heard.append("failure")
      default: heard.append("?")
      }
    }
  }
}

struct DeferralTests {
  @Test(
    "M15 D3: locations wait until the distance is reached, come together, and the end is told once")
  func distance() {
    var bench = Bench()
    bench.fix(0, at: 1)
    bench.allow(100, .greatestFiniteMagnitude)
    for step in 1...9 { bench.fix(Double(step) * 11, at: 1 + Double(step)) }
    #expect(bench.takeHeard() == ["0"])
    #expect(bench.engine.nextDeadline == nil)
    bench.fix(100, at: 11)
    bench.fix(111, at: 12)
    #expect(
      bench.takeHeard() == ["[11, 22, 33, 44, 55, 66, 77, 88, 99, 100]", "end", "111"])
  }

  @Test("M15 D3: or until the time is over, with or without a location")
  func timeout() {
    var bench = Bench()
    bench.fix(0, at: 1)
    bench.allow(.greatestFiniteMagnitude, 60)
    #expect(bench.engine.nextDeadline == Timestamp(seconds: 61))
    for step in 1...5 { bench.fix(Double(step), at: 1 + 10 * Double(step)) }
    bench.advance(to: 60.9)
    #expect(bench.takeHeard() == ["0"])
    bench.advance(to: 61)
    #expect(bench.takeHeard() == ["[1, 2, 3, 4, 5]", "end"])
    bench.allow(.greatestFiniteMagnitude, 0)
    bench.advance(to: 61)
    bench.advance(to: 100)
    #expect(bench.takeHeard() == ["end"])
    // What the time makes due comes before the position that shows it.
    bench.allow(.greatestFiniteMagnitude, 5)
    bench.fix(6, at: 103)
    bench.fix(7, at: 105)
    #expect(bench.takeHeard() == ["[6]", "end", "7"])
    #expect(bench.engine.nextDeadline == nil)
  }

  @Test("M15: where no location was told before, the first that waits is where the distance begins")
  func origin() {
    var bench = Bench()
    bench.allow(50, 1_000)
    bench.fix(1_000, at: 1)
    bench.fix(1_049, at: 2)
    #expect(bench.takeHeard() == [])
    bench.fix(1_051, at: 3)
    #expect(bench.takeHeard() == ["[1000, 1049, 1051]", "end"])
  }

  @Test("M15: what comes late goes where it belongs")
  func order() {
    var bench = Bench()
    bench.allow(1_000, 60)
    for (metres, seconds) in [(1.0, 1.0), (3, 3), (2, 2), (0, 0.5), (4, 4)] {
      bench.fix(metres, at: seconds)
    }
    bench.ask(.disallowDeferral)
    #expect(bench.takeHeard() == ["[0, 1, 2, 3, 4]", "canceled"])
  }

  @Test("M15 D3: what cannot begin ends at once, with the reason, and locations come as before")
  func refusals() {
    var stopped = Bench(isStarted: false)
    stopped.allow(100, 60)
    #expect(stopped.takeHeard() == ["notUpdating"])
    var bench = Bench()
    bench.configure { $0.desiredAccuracy = 10 }
    bench.allow(100, 60)
    bench.configure { ($0.desiredAccuracy, $0.distanceFilter) = (-2, 5) }
    bench.allow(100, 60)
    bench.configure { $0.distanceFilter = 0 }
    for (distance, timeout) in [(-1, 60), (100, -1), (.nan, 60), (100, Double.nan)] {
      bench.allow(distance, timeout)
    }
    #expect(
      bench.takeHeard()
        == ["accuracyTooLow", "distanceFiltered", "failed", "failed", "failed", "failed"])
    bench.say(.locationUnavailable(.noFix, at: Timestamp(seconds: 0)))
    bench.allow(100, 60)
    #expect(bench.takeHeard() == ["failure", "failed"])
    bench.say(.locationUnavailable(.notYet, at: Timestamp(seconds: 0)))
    bench.allow(100, 60)
    bench.fix(1, at: 1)
    #expect(bench.takeHeard() == [])
  }

  @Test(
    "M15 D3: another call, a ban, and settings that do not go with it end it; what waits is told first"
  )
  func ends() {
    var bench = Bench()
    bench.allow(100, 60)
    bench.fix(0, at: 1)
    bench.allow(100, 60)
    #expect(bench.takeHeard() == ["[0]", "canceled"])
    bench.fix(1, at: 2)
    bench.configure { $0.desiredAccuracy = 100 }
    bench.fix(2, at: 3)
    #expect(bench.takeHeard() == ["[1]", "accuracyTooLow", "2"])
    bench.configure { $0.desiredAccuracy = -1 }
    bench.allow(100, 60)
    bench.configure { $0.distanceFilter = 1 }
    bench.configure { $0.distanceFilter = -1 }
    bench.ask(.disallowDeferral)
    #expect(bench.takeHeard() == ["distanceFiltered"])
    bench.allow(100, 60)
    bench.allow(100, -1)
    bench.fix(3, at: 4)
    #expect(bench.takeHeard() == ["canceled", "failed", "3"])
  }

  @Test(
    "M15 D3 M2: a stop ends it, and nothing of what waits is told; a client that is gone hears nothing"
  )
  func stop() {
    var bench = Bench()
    bench.allow(100, 60)
    bench.fix(0, at: 1)
    bench.ask(.stop(.location))
    bench.advance(to: 100)
    #expect(bench.takeHeard() == ["canceled"])
    bench.ask(.start(.location))
    bench.allow(100, 60)
    bench.fix(1, at: 101)
    bench.ask(.release)
    bench.advance(to: 1_000)
    // Started anew it was told where the board was not: that is too old.
    #expect(bench.takeHeard() == [])
    #expect(bench.engine.nextDeadline == nil)
  }

  @Test("M15 M16 D3 D5: a pause ends it, after what waits, and while it lasts none begins")
  func pause() {
    var bench = Bench()
    bench.configure { ($0.pausesAutomatically, $0.activity) = (true, .fitness) }
    bench.allow(100, .greatestFiniteMagnitude)
    for second in [1.0, 91, 181] { bench.fix(0, at: second) }
    bench.allow(100, 60)
    #expect(bench.takeHeard() == ["[0, 0, 0]", "notUpdating", "paused", "notUpdating"])
  }

  @Test("M15: a loss meanwhile is told at once, and does not end it")
  func loss() {
    var bench = Bench()
    bench.allow(100, 60)
    bench.fix(0, at: 1)
    bench.say(.locationUnavailable(.noFix, at: Timestamp(seconds: 5)))
    bench.fix(1, at: 30)
    #expect(bench.takeHeard() == ["failure"])
    bench.advance(to: 60)
    #expect(bench.takeHeard() == ["[0, 1]", "end"])
  }

  @Test("M15 M11: a significant change that waits is not told twice")
  func significantChange() {
    var bench = Bench()
    bench.ask(.start(.significantChanges))
    bench.allow(10_000, 1_000)
    bench.fix(0, at: 1)
    bench.fix(600, at: 400)
    bench.ask(.disallowDeferral)
    #expect(bench.takeHeard() == ["[0, 600]", "canceled"])
  }

  @Test("M15 D3: an hour waits at most; with the last that fits it ends, and none is lost")
  func limit() {
    var bench = Bench()
    bench.allow(.greatestFiniteMagnitude, .greatestFiniteMagnitude)
    for second in 1...3_600 { bench.fix(Double(second % 90), at: Double(second)) }
    let all = (1...3_600).map { $0 % 90 }
    #expect(bench.takeHeard() == ["\(all)", "failed"])
    bench.fix(1, at: 4_000)
    #expect(bench.takeHeard() == ["1"])
  }

  @Test("M15: another board speaks: what its predecessor said is forgotten, the time runs on")
  func otherBoard() {
    var bench = Bench()
    bench.allow(100, 60)
    bench.fix(0, at: 1)
    bench.engine.forgetObservations()
    bench.fix(5_000, at: 2)
    #expect(bench.takeHeard() == [])
    bench.advance(to: 60)
    #expect(bench.takeHeard() == ["[5000]", "end"])
  }
}
