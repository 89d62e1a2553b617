import SensorBus
import SensorTypes
import Testing

@testable import SimulatedDevices

/// A receiver's pulse, by what its maker says of it.
struct PulseTwinTests {
  private static let name = InterruptLineName(chip: "simulated", line: "GPIO18")
  private let clock = VirtualClock()
  private let provider: SimulatedBusProvider

  init() {
    var trajectory = Trajectory.still
    trajectory = Trajectory(segments: [
      .init(duration: 5, fix: false), .init(duration: 100, fix: true),
    ])
    let board = SimulatedBoard(
      chips: [.init(.ubloxM9, at: .port("/dev/serial0"), interrupt: Self.name)],
      trajectory: trajectory)
    provider = SimulatedBusProvider(board, clock: clock)
  }

  /// Looks every so many seconds: when the line rose, in seconds of UTC, and how many rises there were.
  private func rises(_ seconds: Double, every step: Double = 0.05) throws -> [(Double, Int)] {
    let line = try provider.interruptLine(Self.name)
    var found: [(Double, Int)] = []
    for _ in 0..<Int((seconds / step).rounded()) {
      clock.advance(bySeconds: step)
      if let edges = try line.takeEdges() {
        let utc = provider.truth(at: edges.newest).utc
        found.append((utc - utc.rounded(), edges.count))
      }
    }
    return found
  }

  @Test("one at each second of UTC from the fix on, seen within an interrupt's time")
  func pulses() throws {
    #expect(try rises(4.5).isEmpty)
    let found = try rises(10.05)
    #expect((10...11).contains(found.count))
    // UTC as a number is good to a quarter of a microsecond.
    #expect(found.allSatisfy { (-1e-6...21e-6).contains($0.0) && $0.1 == 1 })
  }

  @Test("it is high for a tenth of a second")
  func level() throws {
    clock.advance(bySeconds: 10)
    var high = 0
    for _ in 0..<1_000 {
      clock.advance(bySeconds: 0.01)
      if provider.level(of: Self.name) == true { high += 1 }
    }
    #expect((95...115).contains(high))
  }

  @Test("who does not look for long finds the kernel's queue, and waits for the next second")
  func queue() throws {
    clock.advance(bySeconds: 10)
    let line = try provider.interruptLine(Self.name)
    clock.advance(bySeconds: 3_600)
    let edges = try #require(try line.takeEdges())
    #expect(edges.count == 16 && (-1e-6...1).contains(clock.now().seconds(since: edges.newest)))
    #expect(try line.takeEdges() == nil)
    guard case .at(let nanoseconds) = line.readiness else {
      Issue.record("\(line.readiness)")
      return
    }
    let wait = Timestamp(nanoseconds: nanoseconds).seconds(since: clock.now())
    #expect(wait > 0 && wait <= 1.0001)
  }

  @Test("every fault has its pulses")
  func faults() throws {
    clock.advance(bySeconds: 10)
    func during(_ fault: PulseFault) throws -> [(Double, Int)] {
      provider.inject(.pulse(fault), chip: 0, from: clock.now())
      defer { provider.endFaults(chip: 0) }
      return try rises(10, every: 0.04)
    }
    #expect(try during(.missing).isEmpty)
    #expect((19...21).contains(try during(.doubled(after: 0.3)).count))
    #expect((98...102).contains(try during(.tenfold).count))
    #expect(try during(.inverted).allSatisfy { abs($0.0 - 0.1) < 30e-6 })
    #expect(try during(.unlocked(late: 0.4)).allSatisfy { abs($0.0 - 0.4) < 30e-6 })
    // A wire that is off is no pulse.
    provider.inject(.noAnswer, chip: 0, from: clock.now())
    #expect(try rises(5).isEmpty)
    #expect(provider.level(of: Self.name) == false)
  }
}
