import Geodesy
import LinearAlgebra
import SensorTypes

@testable import LocationServices

/// An engine with a log of what it has emitted.
struct EngineBench {
  var engine = LocationEngine()
  var events: [ServiceEvent] = []
  var now = Timestamp(seconds: 0)

  mutating func ask(_ action: ServiceAction, client: UInt64 = 1) {
    var new: [ServiceEvent] = []
    engine.handle(ServiceRequest(ClientID(rawValue: client), action), at: now) { new.append($0) }
    events += new
  }

  mutating func say(_ observation: Observation) {
    var new: [ServiceEvent] = []
    engine.handle(observation) { new.append($0) }
    events += new
  }

  /// What has been emitted since the last call.
  mutating func heard() -> [EventContent] {
    defer { events = [] }
    return events.map(\.content)
  }

  /// What one client has received since this was last asked. The events of the others stay.
  mutating func heard(by client: UInt64) -> [EventContent] {
    defer { events.removeAll { $0.client.rawValue == client } }
    return events.filter { $0.client.rawValue == client }.map(\.content)
  }

  mutating func headings() -> [Double] {
    heard().compactMap { if case .heading(let report) = $0 { report.magneticHeading } else { nil } }
  }

  mutating func latitudes() -> [Double] {
    heard().compactMap {
      if case .location(let report) = $0 { report.position.latitude } else { nil }
    }
  }

  mutating func failures() -> [Service] {
    heard().compactMap { if case .failure(let failure) = $0 { failure.service } else { nil } }
  }

  mutating func altitudes() -> [AltitudeReport] {
    heard().compactMap { if case .altitude(let report) = $0 { report } else { nil } }
  }
}

/// Observations as a board would publish them, with defaults for what a test does not depend on.
extension Observation {
  static func fix(
    _ latitude: Double, accuracy: Double? = 5, mode: FixMode = .threeDimensional,
    at seconds: Double = 0
  ) -> Observation {
    var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: mode)
    fix.latitude = latitude
    fix.longitude = 13
    fix.horizontalAccuracy = accuracy
    fix.altitude = 40
    fix.verticalAccuracy = 8
    return .location(LocationEstimate(fix: fix, isSimulated: false))
  }

  static func heading(
    _ degrees: Double, attitude: Quaternion? = nil, accuracy: Double? = 2, true: Double? = nil,
    reason: NoData? = nil, field: Vector3? = Vector3(1, 20, -43), at seconds: Double = 0
  ) -> Observation {
    let radians = degrees * .pi / 180
    return .heading(
      HeadingEstimate(
        time: Timestamp(seconds: seconds), magneticHeading: radians,
        accuracy: accuracy.map { $0 * .pi / 180 }, trueHeading: `true`.map { $0 * .pi / 180 },
        reason: reason, field: field,
        attitude: attitude ?? Quaternion(rotationVector: Vector3(0, 0, -radians))))
  }

  static func altitude(_ metres: Double, at seconds: Double) -> Observation {
    .altitude(
      AltitudeEstimate(
        time: Timestamp(seconds: seconds), relativeAltitude: metres, relativeAccuracy: 0.1,
        pressure: 101_325))
  }
}
