// What a runtime hears beacons with.

import FoundationEssentials
import LinuxBluetooth
import LinuxIO
import LocationServices
package import SensorBus
import Synchronization

/// The source of advertisements of a runtime: opened at the first need, asleep while nobody wants it.
package final class BeaconRadio: Sendable {
  package typealias Factory = @Sendable () throws -> any AdvertisementSource

  private struct State: Sendable {
    var open: Factory?
    var source: (any AdvertisementSource)?
    var isOn = false
  }

  private let state: Mutex<State>

  /// Makes a radio that is off.
  ///
  /// - Parameter open: Opens the source; without it there is none.
  package init(open: Factory? = nil) { state = Mutex(State(open: open)) }

  /// The machine's own: the recording that `LODESTONE_BEACONS` names, or else what bluetoothd hears.
  package static func system() throws -> any AdvertisementSource {
    guard let path = ProcessInfo.processInfo.environment["LODESTONE_BEACONS"], !path.isEmpty else {
      return BlueZAdvertisements { name, make throws(BusError) in try BusThread(name: name, make) }
    }
    return try RecordedAdvertisements(path: path, clocks: .system)
  }

  /// Puts another source in the place of the present one, which is stopped.
  func replace(_ source: any AdvertisementSource) {
    state.withLock { state in
      state.source?.stop()
      (state.source, state.isOn) = (source, false)
    }
  }

  /// Starts or stops it as is wanted; `sleeps` is called when it was stopped. `isWanted` is asked under the lock, so that
  /// of two that come at once the newer counts.
  func apply(
    isWanted: () -> Bool, sleeps: () -> Void,
    _ handler: @escaping @Sendable (AdvertisementNews) -> Void
  ) {
    state.withLock { state in
      let wanted = isWanted()
      guard wanted != state.isOn else { return }
      state.isOn = wanted
      guard wanted else {
        state.source?.stop()
        return sleeps()
      }
      do throws(AdvertisementFailure) {
        try Self.opened(&state).start(handler)
      } catch { handler(.failed(error, RuntimeClocks.system.now())) }
    }
  }

  func stop() {
    state.withLock { state in
      state.source?.stop()
      state.isOn = false
    }
  }

  /// Why nothing could be heard now; `nil` where all is there.
  var problem: AdvertisementFailure? {
    // Asked outside of the lock: it may take seconds.
    do throws(AdvertisementFailure) {
      return try state.withLock { state throws(AdvertisementFailure) in
        try Self.opened(&state)
      }.problem()
    } catch { return error }
  }

  var counters: AdvertisementCounters {
    state.withLock { $0.source }?.counters ?? AdvertisementCounters()
  }

  private static func opened(
    _ state: inout State
  ) throws(AdvertisementFailure) -> any AdvertisementSource {
    if let source = state.source { return source }
    guard let open = state.open else {
      throw .notEquipped("nothing that hears beacons belongs to this runtime")
    }
    do {
      let source = try open()
      state.source = source
      return source
    } catch { throw .notEquipped("\(error)") }
  }
}
