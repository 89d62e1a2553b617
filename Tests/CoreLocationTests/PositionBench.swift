// A board whose positions and clock a test moves.

import BoardTestSupport
import FacadeTestSupport
import Lodestone
import SensorTypes
import Synchronization

@testable import CoreLocation

/// A clock that a test moves; alarms go off when it passes them.
final class ManualTime: Sendable {
  private struct State {
    var now = 1_000.0
    var alarms: [(seconds: Double, body: @Sendable () -> Void)] = []
  }

  private let state = Mutex(State())
  let barrier = Barrier()

  var clocks: RuntimeClocks {
    RuntimeClocks(
      now: { Timestamp(seconds: self.state.withLock { $0.now }) },
      wallTime: { 1_700_000_000 + self.state.withLock { $0.now } },
      alarm: { seconds, body in
        self.state.withLock { $0.alarms.append((seconds: $0.now + seconds, body: body)) }
      })
  }

  var waiting: Int {
    barrier()
    return state.withLock { $0.alarms.count }
  }

  func advance(to seconds: Double) {
    barrier()
    defer { barrier() }
    let due = state.withLock { state in
      state.now = seconds
      let due = state.alarms.filter { $0.seconds <= seconds }
      state.alarms.removeAll { $0.seconds <= seconds }
      return due
    }
    for alarm in due { alarm.body() }
  }
}

/// A manager with its spy on a board and a clock of its own; belongs to one thread.
final class PositionBench {
  let time = ManualTime()
  let source = ScriptedSource()
  let runtime: LodestoneRuntime
  let manager: CLLocationManager
  let spy: Spy

  init(onEvent: @escaping @Sendable (Spy) -> Void = { _ in }) {
    runtime = LodestoneRuntime(source: source, clocks: time.clocks)
    runtime.follow(time.barrier)
    manager = CLLocationManager(port: runtime)
    spy = Spy(onEvent: onEvent)
    manager.delegate = spy
    turn { spy.log.authorizations.count == 1 }
  }

  func fix(_ latitude: Double, accuracy: Double = 5, at seconds: Double) {
    time.advance(to: seconds)
    source.publish(.location(latitude, 13, accuracy: accuracy, at: seconds))
  }

  /// Waits until a heading has come through that was published after everything else: what has not come by then does
  /// not come.
  func settle() {
    let before = spy.log.headings.count
    manager.headingFilter = kCLHeadingFilterNone
    manager.startUpdatingHeading()
    source.publish(.heading(degrees: 1, at: 1))
    turn { spy.log.headings.count > before }
    manager.stopUpdatingHeading()
  }

  var calls: [String] { spy.log.calls.filter { $0 != "authorization" && $0 != "heading" } }
  var latitudes: [[Double]] { spy.log.locations.map { $0.map(\.coordinate.latitude) } }
}
