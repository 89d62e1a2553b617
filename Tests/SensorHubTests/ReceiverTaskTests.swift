import BoardFile
import Recording
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

/// A receiver in the schedule: who it is, how often it speaks, how it sleeps.
struct ReceiverTaskTests {
  private static let path = "/dev/serial0"
  private let clock: VirtualClock
  private let provider: SimulatedBusProvider
  private let task: ReceiverTask
  private let port: WorkerPort

  init() throws { try self.init(sleeps: false) }

  private init(sleeps: Bool, model: ReceiverTwinModel = .mediaTek) throws {
    let clock = VirtualClock()
    let board = SimulatedBoard(chips: [.init(.receiver(model), at: .port(Self.path))])
    try self.init(sleeps: sleeps, clock, SimulatedBusProvider(board, clock: clock))
  }

  /// The next program at the receiver of another.
  private init(after other: ReceiverTaskTests) throws {
    try self.init(sleeps: false, other.clock, other.provider)
  }

  private init(
    sleeps: Bool, _ clock: VirtualClock, _ provider: SimulatedBusProvider, baudRate: Int? = nil
  ) throws {
    (self.clock, self.provider) = (clock, provider)
    port = WorkerPort(LiveInput(provider))
    let sensor = Board.Sensor(
      chip: "GNSS", attachment: .serial(port: Self.path, baudRate: baudRate), sleeps: sleeps)
    task = try #require(SensorFactory.task(index: 0, sensor: sensor).task as? ReceiverTask)
    task.setWanted(true)
  }

  /// Steps for so many seconds: what was delivered.
  private func run(_ seconds: Double) -> [WorkerOutput] {
    var outbox: [WorkerOutput] = []
    for _ in 0..<Int((seconds / 0.05).rounded()) {
      clock.advance(bySeconds: 0.05)
      task.step(port, at: clock.now(), into: &outbox)
    }
    return outbox
  }

  private func fixes(_ deliveries: [WorkerOutput]) -> Int {
    deliveries.count { if case .fix = $0 { true } else { false } }
  }

  @Test("its name comes once, and stands in its status")
  func name() {
    let names = run(20).compactMap { delivery -> SensorIdentity? in
      if case .identity(0, let identity) = delivery { identity } else { nil }
    }
    let name = SensorIdentity(name: "PA6H", firmware: "AXN_2.31_3339_13101700")
    #expect(names == [name])
    #expect(task.status.identity == name && task.status.state == .running)
    #expect(task.status.counters.refusals == 0)
  }

  @Test("the wanted interval goes down to the receiver, and what is slower is no loss")
  func interval() {
    _ = run(15)
    #expect((24...26).contains(fixes(run(5))))
    // Before it was found at its rate it was silent for a while.
    let stalls = task.status.counters.stalls
    task.setInterval(5)
    _ = run(3)
    let slow = run(30)
    #expect((5...7).contains(fixes(slow)))
    #expect(task.status.state == .running && task.status.counters.stalls == stalls)
    // Five seconds of silence were meant until now.
    _ = run(4)
    task.setInterval(nil)
    _ = run(8)
    #expect(task.status.counters.stalls == stalls)
    #expect((24...26).contains(fixes(run(5))))
  }

  @Test(
    "a busy machine that looks late is no silence of the receiver's: of each look half a second counts",
    arguments: [(0.25, 1.5, 2.0), (0.9, 2.7, 3.6)])
  func lateLooks(step: Double, running: Double, silent: Double) throws {
    let rig = try ReceiverTaskTests(sleeps: false, model: .ubloxM9)
    _ = rig.run(15)
    try #require(rig.task.status.state == .running)
    let stalls = rig.task.status.counters.stalls
    var outbox: [WorkerOutput] = []
    // What it said before is read.
    rig.provider.inject(.receiverSilent, chip: 0, from: rig.clock.now())
    rig.task.step(rig.port, at: rig.clock.now(), into: &outbox)
    for look in 1...Int((silent / step).rounded(.up)) {
      rig.clock.advance(bySeconds: step)
      rig.task.step(rig.port, at: rig.clock.now(), into: &outbox)
      guard Double(look) * step <= running + 0.01 else { continue }
      #expect(rig.task.status.state == .running, "after \(Double(look) * step) s")
    }
    #expect(rig.task.status.state != .running && rig.task.status.counters.stalls == stalls + 1)
  }

  @Test(
    "a receiver that was just powered is not called silent, at whatever part of a second it was",
    arguments: [ReceiverTwinModel.ubloxM8, .ubloxM9, .mediaTek])
  func firstWords(model: ReceiverTwinModel) throws {
    for part in 0..<10 {
      let clock = VirtualClock()
      clock.advance(bySeconds: 0.1 * Double(part))
      let board = SimulatedBoard(
        chips: [.init(.receiver(model), at: .port(Self.path, baudRate: 38_400))])
      let rig = try ReceiverTaskTests(
        sleeps: false, clock,
        SimulatedBusProvider(board, clock: clock, elapsed: 0.1 * Double(part)), baudRate: 38_400)
      let states = rig.run(6).compactMap { output -> SensorState? in
        if case .status(let status) = output { status.state } else { nil }
      }
      #expect(states == [.running], "\(part)")
    }
  }

  @Test("one that never speaks is called silent once, after three and a half seconds")
  func neverSpeaks() throws {
    let clock = VirtualClock()
    let board = SimulatedBoard(
      chips: [.init(.receiver(.ubloxM9), at: .port(Self.path, baudRate: 38_400))])
    let rig = try ReceiverTaskTests(
      sleeps: false, clock, SimulatedBusProvider(board, clock: clock), baudRate: 38_400)
    rig.provider.inject(.receiverSilent, chip: 0, from: rig.clock.now())
    func states(_ seconds: Double) -> [String] {
      rig.run(seconds).compactMap { output in
        if case .status(let status) = output { "\(status.state)" } else { nil }
      }
    }
    #expect(states(3.4) == [])
    let states = states(30)
    #expect(states.count == 1 && states.first?.contains("3500 ms") == true, "\(states)")
    #expect(rig.task.status.counters.stalls == 1)
  }

  @Test("unwanted it is let go, or sleeps where it may, and is back within six seconds")
  func rest() throws {
    for sleeps in [false, true] {
      let rig = try ReceiverTaskTests(sleeps: sleeps)
      _ = rig.run(15)
      rig.task.setWanted(false)
      #expect(rig.fixes(rig.run(10)) == 0)
      #expect(rig.task.status.state == .idle)
      #expect(rig.task.readiness == .never && rig.task.due == .distantFuture)
      #expect(rig.fixes(rig.run(600)) == 0)
      rig.task.setWanted(true)
      _ = rig.run(6)
      #expect(rig.task.status.state == .running)
      #expect((24...26).contains(rig.fixes(rig.run(5))))
      #expect(rig.task.status.counters.starts == 2)
    }
  }

  @Test("wanted again while it falls asleep, it is woken")
  func changedMind() throws {
    for pause in [0.05, 0.3, 0.6, 1.2, 1.8] {
      let rig = try ReceiverTaskTests(sleeps: true, model: .ubloxM9)
      _ = rig.run(15)
      rig.task.setWanted(false)
      _ = rig.run(pause)
      rig.task.setWanted(true)
      _ = rig.run(10)
      #expect(rig.task.status.state == .running)
      #expect((24...26).contains(rig.fixes(rig.run(5))), "after \(pause) s")
    }
  }

  @Test("wanted again while it falls asleep at an epoch a minute, it is back within ten seconds")
  func changedMindAtLongInterval() throws {
    for pause in [0.3, 2, 20] {
      let rig = try ReceiverTaskTests(sleeps: true, model: .ubloxM9)
      _ = rig.run(15)
      rig.task.setInterval(60)
      _ = rig.run(70)
      rig.task.setWanted(false)
      _ = rig.run(pause)
      rig.task.setInterval(nil)
      rig.task.setWanted(true)
      _ = rig.run(10)
      #expect(rig.task.status.state == .running, "after \(pause) s")
      #expect((24...26).contains(rig.fixes(rig.run(5))), "after \(pause) s")
    }
  }

  @Test(
    "one that speaks once a minute is left as it is found soon, and found if it was not",
    arguments: [ReceiverTwinModel.ubloxM8, .ubloxM9, .ubloxM10])
  func successor(model: ReceiverTwinModel) throws {
    func slow() throws -> ReceiverTaskTests {
      let rig = try ReceiverTaskTests(sleeps: false, model: model)
      _ = rig.run(15)
      rig.task.setInterval(60)
      _ = rig.run(10)
      #expect(rig.fixes(rig.run(180)) == 3)
      return rig
    }
    func expect(_ rig: ReceiverTaskTests, within seconds: Double) {
      _ = rig.run(seconds)
      #expect(rig.task.status.state == .running)
      #expect((24...26).contains(rig.fixes(rig.run(5))))
    }
    let ended = try slow()
    ended.task.finish()
    try expect(ReceiverTaskTests(after: ended), within: 8)
    // Listened to at 8 rates, then asked at the first two.
    try expect(ReceiverTaskTests(after: slow()), within: 20)
    let rested = try slow()
    rested.task.setWanted(false)
    _ = rested.run(5)
    rested.task.setInterval(nil)
    rested.task.setWanted(true)
    expect(rested, within: 8)
  }

  @Test(
    "after a loss of power it is heard within 15 s, though an epoch a minute was wanted",
    arguments: [ReceiverTwinModel.ubloxM8, .ubloxM9])
  func brownOut(model: ReceiverTwinModel) throws {
    let rig = try ReceiverTaskTests(sleeps: false, model: model)
    _ = rig.run(15)
    rig.task.setInterval(60)
    _ = rig.run(125)
    rig.provider.inject(.brownOut, chip: 0, from: rig.clock.now())
    #expect(rig.fixes(rig.run(15)) > 0)
    // And told anew what is wanted of it.
    #expect(rig.fixes(rig.run(180)) == 3)
    #expect(rig.task.status.state == .running)
  }

  @Test(
    "one that may sleep does so before anybody has asked for it",
    arguments: [ReceiverTwinModel.mediaTek, .ubloxM8, .ubloxM9])
  func sleepsFirst(model: ReceiverTwinModel) throws {
    let rig = try ReceiverTaskTests(sleeps: true, model: model)
    rig.task.setWanted(false)
    _ = rig.run(20)
    #expect(rig.task.status.state == .idle && rig.task.due == .distantFuture)
    let line = try rig.provider.ratelessStream(port: Self.path)
    rig.clock.advance(bySeconds: 10)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
    defer { buffer.deallocate() }
    #expect(try line.read(into: buffer) == 0)
    rig.task.setWanted(true)
    _ = rig.run(8)
    #expect(rig.task.status.state == .running)
    #expect((24...26).contains(rig.fixes(rig.run(5))))
  }

  @Test("one that is to sleep and is not there is looked for at every rate, and then let be")
  func neverThere() throws {
    let rig = try ReceiverTaskTests(sleeps: true, model: .ubloxM9)
    rig.provider.inject(.receiverSilent, chip: 0, from: rig.clock.now())
    rig.task.setWanted(false)
    _ = rig.run(29)
    #expect(rig.task.due != .distantFuture)
    _ = rig.run(2)
    #expect(rig.task.due == .distantFuture && rig.task.readiness == .never)
    guard case .failed = rig.task.status.state else {
      Issue.record("\(rig.task.status.state)")
      return
    }
  }

  @Test("satellites are told while somebody wants them; how it is set is told anyway")
  func satellites() throws {
    let rig = try ReceiverTaskTests(sleeps: false, model: .ubloxM9)
    func skies(_ deliveries: [WorkerOutput]) -> [GNSSSky] {
      deliveries.compactMap { if case .sky(0, let sky) = $0 { sky } else { nil } }
    }
    let first = rig.run(20)
    #expect(skies(first).isEmpty)
    let links = first.compactMap { delivery -> ReceiverLink? in
      if case .link(0, let link) = delivery { link } else { nil }
    }
    #expect(links.first == ReceiverLink(baudRate: 38_400))
    #expect(links.last?.language == .ubxKeys && links.last?.interval == 0.2)
    #expect(rig.task.status.link == links.last)
    rig.task.setSatellitesWanted(true)
    let told = skies(rig.run(20))
    #expect((3...5).contains(told.count))
    #expect(told.allSatisfy { $0.satellites.count == 20 })
    for (one, next) in zip(told, told.dropFirst()) {
      #expect((4.5...5.5).contains(next.received.seconds(since: one.received)))
    }
    rig.task.setSatellitesWanted(false)
    #expect(skies(rig.run(10)).isEmpty)
  }

  @Test("what a receiver does not take is said once")
  func notes() throws {
    let rig = try ReceiverTaskTests(sleeps: false, model: .nmea)
    let notes = rig.run(60).compactMap { delivery -> String? in
      if case .diagnostic(let text, _) = delivery { text } else { nil }
    }
    #expect(notes == ["GNSS at /dev/serial0 acknowledges nothing: it is read as it is"])
    #expect(rig.task.status.state == .running && rig.task.status.identity == nil)
  }
}
