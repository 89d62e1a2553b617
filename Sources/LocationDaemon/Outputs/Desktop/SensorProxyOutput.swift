// The compass of desktops: an output that is asked over D-Bus.

import LinuxIO
package import LocationServices
package import OutputProtocols
import SensorBus
package import SensorTypes
import Synchronization

/// Gives desktops the magnetic heading as `net.hadess.SensorProxy` on the system's D-Bus: QtSensors, GeoClue and with it GNOME Maps.
///
/// Nothing of the position goes there. Chips sleep until a program claims the compass.
package final class SensorProxyOutput: ProtocolOutput {
  package let name = "sensorproxy"
  package let place = "net.hadess.SensorProxy on D-Bus"
  package let positions = PositionLimit.none

  private let address: String?
  private let isOnBus: Bool
  private let state: SensorProxyState
  private let thread = Mutex<BusThread?>(nil)

  /// - Parameter address: The address of the bus, as D-Bus writes it; the system's bus if it is `nil`.
  package init(address: String? = nil) {
    (self.address, isOnBus, state) = (address, true, SensorProxyState())
  }

  /// Makes an output that is on no bus: what it would tell is in `state`.
  init(shown state: SensorProxyState) { (address, isOnBus, self.state) = (nil, false, state) }

  deinit { thread.withLock { $0 }?.stop() }

  package var demand: Demand { Demand(heading: state.values.withLock { $0.claims > 0 }) }

  package var summary: OutputSummary {
    state.values.withLock { values in
      var summary = OutputSummary(listeners: values.claims)
      (summary.sent, summary.dropped) = (values.sent, values.refused)
      summary.problem = values.problem
      return summary
    }
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) {
    guard isOnBus else { return }
    let (address, state) = (address, state)
    do throws(BusError) {
      let started = try BusThread(name: "sensorproxy") {
        BusSession(address: address, SensorProxyClient(state, wake: wake))
      }
      thread.withLock { $0 = started }
    } catch {
      state.values.withLock { $0.problem = "no thread for D-Bus: \(error)" }
    }
  }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {}

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? {
    // The interface has no word for how well a heading is known.
    let degrees = published.bareHeading(at: now).map { Self.degrees($0.magnetic) }
    let isEquipped: Bool =
      switch published.headingReason(at: now) {
      case .notEquipped, .noBoard, .vehicleUndeclared: false
      default: true
      }
    let (isNews, claims) = state.values.withLock { values in
      let isNews = values.heading != degrees || values.isEquipped != isEquipped
      (values.heading, values.isEquipped) = (degrees, isEquipped)
      return (isNews, values.claims)
    }
    if isNews { thread.withLock { $0 }?.wake() }
    // A heading that is not repeated ends by its age.
    return claims > 0 ? now.advanced(bySeconds: 0.5) : nil
  }

  /// Degrees from 0 up to 360, to a tenth.
  static func degrees(_ radians: Double) -> Double {
    let rest = (radians * 180 / .pi).truncatingRemainder(dividingBy: 360)
    let tenths = ((rest < 0 ? rest + 360 : rest) * 10).rounded() / 10
    return tenths >= 360 ? 0 : tenths
  }
}
