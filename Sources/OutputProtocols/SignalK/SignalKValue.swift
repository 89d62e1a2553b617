// A value of Signal K, and what a person is warned of.

import SensorTypes
import TextForms

/// What a person is warned of.
///
/// Its words may tell figures that change all the time. It is the same warning as long as its state, its methods and its subject are.
package struct SignalKNotification: Sendable, Hashable {
  /// How serious it is, in Signal K's words.
  package enum AlarmState: String, Sendable, Hashable {
    /// Something to know for a routine action.
    case alert
    /// Something that needs attention at once, but no action.
    case warn
  }

  package var state: AlarmState
  /// Whether it should be heard as well as seen.
  package var isAudible: Bool
  /// What it is about, in a sentence.
  package var subject: String
  /// What was measured, in words.
  package var detail: String?

  /// Makes a warning.
  package init(_ state: AlarmState, isAudible: Bool, _ subject: String, detail: String? = nil) {
    (self.state, self.isAudible, self.subject, self.detail) = (state, isAudible, subject, detail)
  }

  package static func == (a: SignalKNotification, b: SignalKNotification) -> Bool {
    a.state == b.state && a.isAudible == b.isAudible && a.subject == b.subject
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(subject) }

  func write(to line: inout JSONLine) {
    line.set("state", state.rawValue)
    line.set("method", isAudible ? ["visual", "sound"] : ["visual"])
    line.set("message", detail.map { "\(subject) \($0)" } ?? subject)
  }
}

/// A value of a path.
package enum SignalKValue: Sendable, Hashable {
  /// Not known any more.
  case null
  case number(Double)
  case text(String)
  /// Seconds since 1970.
  case time(Double)
  /// Degrees, and metres above the ellipsoid.
  case position(latitude: Double, longitude: Double, altitude: Double?)
  /// Radians.
  case attitude(roll: Double, pitch: Double, yaw: Double?)
  case notification(SignalKNotification)

  /// Makes a number, or `nil` for one that is not known or not finite.
  static func known(_ value: Double?) -> SignalKValue? {
    value.flatMap { $0.isFinite ? .number($0) : nil }
  }

  /// Makes an angle from 0 up to 2 pi, which no rounding makes a full turn.
  static func bearing(_ radians: Double?) -> SignalKValue? {
    guard let radians, radians.magnitude < 1e3 else { return nil }
    let rest = radians.truncatingRemainder(dividingBy: 2 * .pi)
    let positive = rest < 0 ? rest + 2 * .pi : rest
    return .number(positive >= 2 * .pi - 0.000_005 ? 0 : positive)
  }

  func write(to line: inout JSONLine, digits: Int) {
    switch self {
    case .null: line.setNull("value")
    case .number(let value): line.set("value", value, digits: digits)
    case .text(let text): line.set("value", text)
    case .time(let time):
      if CivilDate(time) == nil { line.setNull("value") } else { line.set("value", time: time) }
    case .position(let latitude, let longitude, let altitude):
      var place = JSONLine()
      place.set("latitude", latitude, digits: digits)
      place.set("longitude", longitude, digits: digits)
      place.set("altitude", altitude, digits: 3)
      line.set("value", place)
    case .attitude(let roll, let pitch, let yaw):
      var angles = JSONLine()
      angles.set("roll", roll, digits: digits)
      angles.set("pitch", pitch, digits: digits)
      angles.set("yaw", yaw, digits: digits)
      line.set("value", angles)
    case .notification(let notification):
      var object = JSONLine()
      notification.write(to: &object)
      line.set("value", object)
    }
  }
}
