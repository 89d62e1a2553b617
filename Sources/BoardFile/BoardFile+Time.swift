// Where a receiver's time goes, as a board file says it.

import SensorDrivers

/// The sockets of chrony that a receiver's time goes to (chrony.conf(5), refclock SOCK).
package struct TimeOutput: Sendable, Hashable, Codable {
  /// Where the time of messages goes if the board file names no place.
  package static let usualMessages = "/run/chrony.lodestone.sock"
  /// The same of the time of pulses.
  package static let usualPulses = "/run/chrony.lodestone.pps.sock"

  /// The path for the time of messages; `nil` where it goes nowhere.
  package var messages: String?
  /// The path for the time of pulses (PPS); `nil` where it goes nowhere.
  package var pulses: String?

  package init(messages: String? = nil, pulses: String? = nil) {
    (self.messages, self.pulses) = (messages, pulses)
  }
}

extension BoardFile {
  /// `time: chrony`, or with paths `time: {chrony: PATH, pulse: PATH}`.
  static func timeOutput(
    _ map: YAMLMapping, of sensor: Board.Sensor, file: String
  ) throws(BoardFileError) -> TimeOutput? {
    guard let node = map.node("time") else { return nil }
    guard ChipCatalog.chip(named: sensor.chip)?.kind == .receiver else {
      throw map.error("time", "'time' goes with a receiver, not with \(sensor.chip)")
    }
    if case .server = sensor.attachment {
      throw map.error(
        "time",
        sensor.chip == "gpsd"
          ? "gpsd gives chrony the time itself: take 'time' out"
          : "over a network nobody knows how late a message is: 'time' goes with 'port' or 'bus'")
    }
    if case .scalar = node.value {
      guard try map.string("time") == "chrony" else {
        throw map.error("time", "'time' is chrony, or {chrony: PATH, pulse: PATH}")
      }
      return TimeOutput(
        messages: TimeOutput.usualMessages,
        pulses: sensor.pulse == nil ? nil : TimeOutput.usualPulses)
    }
    let paths = try YAMLMapping(
      node, file: file, context: "a place for time", known: ["chrony", "pulse"])
    let output = TimeOutput(
      messages: try path(paths, "chrony"), pulses: try path(paths, "pulse"))
    guard output.messages != nil || output.pulses != nil else {
      throw map.error("time", "'time' needs 'chrony' or 'pulse', each the path of a socket")
    }
    guard output.pulses == nil || sensor.pulse != nil else {
      throw map.error("time", "'pulse' goes with a receiver whose entry has 'pps'")
    }
    guard output.messages != output.pulses else {
      throw map.error("time", "messages and pulses need a socket each: their delays differ")
    }
    return output
  }

  private static func path(
    _ map: YAMLMapping, _ key: String
  ) throws(BoardFileError) -> String? {
    guard let path = try map.string(key) else { return nil }
    // What a Unix socket's address holds.
    guard path.hasPrefix("/"), path.utf8.count < 108 else {
      throw map.error(key, "'\(key)' is the absolute path of a socket, 107 bytes at most")
    }
    return path
  }
}
