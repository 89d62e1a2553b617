// What a board has, as its observations show it.

package import SensorTypes

/// What a board is seen to have: entities for Home Assistant follow from it.
///
/// It only grows. A chip that is lost stays an entity, whose value is unknown.
package struct HomeAssistantEquipment: Sendable, Hashable {
  package private(set) var capabilities = HardwareCapabilities(
    heading: false, location: false, relativeAltitude: false)
  package private(set) var hasHumidity = false
  package private(set) var chips: [HomeAssistantDevice.Chip] = []

  package init() {}

  /// Takes an observation. Returns whether it shows something new.
  package mutating func take(_ observation: Observation) -> Bool {
    let before = (capabilities, hasHumidity, chips.count)
    switch observation {
    case .heading(let heading):
      capabilities.heading = true
      if heading.fieldCheck != nil { capabilities.motion.magnetometer = true }
      if let reason = heading.reason { take(headingReason: reason) }
    case .headingUnavailable(let reason, _): take(headingReason: reason)
    case .location: capabilities.location = true
    case .locationUnavailable(let reason, _):
      if reason == .noFix || Self.isLost(reason) { capabilities.location = true }
    case .altitude(let altitude):
      capabilities.relativeAltitude = true
      if altitude.humidity != nil { hasHumidity = true }
    case .altitudeUnavailable(let reason, _):
      if Self.isLost(reason) { capabilities.relativeAltitude = true }
    case .absoluteAltitude: capabilities.absoluteAltitude = true
    case .sensor(let status):
      guard !chips.contains(where: { $0.index == status.index }), chips.count < 64 else { break }
      chips.append(.init(index: status.index, name: status.chip))
      chips.sort { $0.index < $1.index }
    case .sky, .motion, .motionUnavailable, .waves, .wavesUnavailable, .diagnostic: break
    }
    return before != (capabilities, hasHumidity, chips.count)
  }

  private mutating func take(headingReason reason: NoData) {
    switch reason {
    case .uncalibrated, .magneticInterference:
      (capabilities.heading, capabilities.motion.magnetometer) = (true, true)
    case .tiltUnknown, .sensorLost: capabilities.heading = true
    default: break
    }
  }

  private static func isLost(_ reason: NoData) -> Bool {
    if case .sensorLost = reason { true } else { false }
  }
}
