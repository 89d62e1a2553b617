import Dispatch
import Glibc

/// Turns Ctrl-C and a service manager's stop into a call, so that the terminal and the files are left
/// clean.
final class Interrupts {
  private let sources: [any DispatchSourceSignal]

  /// Calls `handler` on every SIGINT, SIGTERM and SIGHUP, with its number, until this object goes.
  init(_ handler: @escaping @Sendable (Int32) -> Void) {
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { handler(number) }
      source.activate()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
  }
}
