import Dispatch
import Glibc
import SensorTypes

/// The work of a server's thread.
final class WebLoop {
  private struct Seat {
    let number: Int
    let file: Int32
    var connection: WebConnection
    var isShut = false
  }

  // Fewer than one address may have, so that a connection is not evicted before its request can be read in the next round.
  private static let takenAtOnce = 8
  private static let readAtOnce = 16_384
  // The pause after accepting failed, in seconds.
  private static let pause = 0.1
  // The time for last messages when the server stops, in seconds.
  private static let patience = 0.2

  private var listener: WebListener?
  private let service: any WebService
  private let inbox: WebInbox
  private let limits: ConnectionLimits
  private let queue = DispatchQueue(label: "lodestone-web-answers")
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: WebLoop.readAtOnce, alignment: 16)
  private var seats: [Seat] = []
  private var nextNumber = 0
  private var pausedUntil = Timestamp(nanoseconds: 0)

  init(
    listener: WebListener, service: any WebService, inbox: WebInbox,
    limits: ConnectionLimits
  ) {
    self.listener = listener
    self.service = service
    self.inbox = inbox
    self.limits = limits
  }

  deinit {
    listener?.end()
    for seat in seats { close(seat.file) }
    buffer.deallocate()
  }

  /// Serves until the server is stopped.
  func run() {
    var end = Timestamp.distantFuture
    var entries: [pollfd] = []
    while true {
      let now = Self.now()
      takeInbox(at: now, &end)
      if listener == nil, now >= end || !seats.contains(where: \.connection.isSending) {
        break
      }
      wait(&entries, at: now, until: end)
      serve(entries)
      takeConnections()
      expire()
    }
  }

  private static func now() -> Timestamp {
    Timestamp(nanoseconds: Int64(DispatchTime.now().uptimeNanoseconds))
  }

  private func takeInbox(at now: Timestamp, _ end: inout Timestamp) {
    let content = inbox.take()
    for (number, response) in content.responses {
      guard let index = seats.firstIndex(where: { $0.number == number }) else { continue }
      seats[index].connection.take(response, at: now)
      advance(index, at: now)
    }
    if !content.news.isEmpty {
      for index in seats.indices where content.news.contains(seats[index].number) {
        seats[index].connection.wake(at: now)
      }
    }
    if content.isStopping, let open = listener {
      open.end()
      listener = nil
      end = now.advanced(bySeconds: Self.patience)
    }
  }

  private func wait(_ entries: inout [pollfd], at now: Timestamp, until end: Timestamp) {
    entries.removeAll(keepingCapacity: true)
    entries.append(pollfd(fd: inbox.readable, events: Int16(POLLIN), revents: 0))
    var deadline = end
    for seat in seats {
      var events: Int32 = 0
      if seat.connection.readable > 0 { events |= POLLIN }
      if seat.connection.isWritable { events |= POLLOUT }
      entries.append(pollfd(fd: seat.file, events: Int16(events), revents: 0))
      deadline = min(deadline, seat.connection.deadline)
    }
    if let file = listener?.file {
      let isPaused = now < pausedUntil
      if isPaused { deadline = min(deadline, pausedUntil) }
      entries.append(pollfd(fd: file, events: isPaused ? 0 : Int16(POLLIN), revents: 0))
    }
    // Every wait has a bound, here one second.
    let left = min(max(deadline.seconds(since: now), 0), 1)
    poll(&entries, nfds_t(entries.count), Int32((left * 1000).rounded(.up)))
  }

  // The entries are in the order of the seats, after the one of the inbox.
  private func serve(_ entries: [pollfd]) {
    let now = Self.now()
    for index in seats.indices {
      let found = Int32(entries[index + 1].revents)
      guard found != 0 else { continue }
      if found & (POLLERR | POLLHUP | POLLNVAL) != 0 {
        seats[index].connection.abandon()
        continue
      }
      if found & POLLIN != 0 { read(index, at: now) }
      if found & POLLOUT != 0 { seats[index].connection.refill(at: now) }
      advance(index, at: now)
    }
  }

  private func read(_ index: Int, at now: Timestamp) {
    let count = recv(
      seats[index].file, buffer.baseAddress, min(buffer.count, seats[index].connection.readable), 0)
    if count > 0 {
      seats[index].connection.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now)
    } else if count == 0 {
      seats[index].connection.end()
    } else if errno != EAGAIN, errno != EINTR {
      seats[index].connection.abandon()
    }
  }

  // Answers requests and sends responses until neither is possible.
  private func advance(_ index: Int, at now: Timestamp) {
    while !seats[index].connection.isOver {
      let number = seats[index].number
      let make = seats[index].connection.answer(by: service, at: now) { [inbox] in
        inbox.addNews(of: number)
      }
      if let make {
        queue.async { [inbox] in inbox.add(make(), for: number) }
      }
      guard write(index, at: now) else { break }
    }
    if seats[index].connection.hasFinished, !seats[index].isShut {
      shutdown(seats[index].file, Int32(SHUT_WR))
      seats[index].isShut = true
    }
  }

  // Returns whether everything was sent.
  private func write(_ index: Int, at now: Timestamp) -> Bool {
    let file = seats[index].file
    var hasSent = false
    while seats[index].connection.hasOutput {
      let count = seats[index].connection.withOutput {
        send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        seats[index].connection.didSend(count, at: now)
        hasSent = true
      } else if count < 0, errno == EINTR {
        continue
      } else if count < 0, errno == EAGAIN {
        return false
      } else {
        seats[index].connection.abandon()
        return false
      }
    }
    return hasSent
  }

  private func takeConnections() {
    let now = Self.now()
    guard now >= pausedUntil else { return }
    for _ in 0..<Self.takenAtOnce {
      switch listener?.take() ?? .none {
      case .connection(let file, let address): admit(file, from: address, at: now)
      case .lost: continue
      case .none: return
      case .exhausted:
        if let index = limits.places.leaver(among: occupants) {
          evict(index)
        } else {
          // poll(2) would report the listener again at once.
          pausedUntil = now.advanced(bySeconds: Self.pause)
          return
        }
      }
    }
  }

  private var occupants: [Places.Occupant] {
    seats.map {
      Places.Occupant(
        address: $0.connection.address, standing: $0.connection.standing,
        since: $0.connection.since)
    }
  }

  private func evict(_ index: Int) {
    inbox.countCrowdedOut()
    Self.reset(seats[index].file)
    seats.remove(at: index)
  }

  private func admit(_ file: Int32, from address: PeerAddress, at now: Timestamp) {
    switch limits.places.decide(for: address, among: occupants) {
    case .free: break
    case .evict(let index): evict(index)
    case .full:
      inbox.countCrowdedOut()
      let response = WebResponse(.serviceUnavailable, "Too many connections are open already.")
        .encoded(isLast: true)
      send(file, response, response.count, Int32(MSG_NOSIGNAL))
      close(file)
      return
    }
    seats.append(
      Seat(
        number: nextNumber, file: file,
        connection: WebConnection(from: address, at: now, deadlines: limits.deadlines)))
    nextNumber += 1
    // The request has often come already. Reading it now protects the connection from being evicted.
    read(seats.count - 1, at: now)
    advance(seats.count - 1, at: now)
  }

  private func expire() {
    let now = Self.now()
    seats.removeAll { seat in
      let isLate = now >= seat.connection.deadline
      guard isLate || seat.connection.isOver else { return false }
      if seat.connection.hasEnded { close(seat.file) } else { Self.reset(seat.file) }
      return true
    }
  }

  // Closes without a handshake, so that the kernel keeps nothing of the connection. Without this it would for a minute.
  private static func reset(_ file: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(file, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close(file)
  }
}
