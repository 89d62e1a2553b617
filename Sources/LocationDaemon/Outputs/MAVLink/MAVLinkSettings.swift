// What serve.yaml says of an output of MAVLink.

import BoardFile
package import OutputProtocols
package import SensorTypes

/// Who an output of MAVLink says it is, and what it sends.
package struct MAVLinkSettings: Hashable, Sendable {
  /// The number of the vehicle, 1 to 255.
  package var system: UInt8 = 1
  /// The number of the component: 191 is an onboard computer.
  package var component: UInt8 = 191
  /// What is sent, with the seconds from one to the next.
  package var entries = MAVLinkEntry.standard

  package init() {}

  /// What the messages need of the board.
  package var demand: Demand {
    var demand = Demand()
    for entry in entries {
      switch entry.kind {
      case .heartbeat: break
      case .attitude:
        demand = demand.merged(with: Self.attitude(entry.interval))
      case .odometry:
        demand = demand.merged(with: Self.attitude(entry.interval))
        demand = demand.merged(with: Self.position(entry.interval))
      case .gpsInput, .globalPosition:
        // Both have a heading.
        demand.heading = true
        demand = demand.merged(with: Self.position(entry.interval))
      case .scaledPressure: demand.altitude = true
      }
    }
    return demand
  }

  private static func attitude(_ interval: Double) -> Demand {
    Demand(
      heading: true, motion: MotionDemand(attitude: true, field: true, interval: interval))
  }

  private static func position(_ interval: Double) -> Demand {
    Demand(location: true, locationInterval: interval, altitude: true)
  }

  /// The greatest number of bytes in a second, for a line that has a limit.
  package var bytesPerSecond: Double {
    entries.reduce(0) { $0 + Double($1.kind.frameLength) / $1.interval }
  }
}

extension MAVLinkMessage.MessageKind {
  /// The number of bytes of a frame: the payload, 10 before it, and the checksum.
  fileprivate var frameLength: Int {
    let payload =
      switch self {
      case .heartbeat: 9
      case .scaledPressure: 16
      case .globalPosition: 28
      case .attitude: 72
      case .gpsInput: 65
      case .odometry: 233
      }
    return payload + 12
  }
}

extension MAVLinkSettings {
  /// The keys that only MAVLink has.
  static let keys = ["system", "component", "messages"]

  static func parse(_ entry: YAMLMapping) throws(BoardFileError) -> MAVLinkSettings {
    var settings = MAVLinkSettings()
    settings.system = UInt8(try entry.integer("system", in: 1...255) ?? Int(settings.system))
    settings.component = UInt8(
      try entry.integer("component", in: 1...255) ?? Int(settings.component))
    let kinds = MAVLinkMessage.MessageKind.allCases
    if let chosen = try entry.mapping(
      "messages", context: "the messages", known: kinds.map(\.name))
    {
      settings.entries = []
      for kind in kinds where chosen.has(kind.name) {
        let interval = try chosen.requiredNumber(
          kind.name, in: MAVLinkSchedule.intervals, unit: "seconds from one to the next")
        settings.entries.append(MAVLinkEntry(kind, interval: interval))
      }
      guard !settings.entries.isEmpty else {
        throw entry.error("messages", "an output of mavlink needs a message")
      }
      // Without it nobody believes that there is a component.
      if !chosen.has("HEARTBEAT") {
        settings.entries.insert(MAVLinkEntry(.heartbeat, interval: 1), at: 0)
      }
    }
    return settings
  }
}
