// A desktop that has claimed the compass, without a bus.

import SensorTypes
import Synchronization

/// Shows the properties of `net.hadess.SensorProxy.Compass`, and what is signalled of them.
final class SensorProxyPreview: PreviewPeer {
  private struct State: Sendable {
    var changes = SensorProxyChanges()
    var hasBegun = false
  }

  private let shared: SensorProxyState
  private let state = Mutex(State())

  /// - Parameter shared: The values of the output, which is claimed from now on.
  init(_ shared: SensorProxyState) {
    self.shared = shared
    shared.values.withLock { $0.claims = 1 }
  }

  func lines(at now: Timestamp) -> [String] {
    let values = shared.values.withLock { $0 }
    return state.withLock { state in
      // What a program asks for at first is not shown again when it is signalled.
      let asked = state.hasBegun ? [] : state.changes.present(values, at: now)
      state.hasBegun = true
      var lines = asked.map(Self.line)
      for change in state.changes.take(values, isClaimed: true, at: now)
      where !asked.contains(change) {
        lines.append(Self.line(change))
        if change == .presence(false) {
          lines.append("CompassHeading has no value: no heading is to be trusted")
        }
      }
      return lines
    }
  }

  private static func line(_ change: SensorProxyChange) -> String {
    switch change {
    case .presence(let has): "\(change.name) \(has)"
    case .heading(let degrees): "\(change.name) \(degrees)"
    }
  }
}
