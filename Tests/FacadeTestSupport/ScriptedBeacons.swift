// Beacons that a test lets be heard, and a clock that it moves.

package import BoardTestSupport
import Dispatch
package import Lodestone
package import SensorBus
package import SensorTypes
import Synchronization

/// A clock that stands until it is moved; what is due by then happens on the thread that moves it.
package final class AlarmClock: Sendable {
  private struct Alarm: Sendable {
    let due: Timestamp
    let body: @Sendable () -> Void
  }

  private struct State: Sendable {
    var now = Timestamp(seconds: 0)
    var alarms: [Alarm] = []
  }

  private let state = Mutex(State())
  package let barrier = Barrier()

  /// Makes a clock at 0 s.
  package init() {}

  /// What a runtime takes; its wall says that it is 1970.
  package var clocks: RuntimeClocks {
    RuntimeClocks(now: { self.now }, wallTime: { self.now.seconds }) { seconds, body in
      self.state.withLock { state in
        state.alarms.append(Alarm(due: state.now.advanced(bySeconds: seconds), body: body))
      }
    }
  }

  /// What time it is.
  package var now: Timestamp { state.withLock { $0.now } }

  /// Moves it on, alarm by alarm.
  package func move(to seconds: Double) {
    barrier()
    defer { barrier() }
    let end = Timestamp(seconds: seconds)
    while let body = state.withLock({ state -> (@Sendable () -> Void)? in
      guard
        let next = state.alarms.indices.min(by: { state.alarms[$0].due < state.alarms[$1].due }),
        state.alarms[next].due <= end
      else { return nil }
      let alarm = state.alarms.remove(at: next)
      state.now = max(state.now, alarm.due)
      return alarm.body
    }) { body() }
    state.withLock { $0.now = max($0.now, end) }
  }
}

/// A radio that hears what a test lets it hear, on the caller's thread.
package final class ScriptedBeacons: AdvertisementSource {
  private struct State: Sendable {
    var handler: (@Sendable (AdvertisementNews) -> Void)?
    var starts = 0
    var problem: AdvertisementFailure?
  }

  private let state = Mutex(State())
  private let wasStarted = DispatchSemaphore(value: 0)
  let barrier = Barrier()

  package init(problem: AdvertisementFailure? = nil) { state.withLock { $0.problem = problem } }

  /// How often it was started, and whether it still is.
  package var starts: Int {
    barrier()
    return state.withLock { $0.starts }
  }
  package var isOn: Bool {
    barrier()
    return state.withLock { $0.handler != nil }
  }

  package func start(_ handler: @escaping @Sendable (AdvertisementNews) -> Void) {
    state.withLock { state in
      state.handler = handler
      state.starts += 1
    }
    wasStarted.signal()
  }

  /// Waits until it is on; returns whether it is. The tests of a long run hold the threads that tasks need for minutes.
  package func waitsUntilOn() -> Bool {
    while !isOn {
      guard wasStarted.wait(timeout: .now() + 600) == .success else { return false }
    }
    return true
  }

  package func stop() { state.withLock { $0.handler = nil } }
  package func problem() -> AdvertisementFailure? { state.withLock { $0.problem } }
  package var counters: AdvertisementCounters { AdvertisementCounters() }

  package func say(_ news: AdvertisementNews) {
    barrier()
    state.withLock { $0.handler }?(news)
    barrier()
  }

  /// An iBeacon of the identifier 92AB49BE-4127-42F4-B532-90FAF1E26491, measured power -59 dBm.
  package func hear(major: UInt16, minor: UInt16, strength: Int, at seconds: Double) {
    var data: [UInt8] = [
      0x02, 0x15, 0x92, 0xAB, 0x49, 0xBE, 0x41, 0x27, 0x42, 0xF4, 0xB5, 0x32, 0x90, 0xFA, 0xF1,
      0xE2, 0x64, 0x91,
    ]
    for number in [major, minor] { data += [UInt8(number >> 8), UInt8(number & 0xFF)] }
    data.append(0xC5)
    say(
      .heard(
        Advertisement(
          company: 0x004C, data: data, strength: strength, time: Timestamp(seconds: seconds))))
  }
}
