// What the daemon says of an output when it starts.

import LocationDaemon
import LocationServices

/// The line about an output at the start of the daemon.
enum OutputAnnouncement {
  /// Returns where an output goes and how much of the position.
  static func text(_ opened: OpenedOutput) -> String {
    let (name, place) = (opened.output.name, "\(opened.output.name) at \(opened.output.place)")
    // What publishes ports has no entry, and the compass of desktops never has a position.
    guard opened.line != nil else { return "\(name): \(opened.output.place)" }
    guard opened.settings.kind != .sensorProxy else { return place }
    if let port = opened.listener, !port.report.isOpen {
      return "\(name) waits for \(port.path), which another program has"
    }
    let limit = opened.settings.positions
    guard limit == .none else { return "\(place), positions: \(limit.rawValue)" }
    return "\(place), positions: none, so that it tells no place and no true heading"
  }
}
