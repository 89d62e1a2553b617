// The work of the daemon's server: connections, what is read and what is written.

import LinuxIO
import LocationServices
import Lodestone
import SensorTypes
import ServiceProtocol
import Synchronization

/// The work of a server's thread. Another thread may write as well while that one waits.
final class ServiceLoop {
  private struct Seat {
    let connection: LocalConnection
    let host: any ServedConnection
    let user: UInt32
    /// The place of the entrance at which it has arrived.
    let entrance: Int
    /// Who it is at a port, where the kernel names no program.
    let peer: NetworkPeer?
    var unsent: [UInt8] = []
    var sent = 0
    var interest: Poller.Interest = .readable
    /// Nothing more can be written, but what was sent before is still read.
    var isUnwritable = false
    /// The time since which nothing was taken of what waits.
    var stuckSince: Double?
    var isGone = false
    /// The other end says nothing more, and still reads.
    var hasEnded = false

    var waitingCount: Int { unsent.count - sent + host.waitingCount }
  }

  private static let (readAtOnce, writtenAtOnce, acceptedAtOnce) = (16_384, 65_536, 16)
  /// The number of bytes that the kernel holds for a reader of the stream: some seconds of lines.
  private static let sendBuffer = 32_768
  /// What all users count as whom the kernel does not name: no user has this number.
  private static let strangers = UInt32.max
  /// The number of connections that only root gets.
  private static let reserve = 16
  /// The number of bytes below which a buffer is kept for what comes next.
  private static let keptCapacity = 4_096
  /// Seconds between two looks at what is late, after accepting has failed, and for last messages when the server stops.
  private static let (looks, pause, lastMessages) = (0.5, 0.1, 0.3)

  /// Held by the thread that uses what is below.
  private let turn = Mutex(())
  private unowned let server: ServiceServer
  private let poller: Poller
  private var entrances: [Entrance]
  private let limits: ServerLimits
  private let clocks: RuntimeClocks
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: ServiceLoop.readAtOnce, alignment: 16)
  private var seats: [UInt64: Seat] = [:]
  /// The tokens of connections come after those of the entrances.
  private var lastToken: UInt64
  private var pausedUntil: Double?
  private let reservedTokens: UInt64
  private var stoppingSince: Double?
  private var nextLook = 0.0

  init(
    _ server: ServiceServer, _ poller: Poller, _ entrances: [Entrance], _ limits: ServerLimits,
    _ clocks: RuntimeClocks
  ) {
    (self.server, self.poller, self.entrances) = (server, poller, entrances)
    (self.limits, self.clocks) = (limits, clocks)
    reservedTokens = UInt64(entrances.count)
    lastToken = reservedTokens
  }

  deinit { buffer.deallocate() }

  private var now: Double { clocks.now().seconds(since: Timestamp(nanoseconds: 0)) }

  func run() {
    while let deadline = turn.withLock({ _ in serveNews() }) {
      let found = poller.wait(until: deadline)
      turn.withLock { _ in react(to: found, at: now) }
    }
    turn.withLock { _ in
      for token in Array(seats.keys) { remove(token) }
      entrances = []
    }
  }

  /// Serves the connections that have news. Returns the time until which nothing need be done without others, or `nil` at the end.
  private func serveNews() -> Timestamp? {
    let (news, isStopping) = server.takeNews()
    let now = now
    if isStopping, stoppingSince == nil { begin(stoppingAt: now) }
    if let since = stoppingSince, seats.isEmpty || now >= since + Self.lastMessages { return nil }
    for token in news { serve(token, at: now) }
    return deadline(now)
  }

  /// Writes news to connections of programs, on a thread that is not the server's.
  ///
  /// - Returns: The connections that the server's thread has to serve: for which more waits than there is room for, or which are to end; all
  ///   of them if the thread is at work.
  func write(_ tokens: Set<UInt64>) -> Set<UInt64> {
    let left = turn.withLockIfAvailable { _ in
      let now = now
      return tokens.filter { token in
        // Lines of JSON are made when they are written, and take longer than who has the news may wait.
        guard var seat = seats[token], seat.interest == .readable, seat.unsent.isEmpty,
          !seat.host.isOneWay
        else { return true }
        seats[token] = nil
        let isDone = write(&seat, at: now)
        seats[token] = seat
        return !isDone || seat.isUnwritable || seat.host.isClosed || !seat.host.isReading
      }
    }
    return left ?? tokens
  }

  private func react(to found: [Poller.Ready], at now: Double) {
    for ready in found {
      if ready.token < reservedTokens {
        accept(Int(ready.token), at: now)
      } else {
        if ready.isReadable || ready.isHungUp {
          read(ready.token, isHungUp: ready.isHungUp, at: now)
        }
        serve(ready.token, at: now)
      }
    }
    resume(at: now)
    expire(at: now)
  }

  private func begin(stoppingAt now: Double) {
    stoppingSince = now
    for entrance in entrances where entrance.isOpen { poller.remove(entrance.listener.descriptor) }
    entrances = []
    for (token, seat) in seats {
      seat.host.close(.ending, at: now)
      serve(token, at: now)
    }
  }

  /// The time until which nothing need be done without news. Times of the protocol are kept to within a second.
  private func deadline(_ now: Double) -> Timestamp {
    let time = pausedUntil ?? now + (stoppingSince == nil ? 1 : 0.05)
    return Timestamp(seconds: time)
  }

  // MARK: Connections

  private func accept(_ index: Int, at now: Double) {
    guard entrances.indices.contains(index) else { return }
    let entrance = entrances[index]
    for _ in 0..<Self.acceptedAtOnce {
      do {
        guard let connection = try entrance.listener.accept() else { return }
        take(connection, entrance, index, at: now)
      } catch {
        server.count { $0.failures += 1 }
        listen([])
        pausedUntil = now + Self.pause
        return
      }
    }
  }

  private func take(
    _ connection: LocalConnection, _ entrance: Entrance, _ index: Int, at now: Double
  ) {
    // How many there are is asked first: who it is takes longer.
    // Who runs the machine can always ask what is going on.
    let isStranger = entrance.stranger != nil
    guard let user = isStranger ? Self.strangers : connection.peer?.user,
      isStranger
        || seats.count < limits.connections + (user == 0 ? Self.reserve : 0)
          && seats.values.count(where: { $0.user == user }) < limits.connectionsOfUser
    else {
      entrance.port?.report.refuse("the daemon has all its connections", at: now)
      return refuse(connection, entrance.refusal(.crowded))
    }
    let peer = isStranger ? connection.networkPeer : nil
    guard !isStranger || makeRoom(for: peer, at: entrance, index, at: now) else {
      return refuse(connection, entrance.refusal(.crowded))
    }
    guard let identity = entrance.stranger ?? ProgramIdentity.of(connection) else {
      return refuse(
        connection, entrance.refusal(.failed("the kernel does not say who connects")))
    }
    lastToken += 1
    let token = lastToken
    let host = entrance.admit(identity, now) { [weak server] in server?.note(token) }
    if host.hasSmallBuffer { connection.limitSendBuffer(to: Self.sendBuffer) }
    do {
      try poller.add(connection.descriptor, token: token, .readable)
    } catch {
      host.end()
      server.count { $0.failures += 1 }
      return
    }
    seats[token] = Seat(connection: connection, host: host, user: user, entrance: index, peer: peer)
    server.count { $0.accepted += 1 }
    // What is said first waits for nothing.
    serve(token, at: now)
  }

  /// Returns whether a new client gets a place at a port. If all places of the port, or of all ports, are taken, the peer with the most
  /// of them loses one.
  private func makeRoom(
    for peer: NetworkPeer?, at entrance: Entrance, _ index: Int, at now: Double
  ) -> Bool {
    var here = PortPlaces(most: entrance.mostStrangers ?? limits.strangers)
    var all = PortPlaces(most: limits.strangersInAll)
    for (token, seat) in seats where seat.user == Self.strangers {
      let place = PortPlaces.TakenPlace(
        token: token, peer: seat.peer, stuckSince: seat.stuckSince)
      all.taken.append(place)
      if seat.entrance == index { here.taken.append(place) }
    }
    all.most = min(all.most, limits.connections - (seats.count - all.taken.count))
    let places = here.isFull ? here : all
    switch places.decision(for: peer) {
    case .granted: return true
    case .refused(let words):
      entrance.port?.report.refuse(words, at: now)
      return false
    case .instead(let token, let words):
      entrance.port?.report.refuse(words, at: now)
      server.count { $0.refused += 1 }
      remove(token)
      return true
    }
  }

  private func refuse(_ connection: LocalConnection, _ answer: [UInt8]) {
    server.count { $0.refused += 1 }
    _ = answer.withUnsafeBytes { connection.write($0) }
  }

  private func remove(_ token: UInt64) {
    guard let seat = seats.removeValue(forKey: token) else { return }
    poller.remove(seat.connection.descriptor)
    seat.host.end()
  }

  // MARK: Bytes

  private func read(_ token: UInt64, isHungUp: Bool, at now: Double) {
    guard let seat = seats[token], seat.host.isReading || seat.hasEnded else { return }
    switch seat.connection.read(into: buffer) {
    case .bytes(let count):
      seat.host.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now)
    case .nothing: break
    // It comes after all that was sent.
    case .end where seat.host.isOneWay && !isHungUp:
      // A last request may come without the end of its line.
      if !seat.hasEnded { [UInt8(0x0A)].withUnsafeBytes { seat.host.receive($0, at: now) } }
      seats[token]?.hasEnded = true
    case .end: seats[token]?.isGone = true
    }
  }

  /// Writes what waits, and says what is waited for next.
  private func serve(_ token: UInt64, at now: Double) {
    guard var seat = seats[token] else { return }
    seats[token] = nil
    let isDone = !seat.isGone && (seat.isUnwritable || write(&seat, at: now))
    seats[token] = seat
    // Who can be written to no more, and is not read, would never be known to be gone.
    let isDeaf = seat.isUnwritable && (seat.host.isOneWay || !seat.host.isReading)
    if seat.isGone || isDone && (seat.host.isClosed || isDeaf) { return remove(token) }
    var interest: Poller.Interest = []
    if seat.host.isReading, !seat.hasEnded { interest.insert(.readable) }
    if !isDone, !seat.isUnwritable { interest.insert(.writable) }
    wait(for: interest, at: token)
  }

  private func wait(for interest: Poller.Interest, at token: UInt64) {
    guard let seat = seats[token], interest != seat.interest else { return }
    seats[token]?.interest = interest
    let file = seat.connection.descriptor
    // Who is waited for nothing is not waited for at all: a hung-up end would be told again and again.
    // One that says nothing more and reads on is only asked whether it is still there.
    let isWatched = seat.hasEnded
    if interest == [], !isWatched { return poller.remove(file) }
    guard seat.interest == [], !isWatched else { return poller.set(file, token: token, interest) }
    do {
      try poller.add(file, token: token, interest)
    } catch {
      server.count { $0.failures += 1 }
      remove(token)
    }
  }

  /// Returns whether everything was written.
  private func write(_ seat: inout Seat, at now: Double) -> Bool {
    while true {
      if seat.sent == seat.unsent.count {
        seat.unsent.removeAll(keepingCapacity: seat.unsent.count < Self.keptCapacity)
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
        seat.isUnwritable = true
        (seat.unsent, seat.sent) = ([], 0)
        return true
      }
      guard count > 0 else {
        seat.stuckSince = seat.stuckSince ?? now
        return false
      }
      seat.stuckSince = nil
      seat.sent += count
    }
  }

  /// Accepts again after a pause.
  private func resume(at now: Double) {
    guard let time = pausedUntil, now >= time else { return }
    pausedUntil = nil
    listen(.readable)
  }

  private func listen(_ interest: Poller.Interest) {
    for (index, entrance) in entrances.enumerated() where entrance.isOpen {
      poller.set(entrance.listener.descriptor, token: UInt64(index), interest)
    }
  }

  private func expire(at now: Double) {
    guard now >= nextLook else { return }
    nextLook = now + Self.looks
    openPorts(at: now)
    for (token, seat) in seats {
      if let since = seat.stuckSince, now >= since + limits.patience, !seat.host.maySleep {
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
    limitWaiting(at: now)
  }

  /// Tries ports that another program had.
  private func openPorts(at now: Double) {
    for (index, entrance) in entrances.enumerated() where entrance.port?.open(at: now) == true {
      do {
        try poller.add(
          entrance.listener.descriptor, token: UInt64(index), pausedUntil == nil ? .readable : [])
      } catch {
        server.count { $0.failures += 1 }
        entrance.port?.close(at: now)
      }
    }
  }

  /// Closes programs of the user for whose programs most waits, those first for which most waits, until little enough does.
  private func limitWaiting(at now: Double) {
    var sum = seats.values.reduce(0) { $0 + $1.waitingCount }
    guard sum > limits.waiting else { return }
    let waiting = seats.mapValues(\.waitingCount)
    var sums: [UInt32: Int] = [:]
    for (token, count) in waiting {
      if let seat = seats[token] { sums[seat.user, default: 0] += count }
    }
    guard let user = sums.max(by: { $0.value < $1.value })?.key else { return }
    let own = waiting.filter { seats[$0.key]?.user == user }
    for (token, count) in own.sorted(by: { $0.value > $1.value }) where sum > limits.waiting {
      sum -= count
      guard let host = seats[token]?.host, !host.isClosed else { continue }
      server.count { $0.slow += 1 }
      host.close(.slow, at: now)
    }
  }
}
