// Signals that end a command: handled while it listens, kept while a `Hold` exists, else left to the system.

import Dispatch
import Glibc
import Synchronization

/// Turns Ctrl-C and a service manager's stop into a call, so that the terminal and the files are left
/// clean. One at a time. A signal that was already ignored when the program started, as `nohup` arranges, stays ignored.
package final class Interrupts {
  /// What a signal did before.
  private typealias Former = (number: Int32, handler: (@convention(c) (Int32) -> Void)?)

  // The newest signal that nobody has heard of yet; 0 for none. A signal handler touches this and the sockets alone.
  private static let arrived = Atomic<Int32>(0)
  /// A pair of sockets that a signal handler writes a byte into. It stays open until the process ends.
  private static let pipe: (readable: Int32, writable: Int32) = {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    _ = socketpair(AF_UNIX, kind, 0, &ends)
    return (ends[0], ends[1])
  }()
  /// The time between two looks for signals if there are no sockets, in milliseconds.
  private static let round = 50

  // Dispatch's own signal sources leave a signal blocked once it came, and miss it when they are made again.
  private let source: any DispatchSourceProtocol
  private let queue = DispatchQueue(label: "lodestone.signals")
  private let handler: @Sendable (Int32) -> Void
  private let former: [Former]

  /// Calls `handler` on SIGINT, SIGTERM and SIGHUP, with the number, until this object goes; then they do
  /// again what they did before.
  package init(_ handler: @escaping @Sendable (Int32) -> Void) {
    former = Self.take([SIGINT, SIGTERM, SIGHUP])
    self.handler = handler
    if Self.pipe.readable >= 0 {
      source = DispatchSource.makeReadSource(fileDescriptor: Self.pipe.readable, queue: queue)
    } else {
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(deadline: .now(), repeating: .milliseconds(Self.round))
      source = timer
    }
    source.setEventHandler { Self.deliver(to: handler) }
    source.activate()
    // Another one may have read the byte of a signal that came before.
    deliver()
  }

  /// Calls the handler now if a signal has arrived. Ctrl-C ends the other commands of a pipe as well: the end of input
  /// often comes with the signal.
  package func deliver() { Self.deliver(to: handler) }

  private static func deliver(to handler: @Sendable (Int32) -> Void) {
    var bytes: (UInt64, UInt64) = (0, 0)
    while read(pipe.readable, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    let number = arrived.exchange(0, ordering: .acquiringAndReleasing)
    if number != 0 { handler(number) }
  }

  deinit {
    source.cancel()
    // The owner looks afterwards at what the handler has heard, so that a call under way has to end first.
    queue.sync {}
    Self.give(back: former)
    // One that came too late for the handler is not lost.
    let number = Self.arrived.exchange(0, ordering: .acquiringAndReleasing)
    if number != 0 { raise(number) }
  }

  private static func take(_ numbers: [Int32]) -> [Former] {
    // Touched before a signal can come: a handler must not be the first to do so.
    _ = (arrived.load(ordering: .acquiring), pipe)
    return numbers.filter { !isIgnored($0) }.map { number in
      (number, signal(number) { Interrupts.note($0) })
    }
  }

  /// Notes a signal; all that a signal handler does.
  static func note(_ number: Int32) {
    if number == SIGHUP {
      // A service manager may send SIGHUP right behind SIGTERM, which must not take the other's place.
      _ = arrived.compareExchange(expected: 0, desired: number, ordering: .acquiringAndReleasing)
    } else {
      arrived.store(number, ordering: .releasing)
    }
    var byte: UInt8 = 0
    let before = errno
    // A buffer that is full has woken the reader already.
    _ = write(pipe.writable, &byte, 1)
    errno = before
  }

  private static func give(back former: [Former]) {
    for (number, handler) in former { signal(number, handler) }
  }

  /// Keeps signals that arrive while no `Interrupts` exists for the next one. They would end the program. It must outlive
  /// every `Interrupts` that is made while it exists, and what it still keeps at its end is dropped: the command is over.
  package final class Hold {
    private var former: [Former] = []

    package init() {}

    deinit {
      Interrupts.give(back: former)
      Interrupts.arrived.store(0, ordering: .releasing)
    }

    /// Whether a signal is kept that ends a command whatever it does.
    package var isStopping: Bool {
      let number = Interrupts.arrived.load(ordering: .acquiring)
      return number != 0 && number != SIGHUP
    }

    /// Keeps these signals from now on, except those that are ignored.
    package func keep(_ numbers: [Int32]) {
      let new = numbers.filter { number in !former.contains { $0.number == number } }
      former += Interrupts.take(new)
    }
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
  package static func end(by signal: Int32) -> CommandExit {
    Terminal.warn("lodestone: interrupted; what was stored stays")
    return CommandExit(128 + signal)
  }
}

/// Remembers the signal that ends something long; looked at between two waits.
package final class StopFlag: Sendable {
  private let number = Atomic<Int32>(0)

  package init() {}

  /// Notes a signal; the first one counts.
  package func set(_ signal: Int32) {
    _ = number.compareExchange(expected: 0, desired: signal, ordering: .relaxed)
  }

  /// The number of the signal; `nil` where none has come.
  package var signal: Int32? {
    let signal = number.load(ordering: .relaxed)
    return signal == 0 ? nil : signal
  }
}

/// A wait that a signal has ended.
package struct SignalInterruption: Error, Hashable, Sendable {
  package let signal: Int32
}
