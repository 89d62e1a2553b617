// Signals that end a command: taken while somebody listens, left to the system else.

import ArgumentParser
import Dispatch
import Glibc
import Synchronization

/// Turns Ctrl-C and a service manager's stop into a call, so that the terminal and the files are left
/// clean. One at a time. A signal that was already ignored when the program started, as `nohup` arranges, stays ignored.
final class Interrupts {
  // The newest signal that nobody has heard of yet; 0 for none. All that a signal handler touches.
  private static let arrived = Atomic<Int32>(0)

  // Dispatch's own signal sources leave a signal blocked once it came, and miss it when they are made anew.
  private let timer: any DispatchSourceTimer
  private let handler: @Sendable (Int32) -> Void
  // What the signals did before.
  private let former: [(number: Int32, handler: (@convention(c) (Int32) -> Void)?)]

  /// Calls `handler` on SIGINT, SIGTERM and SIGHUP, with the number, until this object goes; then they do
  /// again what they did before.
  init(_ handler: @escaping @Sendable (Int32) -> Void) {
    // Made before a signal can come: a handler must not be the first to touch it.
    Self.arrived.store(0, ordering: .releasing)
    former = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }.map { number in
      (number, signal(number) { Interrupts.arrived.store($0, ordering: .releasing) })
    }
    self.handler = handler
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now(), repeating: .milliseconds(50))
    timer.setEventHandler { Self.deliver(to: handler) }
    timer.activate()
  }

  /// Calls the handler now if a signal has arrived. Ctrl-C ends the other commands of a pipe as well: the end of input
  /// often comes with the signal.
  func deliver() { Self.deliver(to: handler) }

  private static func deliver(to handler: @Sendable (Int32) -> Void) {
    let number = arrived.exchange(0, ordering: .acquiringAndReleasing)
    if number != 0 { handler(number) }
  }

  deinit {
    timer.cancel()
    for (number, handler) in former { signal(number, handler) }
    // One that came too late for the handler is not lost.
    let number = Self.arrived.exchange(0, ordering: .acquiringAndReleasing)
    if number != 0 { raise(number) }
  }

  /// Whether a signal is ignored.
  static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    // A handler is no function here but a number that stands for one.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Says that a command was ended from outside. What to throw then: the exit code that a shell has for a program that the
  /// signal has ended, 130 for SIGINT and 143 for SIGTERM.
  static func end(by signal: Int32) -> ExitCode {
    Terminal.warn("lodestone: interrupted; what was stored stays")
    return ExitCode(128 + signal)
  }
}
