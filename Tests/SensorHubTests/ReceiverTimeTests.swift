import BoardFile
import Recording
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

/// A receiver's time on its way to chrony, on a simulated board.
struct ReceiverTimeTests {
  private static let (messages, pulses) = ("/run/m.sock", "/run/p.sock")
  private static let line = InterruptLineName(chip: "simulated", line: "GPIO18")

  private final class Bench {
    let clock = VirtualClock()
    let provider: SimulatedBusProvider
    let task: any WorkerTask
    private let port: WorkerPort
    private(set) var notes: [String] = []
    private(set) var links: [ReceiverLink] = []

    /// A board that stands still.
    ///
    /// - Parameter hasFix: Whether the receiver sees the sky.
    init(_ time: TimeOutput?, hasFix: Bool = true) {
      var chip = SimulatedChip(
        .ubloxM9, at: .port("/dev/serial0"), interrupt: ReceiverTimeTests.line)
      chip.isImperfect = false
      var board = SimulatedBoard(chips: [chip])
      board.trajectory = Trajectory(segments: [.init(duration: 1_000, fix: hasFix)])
      provider = SimulatedBusProvider(board, clock: clock)
      var sensor = Board.Sensor(
        chip: "u-blox", attachment: .serial(port: "/dev/serial0", baudRate: 38_400),
        pulse: ReceiverTimeTests.line)
      sensor.time = time
      task = SensorFactory.task(index: 0, sensor: sensor).task
      port = WorkerPort(LiveInput(provider))
    }

    /// Steps with nobody who wants a position: the datagrams that were sent.
    func run(_ seconds: Double) -> [(path: String, bytes: [UInt8])] {
      let end = clock.now().advanced(bySeconds: seconds)
      while clock.now() < end {
        clock.advance(bySeconds: 0.01)
        task.setWanted(false)
        task.setInterval(60)
        var outbox: [WorkerOutput] = []
        task.step(port, at: clock.now(), into: &outbox)
        for output in outbox {
          switch output {
          case .diagnostic(let text, _): notes.append(text)
          case .link(_, let link): links.append(link)
          default: break
          }
        }
      }
      return provider.takeDatagrams()
    }
  }

  private static func offset(_ bytes: [UInt8]) -> Double {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: Double.self) }
  }

  private static func second(_ bytes: [UInt8]) -> Int64 {
    bytes.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
  }

  @Test(
    "a sample a second goes to each socket though nobody wants a position, and pulses are far better than messages"
  )
  func samples() throws {
    let bench = Bench(TimeOutput(messages: Self.messages, pulses: Self.pulses))
    bench.provider.listen(forDatagramsAt: Self.messages)
    bench.provider.listen(forDatagramsAt: Self.pulses)
    _ = bench.run(30)
    let sent = bench.run(60)
    let (messages, pulses) = (
      sent.filter { $0.path == Self.messages }, sent.filter { $0.path == Self.pulses }
    )
    #expect(
      (58...61).contains(messages.count) && (58...61).contains(pulses.count),
      "\(messages.count) \(pulses.count)")
    #expect(sent.allSatisfy { $0.bytes.count == 40 })
    // A simulated board's clock is right.
    #expect(messages.allSatisfy { abs(Self.offset($0.bytes)) < 0.1 })
    #expect(
      pulses.allSatisfy { abs(Self.offset($0.bytes)) < 100e-6 },
      "\(pulses.map { Self.offset($0.bytes) }.max() ?? 0)")
    #expect(Set(pulses.map { (Double(Self.second($0.bytes)) + 0.5).rounded(.down) }).count >= 58)
    #expect(bench.task.status.link?.timeServices?.map(\.state) == [.sending, .sending])
    #expect(bench.notes.isEmpty, "\(bench.notes)")
  }

  @Test(
    "a chrony that does not listen is a state, said once, tried every five seconds, and found when it begins"
  )
  func absent() throws {
    let bench = Bench(TimeOutput(messages: Self.messages))
    #expect(bench.run(40).isEmpty)
    let said = bench.notes.filter { $0.contains("chrony does not take it at /run/m.sock") }
    #expect(said.count == 1 && bench.task.status.state == .running, "\(bench.notes)")
    guard case .refused = bench.task.status.link?.timeServices?.first?.state else {
      Issue.record("\(String(describing: bench.task.status.link))")
      return
    }
    bench.provider.listen(forDatagramsAt: Self.messages)
    #expect((3...10).contains(bench.run(10).count))
    let back = try #require(bench.notes.last)
    #expect(back.contains("chrony takes it at /run/m.sock"))
    // Counted are the attempts.
    let missed = try #require(back.split { !$0.isNumber }.last.flatMap { Int($0) })
    #expect((4...9).contains(missed), "\(back)")
  }

  @Test(
    "a leap second that the satellites announce for tonight reaches chrony, one of another day does not"
  )
  func leapSecond() throws {
    for (days, expected) in [(0.0, Int32(1)), (40, 0)] {
      let bench = Bench(TimeOutput(messages: Self.messages))
      bench.provider.listen(forDatagramsAt: Self.messages)
      let tonight = ((bench.provider.wallTime() / 86_400).rounded(.down) + 1 + days) * 86_400
      var condition = SimulatedCondition()
      condition.leapSecond = .init(change: 1, midnight: tonight)
      bench.provider.setCondition(condition, chip: 0)
      let sent = bench.run(100)
      let last = try #require(sent.last).bytes
      #expect(
        last.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 28, as: Int32.self) } == expected)
      #expect(bench.task.status.link?.condition?.leapSecond?.midnight == tonight)
    }
  }

  @Test("without a fix nothing is sent, and without the key neither")
  func nothing() {
    let lost = Bench(TimeOutput(messages: Self.messages, pulses: Self.pulses), hasFix: false)
    let unasked = Bench(nil)
    for bench in [lost, unasked] {
      bench.provider.listen(forDatagramsAt: Self.messages)
      bench.provider.listen(forDatagramsAt: Self.pulses)
      #expect(bench.run(30).isEmpty && bench.notes.isEmpty, "\(bench.notes)")
    }
    #expect(lost.task.status.link?.timeServices?.map(\.state) == [.waiting, .waiting])
    #expect(unasked.task.status.link?.timeServices == nil && unasked.task.status.state == .idle)
  }

  @Test("where the pulse fails its socket gets nothing, and that of messages goes on")
  func noPulse() {
    let bench = Bench(TimeOutput(messages: Self.messages, pulses: Self.pulses))
    bench.provider.listen(forDatagramsAt: Self.messages)
    bench.provider.listen(forDatagramsAt: Self.pulses)
    _ = bench.run(30)
    bench.provider.inject(.pulse(.missing), chip: 0, from: bench.clock.now())
    _ = bench.run(5)
    let sent = bench.run(20)
    #expect(sent.count >= 18 && sent.allSatisfy { $0.path == Self.messages })
    #expect(bench.task.status.link?.timeServices?.map(\.state) == [.sending, .waiting])
  }
}
