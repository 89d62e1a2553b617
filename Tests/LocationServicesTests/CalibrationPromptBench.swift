import LinearAlgebra
import SensorTypes

@testable import LocationServices

private let radian = Double.pi / 180

/// An engine with managers that can be asked, and a field that the test shapes.
struct CalibrationPromptBench {
  var engine = LocationEngine()
  var now = 0.0
  /// Strength and dip (degrees) of the field, and what is expected of it.
  var strength = 49.0
  var dip = 67.0
  var origin: FieldReference? = .model
  var magnet = 0.0
  var isDisturbed = false
  /// The record in force; `nil` for none.
  var record: UInt32? = 1
  /// Whether a receiver's course says where north is.
  var hasCourse = false
  private(set) var questions: [(client: UInt64, number: UInt64, time: Double)] = []
  private(set) var closed: [UInt64] = []
  private(set) var changes: [CalibrationPromptChange] = []
  private(set) var accuracies: [Double?] = []

  mutating func ask(_ action: ServiceAction, client: UInt64 = 1) {
    let time = Timestamp(seconds: now)
    collect { engine, emit in
      engine.handle(ServiceRequest(ClientID(rawValue: client), action), at: time, emit: emit)
    }
  }

  mutating func add(_ client: UInt64, heading: Bool = true, answers: Bool = true) {
    ask(.register, client: client)
    ask(
      .configure(ClientSettings(headingFilter: -1, answersQuestions: answers)), client: client)
    if heading { ask(.start(.heading), client: client) }
  }

  /// Lets the board speak ten times a second.
  mutating func live(_ seconds: Double) {
    for _ in 0..<Int((seconds * 10).rounded()) {
      now += 0.1
      let expected: FieldShape? =
        switch origin {
        case .model, .learned: FieldShape(strength: 49, dip: 67 * radian)
        case .calibration: FieldShape(strength: 49)
        case nil: nil
        }
      var reason: NoData?
      if isDisturbed { reason = .magneticInterference("iron") }
      if record == nil { reason = .uncalibrated }
      if hasCourse { reason = nil }
      let estimate = HeadingEstimate(
        time: Timestamp(seconds: now), magneticHeading: 1, accuracy: reason == nil ? 0.05 : nil,
        reason: reason, field: Vector3(1, 20, -43), attitude: .identity,
        fieldCheck: FieldCheck(
          measured: FieldShape(strength: strength, dip: dip * radian), expected: expected,
          origin: origin, isDisturbed: isDisturbed, magnet: magnet, calibration: record))
      collect { $0.handle(.heading(estimate), emit: $1) }
    }
  }

  private mutating func collect(
    _ body: (inout LocationEngine, (ServiceEvent) -> Void) -> Void
  ) {
    var events: [ServiceEvent] = []
    body(&engine) { events.append($0) }
    for event in events {
      switch event.content {
      case .question(let question):
        questions.append((event.client.rawValue, question.number, now))
      case .questionClosed(let number): closed.append(number)
      case .heading(let report): accuracies.append(report.accuracy)
      default: break
      }
    }
    while let change = engine.takePromptChange() { changes.append(change) }
  }

  mutating func answer(_ display: Bool, client: UInt64 = 1) {
    ask(.answer(question: questions.last?.number ?? 0, display: display), client: client)
  }

  var shows: Int { changes.count { if case .show = $0 { true } else { false } } }
  var ends: [CalibrationPromptEnd] {
    changes.compactMap { if case .dismiss(let end) = $0 { end } else { nil } }
  }
}
