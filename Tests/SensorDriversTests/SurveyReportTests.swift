// What is believed of a survey, with a receiver whose messages a test writes.

import SensorBus
import SensorTypes
import Testing

@testable import SensorDrivers

/// A codec that accepts each command and says what a test has written.
private struct WrittenCodec: ReceiverCodec {
  final class Script {
    var events: [ReceiverEvent] = []
  }

  let script: Script
  let room = 64

  mutating func setBoardTime(_ seconds: Double) {}
  mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Timestamp) {}

  mutating func next(at now: Timestamp) -> ReceiverEvent? {
    script.events.isEmpty ? nil : script.events.removeFirst()
  }

  func requests(
    setting item: ReceiverSetting, in dialect: ReceiverSetup.Dialect, port: ReceiverPort,
    settings: ReceiverSettings
  ) -> [ReceiverRequest] { [ReceiverRequest(bytes: [0], answer: 7)] }

  mutating func sent(_ request: ReceiverRequest) {
    script.events.append(.answer(to: 7, isAccepted: true))
  }

  func questions(ofAll: Bool) -> [[UInt8]] {
    script.events.append(.identity(SensorIdentity(name: "u-blox", firmware: nil), .keys))
    return []
  }
}

private final class NoStream: ByteStream {
  let readiness = Readiness.never
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int { 0 }
  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {}
  func setBaudRate(_ rate: Int) throws(BusError) {}
}

struct SurveyReportTests {
  private let script = WrittenCodec.Script()
  private let receiver: GNSSReceiver
  private var now = Timestamp(seconds: 100)

  init() throws {
    receiver = GNSSReceiver(
      NoStream(), codec: WrittenCodec(script: script), port: .uart, outputRate: 1,
      base: .survey(seconds: 60, accuracy: 2),
      setup: ReceiverSetup(access: .configuresUBlox, baudRate: 38_400, searchesBaudRate: false))
    for _ in 0..<50 { _ = try take(.epoch(epoch(.autonomous, 48), isPVT: true)) }
    try #require(receiver.isConfigured && receiver.setup.isBaseSet)
  }

  private func epoch(_ kind: FixKind, _ latitude: Double?) -> GNSSFix {
    var fix = GNSSFix(received: now, mode: .threeDimensional)
    (fix.kind, fix.latitude, fix.longitude, fix.horizontalAccuracy) = (kind, latitude, 11, 2)
    return fix
  }

  private func survey(
    isActive: Bool, isValid: Bool, latitude: Double, accuracy: Double = 1
  ) -> ReceiverEvent {
    var survey = BaseSurvey(isActive: isActive, isValid: isValid, seconds: 60, accuracy: accuracy)
    (survey.latitude, survey.longitude, survey.height) = (latitude, 11, 500)
    var condition = ReceiverCondition()
    condition.survey = survey
    return .condition(condition)
  }

  /// What the receiver makes of an event, a tenth of a second after the one before.
  private mutating func take(_ event: ReceiverEvent) throws -> GNSSFix? {
    script.events.append(event)
    now = now.advanced(bySeconds: 0.1)
    var fix: GNSSFix?
    while let next = try receiver.poll(now: now) { fix = next }
    return fix
  }

  private mutating func timeOnly() throws -> GNSSFix {
    try #require(try take(.epoch(epoch(.timeOnly, nil), isPVT: true)))
  }

  @Test(
    "a survey that goes on, or is not valid, gives no place",
    arguments: [(true, true), (true, false), (false, false)])
  func unfinished(isActive: Bool, isValid: Bool) throws {
    var rig = self
    _ = try rig.take(survey(isActive: isActive, isValid: isValid, latitude: 48))
    let fix = try rig.timeOnly()
    #expect(fix.kind == .timeOnly && fix.latitude == nil)
    #expect(receiver.link?.base?.phase == .surveying)
  }

  @Test("the mean of a survey is the place, as far as its own positions and accuracies allow")
  func believed() throws {
    var rig = self
    // 130 m: 100 m, and five times 2 m and 5 m.
    _ = try rig.take(survey(isActive: false, isValid: true, latitude: 48.00117, accuracy: 5))
    let fix = try rig.timeOnly()
    #expect(fix.kind == .manual && fix.latitude == 48.00117 && fix.horizontalAccuracy == 5)
    #expect(receiver.link?.base?.phase == .fixed)
    #expect(receiver.note == "is a base station at the place that it has surveyed")
  }

  @Test(
    "a mean far from the survey's own positions is not believed, at once or later, and that is said",
    arguments: [48.0013, 49, -48, 0])
  func jump(latitude: Double) throws {
    for isLate in [false, true] {
      var rig = try SurveyReportTests()
      if isLate {
        _ = try rig.take(survey(isActive: false, isValid: true, latitude: 48))
        #expect(try rig.timeOnly().kind == .manual)
      }
      _ = try rig.take(survey(isActive: false, isValid: true, latitude: latitude))
      let fix = try rig.timeOnly()
      #expect(fix.kind == .timeOnly && fix.latitude == nil)
      #expect(rig.receiver.link?.base?.phase == .surveying)
      #expect(
        rig.receiver.note
          == "reports a surveyed place far from its own positions, which is not believed")
    }
  }
}
