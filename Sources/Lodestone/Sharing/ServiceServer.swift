// The daemon's socket: who may connect, what is read, what is written, and for how long nobody is waited for.

import Foundation
package import LinuxIO
import SensorTypes
import ServiceProtocol
import Synchronization

/// Limits of all connections together.
package struct ServerLimits: Hashable, Sendable {
  /// The number of connections.
  package var connections = 1_024
  /// The number of connections of one user.
  package var connectionsOfUser = 256
  /// The number of bytes that may wait for all programs together. Beyond it the program is closed for which most waits.
  package var waiting = 16_777_216
  /// The number of seconds for which a program may take nothing of what waits for it.
  package var patience = 20.0

  package init() {}
}

/// Counters of a server, for its status.
package struct ServerCounters: Hashable, Codable, Sendable {
  /// Connections that were accepted.
  package var accepted: UInt64 = 0
  /// Connections that were refused because there were too many, or because nobody could say who it was.
  package var refused: UInt64 = 0
  /// Connections that were closed because the program took nothing, or because too much waited.
  package var slow: UInt64 = 0
  /// Failures to accept, after each of which the server pauses.
  package var failures: UInt64 = 0
}

/// Serves programs over a local socket, on a thread of its own.
package final class ServiceServer: Sendable {
  /// Makes the host of a program that has connected.
  ///
  /// - Parameters:
  ///   - identity: Who it is.
  ///   - now: The monotonic clock in seconds.
  ///   - wake: To be called by the host.
  package typealias HostFactory =
    @Sendable (_ identity: ProgramIdentity, _ now: Double, _ wake: @escaping @Sendable () -> Void)
    -> ProgramHost

  private struct Shared: Sendable {
    var isStopping = false
    var news: Set<UInt64> = []
    var counters = ServerCounters()
    var count = 0
  }

  private let poller: Poller
  private let shared = Mutex(Shared())
  private let ended = DispatchSemaphore(value: 0)

  /// The counters so far.
  package var counters: ServerCounters { shared.withLock { $0.counters } }
  /// The number of connections.
  package var connectionCount: Int { shared.withLock { $0.count } }

  /// Begins to serve.
  ///
  /// - Throws: An error if the process or the machine has no file descriptor left.
  package init(
    _ listener: LocalListener, limits: ServerLimits = ServerLimits(),
    clocks: RuntimeClocks = .system, admit: @escaping HostFactory
  ) throws {
    poller = try Poller()
    try poller.add(listener.descriptor, token: 0, .readable)
    // The loop is made on its thread, and used by no other.
    nonisolated(unsafe) let listener = listener
    let thread = Thread { [self] in
      ServiceLoop(self, poller, listener, limits, clocks, admit).run()
      ended.signal()
    }
    thread.name = "services"
    thread.start()
  }

  /// Tells every program that the daemon ends, and waits until the thread has ended, a second at most.
  package func stop() {
    shared.withLock { $0.isStopping = true }
    poller.wake()
    _ = ended.wait(timeout: .now() + 1)
  }

  fileprivate func note(_ token: UInt64) {
    let isFirst = shared.withLock { shared in
      let isFirst = shared.news.isEmpty
      shared.news.insert(token)
      return isFirst
    }
    if isFirst { poller.wake() }
  }

  fileprivate func takeNews() -> (tokens: Set<UInt64>, isStopping: Bool) {
    shared.withLock { shared in
      defer { shared.news = [] }
      return (shared.news, shared.isStopping)
    }
  }

  fileprivate func count(_ change: (inout ServerCounters) -> Void) {
    shared.withLock { change(&$0.counters) }
  }

  fileprivate func setCount(_ count: Int) { shared.withLock { $0.count = count } }
}

/// The work of a server's thread.
private final class ServiceLoop {
  private struct Seat {
    let connection: LocalConnection
    let host: ProgramHost
    let user: UInt32
    var unsent: [UInt8] = []
    var sent = 0
    var interest: Poller.Interest = .readable
    /// The time since which nothing was taken of what waits.
    var stuckSince: Double?
    var isGone = false

    var waitingCount: Int { unsent.count - sent + host.waitingCount }
  }

  private static let readAtOnce = 16_384
  private static let writtenAtOnce = 65_536
  private static let acceptedAtOnce = 16
  /// The time between two looks at what is late, in seconds.
  private static let looks = 0.1
  /// The pause after accepting has failed, in seconds.
  private static let pause = 0.1
  /// The time for last messages when the server stops, in seconds.
  private static let lastMessages = 0.3

  private unowned let server: ServiceServer
  private let poller: Poller
  private let listener: LocalListener
  private let limits: ServerLimits
  private let clocks: RuntimeClocks
  private let admit: ServiceServer.HostFactory
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: ServiceLoop.readAtOnce, alignment: 16)
  private var seats: [UInt64: Seat] = [:]
  private var lastToken: UInt64 = 0
  private var pausedUntil: Double?
  private var stoppingSince: Double?
  private var nextLook = 0.0

  init(
    _ server: ServiceServer, _ poller: Poller, _ listener: LocalListener, _ limits: ServerLimits,
    _ clocks: RuntimeClocks, _ admit: @escaping ServiceServer.HostFactory
  ) {
    (self.server, self.poller, self.listener, self.clocks) = (server, poller, listener, clocks)
    (self.limits, self.admit) = (limits, admit)
  }

  deinit { buffer.deallocate() }

  private var now: Double { clocks.now().seconds(since: Timestamp(nanoseconds: 0)) }

  func run() {
    while true {
      let (news, isStopping) = server.takeNews()
      let now = now
      if isStopping, stoppingSince == nil { begin(stoppingAt: now) }
      if let since = stoppingSince, seats.isEmpty || now >= since + Self.lastMessages { break }
      for token in news { serve(token, at: now) }
      for ready in poller.wait(until: deadline(now)) {
        if ready.token == 0 {
          accept(at: now)
        } else {
          if ready.isReadable || ready.isHungUp { read(ready.token, at: now) }
          serve(ready.token, at: now)
        }
      }
      expire(at: now)
    }
    for token in Array(seats.keys) { remove(token) }
  }

  private func begin(stoppingAt now: Double) {
    stoppingSince = now
    poller.remove(listener.descriptor)
    for (token, seat) in seats {
      seat.host.close(.ending)
      serve(token, at: now)
    }
  }

  /// The time until which nothing need be done without news. Times of the protocol are kept to within a second.
  private func deadline(_ now: Double) -> Timestamp {
    let time = pausedUntil ?? now + (stoppingSince == nil ? 1 : 0.05)
    return Timestamp(seconds: time)
  }

  // MARK: Connections

  private func accept(at now: Double) {
    for _ in 0..<Self.acceptedAtOnce {
      do {
        guard let connection = try listener.accept() else { return }
        take(connection, at: now)
      } catch {
        server.count { $0.failures += 1 }
        poller.set(listener.descriptor, token: 0, [])
        pausedUntil = now + Self.pause
        return
      }
    }
  }

  private func take(_ connection: LocalConnection, at now: Double) {
    guard let identity = ProgramIdentity.of(connection) else {
      return refuse(connection, .failed("the kernel does not say who connects"), at: now)
    }
    let user = identity.client.user
    guard seats.count < limits.connections,
      seats.values.count(where: { $0.user == user }) < limits.connectionsOfUser
    else { return refuse(connection, .crowded, at: now) }
    lastToken += 1
    let token = lastToken
    let host = admit(identity, now) { [weak server] in server?.note(token) }
    do {
      try poller.add(connection.descriptor, token: token, .readable)
    } catch {
      host.end()
      server.count { $0.failures += 1 }
      return
    }
    seats[token] = Seat(connection: connection, host: host, user: user)
    server.count { $0.accepted += 1 }
    server.setCount(seats.count)
  }

  private func refuse(_ connection: LocalConnection, _ reason: Farewell, at now: Double) {
    server.count { $0.refused += 1 }
    var end = DaemonEnd(
      hello: DaemonHello(version: 0, software: "", run: 0, board: "", clock: 0), at: now)
    end.close(reason)
    if let frame = end.next() { _ = frame.withUnsafeBytes { connection.write($0) } }
  }

  private func remove(_ token: UInt64) {
    guard let seat = seats.removeValue(forKey: token) else { return }
    poller.remove(seat.connection.descriptor)
    seat.host.end()
    server.setCount(seats.count)
  }

  // MARK: Bytes

  private func read(_ token: UInt64, at now: Double) {
    guard let seat = seats[token], seat.host.isReading else { return }
    switch seat.connection.read(into: buffer) {
    case .bytes(let count):
      seat.host.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now)
    case .nothing: break
    case .end: seats[token]?.isGone = true
    }
  }

  /// Writes what waits, and says what is waited for next.
  private func serve(_ token: UInt64, at now: Double) {
    guard var seat = seats[token] else { return }
    seats[token] = nil
    let isDone = !seat.isGone && write(&seat, at: now)
    seats[token] = seat
    if seat.isGone || isDone && seat.host.isClosed { return remove(token) }
    var interest: Poller.Interest = []
    if seat.host.isReading { interest.insert(.readable) }
    if !isDone { interest.insert(.writable) }
    if interest != seat.interest {
      seats[token]?.interest = interest
      poller.set(seat.connection.descriptor, token: token, interest)
    }
  }

  /// Returns whether everything was written.
  private func write(_ seat: inout Seat, at now: Double) -> Bool {
    while true {
      if seat.sent == seat.unsent.count {
        seat.unsent.removeAll(keepingCapacity: true)
        seat.sent = 0
        while seat.unsent.count < Self.writtenAtOnce, let frame = seat.host.next() {
          seat.unsent += frame
        }
        if seat.unsent.isEmpty {
          seat.stuckSince = nil
          return true
        }
      }
      let count = seat.unsent.withUnsafeBytes { bytes in
        seat.connection.write(UnsafeRawBufferPointer(rebasing: bytes[seat.sent...]))
      }
      guard let count else {
        seat.isGone = true
        return false
      }
      guard count > 0 else {
        seat.stuckSince = seat.stuckSince ?? now
        return false
      }
      seat.stuckSince = nil
      seat.sent += count
    }
  }

  private func expire(at now: Double) {
    guard now >= nextLook else { return }
    nextLook = now + Self.looks
    if let time = pausedUntil, now >= time {
      pausedUntil = nil
      poller.set(listener.descriptor, token: 0, .readable)
    }
    for (token, seat) in seats {
      if let since = seat.stuckSince, now >= since + limits.patience {
        server.count { $0.slow += 1 }
        remove(token)
      } else if let deadline = seat.host.deadline, now >= deadline {
        seat.host.advance(to: now)
        if seat.host.isClosed, let last = seat.host.deadline, now >= last {
          remove(token)
        } else {
          serve(token, at: now)
        }
      }
    }
    limitWaiting()
  }

  private func limitWaiting() {
    let waiting = seats.mapValues(\.waitingCount)
    var sum = waiting.values.reduce(0, +)
    guard sum > limits.waiting else { return }
    for (token, count) in waiting.sorted(by: { $0.value > $1.value }) where sum > limits.waiting {
      server.count { $0.slow += 1 }
      remove(token)
      sum -= count
    }
  }
}
