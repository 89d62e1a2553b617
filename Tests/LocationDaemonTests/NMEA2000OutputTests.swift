// A node of NMEA 2000 on a bus that a test plays.

import Dispatch
import FacadeTestSupport
import LinuxIO
import LocationServices
import SensorTypes
import Synchronization
import Testing

@testable import LocationDaemon
@testable import OutputProtocols

/// A bus that a test decides about: what arrives, what room there is, and how the interface is.
private final class ScriptedBus: CANLine {
  struct State: Sendable {
    var condition = CANCondition.up
    var error: OutputLineError?
    /// Told once, by the next look at what has arrived.
    var alarm: OutputLineError?
    var room = Int.max
    var arrivals: [CANArrival] = []
    var sent: [CANSocketFrame] = []
    var filters: [CANSocketFilter] = []
  }

  let place = "can0"
  let descriptor: Int32? = nil
  let state = Mutex(State())

  func receive(only filters: [CANSocketFilter]) throws(OutputLineError) {
    state.withLock { $0.filters = filters }
  }

  func send(_ frame: CANSocketFrame) throws(OutputLineError) -> Bool {
    state.withLock { state in
      guard state.room > 0 else { return false }
      state.room -= 1
      state.sent.append(frame)
      return true
    }
  }

  func next() throws(OutputLineError) -> CANArrival? {
    try state.withLock { state throws(OutputLineError) in
      if let alarm = state.alarm {
        state.alarm = nil
        throw alarm
      }
      return state.arrivals.isEmpty ? nil : state.arrivals.removeFirst()
    }
  }

  func condition() throws(OutputLineError) -> CANCondition {
    try state.withLock { state throws(OutputLineError) in
      if let error = state.error { throw error }
      return state.condition
    }
  }

  func set(_ change: (inout sending State) -> Void) { state.withLock { change(&$0) } }

  /// What was sent since the last call.
  func take() -> [CANSocketFrame] {
    state.withLock { state in
      defer { state.sent = [] }
      return state.sent
    }
  }

  /// Has a frame arrive, if a filter of the socket takes it.
  func hear(_ pgn: UInt32, from source: UInt8, to destination: UInt8 = 255, _ bytes: [UInt8]) {
    let header = NMEA2000Header(priority: 6, pgn: pgn, destination: destination, source: source)
    let word = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let frame = CANSocketFrame(identifier: header.identifier, count: bytes.count, word: word)
    state.withLock { state in
      let isTaken = state.filters.contains { $0.identifier & $0.mask == frame.identifier & $0.mask }
      if isTaken { state.arrivals.append(.frame(frame)) }
    }
  }
}

extension [CANSocketFrame] {
  /// The parameter group of each frame.
  fileprivate var pgns: [UInt32] { map { NMEA2000Header(identifier: $0.identifier).pgn } }
  fileprivate var sources: Set<UInt8> {
    Set<UInt8>(map { NMEA2000Header(identifier: $0.identifier).source })
  }
}

struct NMEA2000OutputTests {
  private static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }

  private static func node(_ entries: [NMEA2000Entry]? = nil) -> (NMEA2000Settings, NMEA2000Node) {
    var settings = NMEA2000Settings()
    settings.uniqueNumber = 35
    if let entries { settings.entries = entries }
    return (settings, settings.makeNode(machine: 0, software: "1", delay: 0.1))
  }

  private static func link(
    _ bus: ScriptedBus, _ entries: [NMEA2000Entry]? = nil
  ) -> (NMEA2000Link, NMEA2000Settings) {
    let (settings, node) = node(entries)
    return (NMEA2000Link(place: "can0", node) { () throws(OutputLineError) in bus }, settings)
  }

  /// Serves until a moment, whenever the link says.
  private static func serve(_ link: NMEA2000Link, _ from: Double, _ to: Double) {
    var now = at(from)
    var rounds = 0
    while now <= at(to), rounds < 10_000 {
      let next = link.service(at: now)
      now = max(next, now.advanced(bySeconds: 0.001))
      rounds += 1
    }
    #expect(rounds < 10_000)
  }

  private static let lowName: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]
  private static let highName: [UInt8] = [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]

  @Test("a node asks who is there, claims its address, and may then send")
  func claims() {
    let bus = ScriptedBus()
    let (link, _) = Self.link(bus)
    let wakes = Mutex(0)
    link.begin { wakes.withLock { $0 += 1 } }
    #expect(!link.isUp && !link.isReady)
    Self.serve(link, 0, 0.1)
    #expect(bus.take().pgns == [NMEA2000PGN.request] && link.isUp && !link.isReady)
    link.send(
      [NMEA2000Message(priority: 2, pgn: 127_250, payload: [0])], hasFault: false)
    #expect(link.summary.dropped == 1)
    Self.serve(link, 0.1, 0.6)
    let frames = bus.take()
    #expect(frames.pgns == [NMEA2000PGN.addressClaim, NMEA2000PGN.heartbeat])
    #expect(frames.sources == [35] && link.isReady && wakes.withLock { $0 } == 1)
    // Now it hears who uses its address.
    let filters = bus.state.withLock { $0.filters }
    #expect(filters.contains(CANSocketFilter(identifier: 35, mask: 0xFF)))
    #expect(filters.count <= 16)
  }

  @Test("it defends its address against a weaker device, and gives way to a stronger one")
  func defends() {
    let bus = ScriptedBus()
    let (link, _) = Self.link(bus)
    Self.serve(link, 0, 1)
    _ = bus.take()
    bus.hear(NMEA2000PGN.addressClaim, from: 35, Self.highName)
    Self.serve(link, 1, 1.01)
    var frames = bus.take()
    #expect(frames.pgns == [NMEA2000PGN.addressClaim] && frames.sources == [35])
    #expect(link.isReady && link.counters.defences == 1)
    bus.hear(NMEA2000PGN.addressClaim, from: 35, Self.lowName)
    Self.serve(link, 1.1, 1.11)
    #expect(!link.isReady)
    Self.serve(link, 1.11, 2)
    frames = bus.take()
    #expect(frames.sources == [36] && link.isReady && link.counters.addressesLost == 1)
    // What another device sends from the new address.
    bus.hear(127_250, from: 36, [0, 0, 0, 0, 0, 0, 0, 0])
    bus.hear(127_250, from: 35, [0, 0, 0, 0, 0, 0, 0, 0])
    Self.serve(link, 2, 2.01)
    #expect(link.counters.intruders == 1)
  }

  @Test("requests are answered, with product information and with what the output sends")
  func requests() throws {
    let bus = ScriptedBus()
    let entries = NMEA2000Entry.all.filter { [127_250, 127_258].contains($0.pgn) }
    let (link, settings) = Self.link(bus, entries)
    let output = try NMEA2000Output(link, settings, positions: .exact) {
      ClockReading(seconds: $0.seconds, isSet: true)
    }
    #expect(output.demand == Demand() && output.advance(PublishedState(), to: Self.at(0)) == nil)
    Self.serve(link, 0, 0.6)
    var state = PublishedState()
    state.take(.heading(degrees: 20, at: Self.at(0.6).seconds, declination: 3.5))
    #expect(output.demand.heading && output.advance(state, to: Self.at(0.6)) == Self.at(0.7))
    Self.serve(link, 0.6, 0.61)
    _ = bus.take()
    bus.hear(NMEA2000PGN.request, from: 7, to: 35, [0x14, 0xF0, 0x01])
    Self.serve(link, 0.62, 0.63)
    let frames = bus.take()
    #expect(frames.count == 20 && frames.pgns.allSatisfy { $0 == NMEA2000PGN.productInformation })
    // 127258 is due each second, and is asked for before.
    bus.hear(NMEA2000PGN.request, from: 7, to: 35, [0x1A, 0xF1, 0x01])
    Self.serve(link, 0.64, 0.65)
    _ = output.advance(state, to: Self.at(0.65))
    Self.serve(link, 0.65, 0.66)
    #expect(bus.take().pgns == [127_258])
    _ = output.advance(state, to: Self.at(0.7))
    Self.serve(link, 0.7, 0.71)
    let heading = bus.take()
    #expect(heading.pgns == [127_250])
    // 20 degrees are 3491 steps of 0.0001 rad; magnetic.
    #expect(heading[0].word >> 8 & 0xFFFF == 3_491 && heading[0].word >> 56 & 3 == 1)
    #expect(output.summary.sent >= 3 && output.summary.problem == nil)
  }

  @Test("a bus that takes nothing makes nobody wait: whole messages are left out, and it is said")
  func full() {
    let bus = ScriptedBus()
    let (link, _) = Self.link(bus)
    Self.serve(link, 0, 1)
    _ = bus.take()
    bus.set { $0.room = 3 }
    let fast = NMEA2000Message(
      priority: 3, pgn: NMEA2000PGN.gnssPosition, payload: [UInt8](repeating: 1, count: 43))
    for step in 0..<100 {
      link.send([fast], hasFault: false)
      _ = link.service(at: Self.at(1 + Double(step) / 20))
      #expect(link.state.withLock { $0.waitingCount } <= NMEA2000Link.mostWaiting)
    }
    #expect(link.summary.problem?.contains("takes no frames") == true)
    #expect(link.summary.dropped > 50)
    bus.set { $0.room = .max }
    Self.serve(link, 6, 6.1)
    // Seven frames a message, whole and in order.
    let frames = bus.take()
    #expect(frames.count.isMultiple(of: 7) && link.summary.problem == nil)
    for (index, frame) in frames.enumerated() {
      #expect(Int(frame.word & 0x1F) == index % 7)
    }
  }

  @Test("a missing interface is tried again with growing pauses, and its state is said in words")
  func conditions() {
    let bus = ScriptedBus()
    let isThere = Mutex(false)
    let attempts = Mutex(0)
    let (_, node) = Self.node()
    let link = NMEA2000Link(place: "can0", node) { () throws(OutputLineError) in
      attempts.withLock { $0 += 1 }
      guard isThere.withLock({ $0 }) else {
        throw OutputLineError("can0", "there is no such interface", errno: 19)
      }
      return bus
    }
    Self.serve(link, 0, 60)
    #expect(attempts.withLock { $0 } <= 8)
    #expect(link.summary.problem?.hasPrefix("there is no such interface (tried") == true)
    isThere.withLock { $0 = true }
    bus.set { $0.condition = .down }
    Self.serve(link, 60, 100)
    #expect(link.summary.problem?.contains("ip link set can0 up") == true && !link.isUp)
    #expect(bus.take().isEmpty)
    bus.set { $0.condition = .up }
    Self.serve(link, 100, 103)
    #expect(link.isReady && link.summary.problem == nil)
    _ = bus.take()
    // The controller leaves the bus, and is restarted.
    bus.set { ($0.condition, $0.arrivals) = (.busOff, [.event(.busOff)]) }
    Self.serve(link, 103, 105)
    #expect(link.summary.problem?.contains("bus-off") == true && !link.isReady)
    bus.set { ($0.condition, $0.arrivals) = (.up, [.event(.restarted)]) }
    Self.serve(link, 105, 107)
    #expect(link.isReady && bus.take().pgns.contains(NMEA2000PGN.addressClaim))
    // Somebody switches it off: the socket says so once.
    bus.set {
      ($0.condition, $0.alarm) = (.down, OutputLineError("can0", "the interface is down"))
    }
    Self.serve(link, 107, 107.1)
    #expect(!link.isUp && link.summary.problem?.contains("down") == true)
    bus.set { $0.condition = .up }
    Self.serve(link, 107.1, 110)
    #expect(link.isReady)
    // It is unplugged, and another one gets its name.
    bus.set { $0.error = OutputLineError("can0", "there is no such interface", errno: 19) }
    Self.serve(link, 110, 112)
    #expect(!link.isUp && link.summary.problem?.contains("no such interface") == true)
    bus.set { $0.error = nil }
    Self.serve(link, 112, 130)
    #expect(link.isReady && link.watched == nil)
  }

  @Test("an interface that was just switched on has a second until it counts as bus-off")
  func carrier() {
    let bus = ScriptedBus()
    bus.set { $0.condition = .busOff }
    let (link, _) = Self.link(bus)
    Self.serve(link, 0, 0.9)
    #expect(link.summary.problem == nil && !link.isUp)
    Self.serve(link, 1, 1.1)
    #expect(link.summary.problem?.contains("bus-off") == true)
    bus.set { $0.condition = .up }
    Self.serve(link, 2, 3)
    #expect(link.isReady && link.summary.problem == nil)
  }

  @Test("frames that nobody acknowledges are a problem until the controller has few errors again")
  func unheard() {
    let bus = ScriptedBus()
    let (link, _) = Self.link(bus)
    Self.serve(link, 0, 1)
    bus.set { $0.arrivals = [.event(.unheard)] }
    Self.serve(link, 1, 1.1)
    #expect(link.summary.problem?.contains("not acknowledged") == true)
    bus.set { $0.arrivals = [.other, .event(.active)] }
    Self.serve(link, 1.1, 1.2)
    #expect(link.summary.problem == nil)
  }

  @Test("a flood of claims and requests is read in bounded rounds and answered within bounds")
  func flood() {
    let bus = ScriptedBus()
    let (link, _) = Self.link(bus)
    Self.serve(link, 0, 1)
    _ = bus.take()
    for index in 0..<5_000 {
      let isClaim = index.isMultiple(of: 2)
      if isClaim {
        bus.hear(NMEA2000PGN.addressClaim, from: 35, Self.highName)
      } else {
        bus.hear(NMEA2000PGN.request, from: 7, to: 35, [0x14, 0xF0, 0x01])
      }
    }
    let next = link.service(at: Self.at(1))
    #expect(next == Self.at(1))
    #expect(bus.state.withLock { $0.arrivals.count } == 5_000 - NMEA2000Link.mostReads)
    Self.serve(link, 1, 2)
    #expect(bus.state.withLock { $0.arrivals.isEmpty })
    // 50 claims and 10 answers of 20 frames in a second, twice since the allowance was full.
    #expect(bus.take().count <= 2 * (50 + 200) && link.counters.limited > 4_000)
  }

  @Test("the thread of an output claims an address, sends, and ends with the output")
  func thread() throws {
    let bus = ScriptedBus()
    weak var gone: NMEA2000Link?
    do {
      let (link, settings) = Self.link(bus, NMEA2000Entry.all.filter { $0.pgn == 127_250 })
      gone = link
      let output = try NMEA2000Output(link, settings, positions: .none) { _ in nil }
      let now = { @Sendable () -> Timestamp in
        let time = DispatchTime.now().uptimeNanoseconds
        return Timestamp(nanoseconds: Int64(time))
      }
      try output.start(now: now)
      #expect(eventually { link.isReady })
      _ = output.advance(PublishedState(), to: now())
      #expect(eventually { bus.state.withLock { $0.sent.pgns.contains(127_250) } })
    }
    #expect(eventually { gone == nil })
  }
}
