import Dispatch
import Glibc
package import SensorBus
import Synchronization

/// The advertisements that the system's Bluetooth service hears: BlueZ, over D-Bus.
///
/// While it is started it keeps a discovery of BlueZ going, which only listens to Low Energy and reports every
/// advertisement; stopped it holds no connection. What fails is tried again after pauses that grow up to two seconds.
package final class BlueZAdvertisements: AdvertisementSource {
  /// Starts a thread of this name that makes its work and steps it.
  package typealias ThreadStarter =
    @Sendable (String, @escaping @Sendable () -> any BusWork) throws(BusError) -> any BusRun

  private struct Run: Sendable {
    let thread: any BusRun
    let gate: Gate
  }

  /// Closed by `stop`, so that nothing is told after it.
  final class Gate: Sendable {
    let isOpen = Atomic<Bool>(true)
  }

  private let address: String
  private let startThread: ThreadStarter
  private let run = Mutex<Run?>(nil)
  private let counts = BlueZCounters()

  /// - Parameters:
  ///   - address: The address of the bus, as D-Bus writes it; the system's bus where there is none.
  ///   - startThread: Starts the thread that listens.
  package init(address: String? = nil, startThread: @escaping ThreadStarter) {
    self.startThread = startThread
    let variable = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
    self.address = address ?? variable ?? "unix:path=/run/dbus/system_bus_socket"
  }

  deinit { stop() }

  /// Starts a thread that connects and listens, and returns at once.
  package func start(_ handler: @escaping @Sendable (AdvertisementNews) -> Void) {
    let gate = Gate()
    let (address, counters) = (address, counts)
    do {
      let thread = try startThread("bluetooth") {
        BlueZScan(address: address, counters: counters) { news in
          if gate.isOpen.load(ordering: .acquiring) { handler(news) }
        }
      }
      run.withLock { $0 = Run(thread: thread, gate: gate) }
    } catch {
      handler(.failed(.failed("no thread for Bluetooth: \(error)"), BlueZScan.now))
    }
  }

  /// Ends the discovery and the connection, and returns at once.
  package func stop() {
    let former = run.withLock { run in
      defer { run = nil }
      return run
    }
    former?.gate.isOpen.store(false, ordering: .releasing)
    guard let former else { return }
    // A discovery that is being started is waited for by nobody.
    DispatchQueue.global().async { former.thread.stop() }
  }

  /// What was counted since it was made.
  package var counters: AdvertisementCounters { counts.values }

  /// Asks bluetoothd, on a connection of its own; every step of it ends after two seconds.
  package func problem() -> AdvertisementFailure? {
    do throws(AdvertisementFailure) {
      let bus = try BlueZBus(address: address)
      _ = try bus.poweredAdapter()
      return nil
    } catch { return error }
  }
}

/// What the scans of a source have counted, on their threads.
final class BlueZCounters: Sendable {
  let attempts = Atomic<UInt64>(0)
  let failures = Atomic<UInt64>(0)
  let heard = Atomic<UInt64>(0)
  let malformed = Atomic<UInt64>(0)
  let forgotten = Atomic<UInt64>(0)

  var values: AdvertisementCounters {
    var values = AdvertisementCounters()
    values.attempts = attempts.load(ordering: .relaxed)
    values.failures = failures.load(ordering: .relaxed)
    values.heard = heard.load(ordering: .relaxed)
    values.malformed = malformed.load(ordering: .relaxed)
    values.forgotten = forgotten.load(ordering: .relaxed)
    return values
  }
}
