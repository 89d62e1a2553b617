// Signals that end a command: taken while somebody listens, left to the system else.

import ArgumentParser
import Dispatch
import Glibc

/// Turns Ctrl-C and a service manager's stop into a call, so that the terminal and the files are left
/// clean.
final class Interrupts {
  private let sources: [any DispatchSourceSignal]
  // What the signals did before.
  private let former: [(number: Int32, handler: (@convention(c) (Int32) -> Void)?)]

  /// Calls `handler` on every SIGINT, SIGTERM and SIGHUP, with its number, until this object goes; then
  /// they do again what they did before.
  init(_ handler: @escaping @Sendable (Int32) -> Void) {
    let numbers = [SIGINT, SIGTERM, SIGHUP]
    former = numbers.map { ($0, signal($0, SIG_IGN)) }
    sources = numbers.map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { handler(number) }
      source.activate()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for (number, handler) in former { signal(number, handler) }
  }

  /// Says that a command was ended from outside. What to throw then: exit code 130.
  static func end() -> ExitCode {
    Terminal.warn("lodestone: interrupted; what was stored stays")
    return ExitCode(130)
  }
}
