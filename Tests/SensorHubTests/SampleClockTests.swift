import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

/// When samples were taken that come many at a time.
struct SampleClockTests {
  private func at(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 5_000_000_000).advanced(bySeconds: seconds)
  }

  @Test(
    "with an edge each conversion's moment is known, whatever the chip's clock does",
    arguments: [-0.03, 0, 0.015, 0.06])
  func edges(error: Double) {
    let (rate, batch) = (833.0, 8)
    let period = 1 / (rate * (1 + error))
    var clock = SampleClock(rate: rate)
    var read = 0
    for look in 0..<2000 {
      // The edge comes with the eighth that is there, the look up to three conversions later.
      let count = batch + look % 4
      let edge = at(Double(read + batch) * period)
      read += count
      let newest = clock.newest(
        of: count, batch: batch, edge: edge, now: edge.advanced(bySeconds: 0.004))
      let truth = at(Double(read) * period)
      // A microsecond once a second has been measured; before that the period is the nominal one.
      let limit = look < 250 ? 3.1 * abs(period - 1 / rate) + 1e-6 : 2e-6
      #expect(abs(newest.seconds(since: truth)) < limit)
    }
    #expect(abs(clock.period / period - 1) < 1e-3)
  }

  @Test("without an edge it is known to half a period, and the period to a thousandth")
  func polled() {
    let period = 1 / (417 * 1.012)
    var clock = SampleClock(rate: 417)
    var read = 0
    for look in 1...3000 {
      // Looks are jittery by a millisecond.
      let now = 0.0096 * Double(look) + 0.001 * Double(look * 7919 % 13) / 13
      let there = Int(now / period)
      let newest = clock.newest(of: there - read, batch: 4, edge: nil, now: at(now))
      read = there
      #expect(abs(newest.seconds(since: at(Double(there) * period))) <= period / 2 + 1e-6)
    }
    #expect(abs(clock.period / period - 1) < 1e-3)
  }

  @Test("conversions that were lost do not stretch the period")
  func lost() {
    var clock = SampleClock(rate: 833)
    var read = 0
    for look in 1...600 {
      // Every hundredth batch is lost, and the clock is told.
      read += 8
      if look % 100 == 0 {
        clock.forget()
        continue
      }
      _ = clock.newest(of: 8, batch: 8, edge: at(Double(read) / 833), now: at(Double(read) / 833))
    }
    // And one that nobody noticed.
    read += 400
    for _ in 0..<300 {
      read += 8
      _ = clock.newest(of: 8, batch: 8, edge: at(Double(read) / 833), now: at(Double(read) / 833))
    }
    #expect(abs(clock.period * 833 - 1) < 1e-3)
  }

  /// Six seconds of an LSM6DSOX at 833 Hz through the hub's task; the host is away for a while after three.
  private func run(
    hasPin: Bool, away: Double = 0, trajectory: Trajectory = .still
  ) throws -> (samples: [Timestamp], SensorStatus) {
    let clock = VirtualClock()
    let line = InterruptLineName(chip: "gpiochip0", line: "17")
    let provider = SimulatedBusProvider(
      SimulatedBoard(
        chips: [
          .init(
            .registers("LSM6DSOX"), at: .bus("/dev/i2c-1", address: 0x6A),
            interrupt: hasPin ? line : nil)
        ], trajectory: trajectory), clock: clock)
    var sensor = Board.Sensor(
      chip: "LSM6DSOX", attachment: .i2c(bus: "/dev/i2c-1", address: 0x6A), rate: 833)
    sensor.interrupt = hasPin ? line : nil
    let task = SensorFactory.task(index: 0, sensor: sensor).task
    task.setWanted(true)
    let port = Port(.live(provider), worker: 0, records: false)
    var samples: [Timestamp] = []
    let start = clock.now()
    var away = away
    while clock.now().seconds(since: start) < 6 {
      var outbox: [Delivery] = []
      task.step(port, at: clock.now(), into: &outbox)
      for case .reading(let reading) in outbox { samples.append(reading.sample.time) }
      var next = task.due
      if case .at(let nanoseconds) = task.readiness, nanoseconds < next.nanoseconds {
        next = Timestamp(nanoseconds: nanoseconds)
      }
      clock.advance(to: max(next, clock.now().advanced(bySeconds: 20e-6)))
      if away > 0, clock.now().seconds(since: start) > 3 {
        clock.advance(to: clock.now().advanced(bySeconds: away))
        away = 0
      }
    }
    return (samples, task.status)
  }

  /// How far samples are from even steps, seconds, and how long a step is.
  private func unevenness(_ steady: some Collection<Timestamp>) throws -> (Double, period: Double) {
    let times = Array(steady)
    let first = try #require(times.first)
    let last = try #require(times.last)
    let period = last.seconds(since: first) / Double(times.count - 1)
    let worst = times.enumerated().map {
      abs($1.seconds(since: first) - Double($0) * period)
    }.max()
    return (try #require(worst), period)
  }

  @Test(
    "the hub gives the samples of a queue evenly, with a pin and without", arguments: [true, false])
  func hub(hasPin: Bool) throws {
    let (samples, status) = try run(hasPin: hasPin)
    #expect(samples.count > 4_000)
    // After two seconds: steps of the chip's own period, to 20 microseconds with a pin; without one a look is known to half a
    // period.
    let (worst, period) = try unevenness(samples.suffix(2_500))
    #expect(abs(period * 833 - 1) < 0.02)
    print("LSM6DSOX at 833 Hz, pin \(hasPin): samples within \(worst * 1e6) us of even")
    #expect(worst < (hasPin ? 20e-6 : 1.1 / 833))
    #expect(status.counters.busErrors == 0)
  }

  @Test(
    "a host that was away takes all that has gathered, each with its own time",
    arguments: [true, false])
  func away(hasPin: Bool) throws {
    let (samples, status) = try run(hasPin: hasPin, away: 0.1)
    #expect(status.counters.busErrors == 0 && status.counters.stalls == 0)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { $0 < $1 })
    // Nothing is missing: even steps over the gap too. The edge of the batch that had gathered first is old by then.
    let (worst, _) = try unevenness(samples.suffix(3_500))
    print("LSM6DSOX at 833 Hz, pin \(hasPin), away for 0.1 s: within \(worst * 1e6) us of even")
    #expect(worst < (hasPin ? 0.3 : 1.5) / 833)
  }

  // A burst is of eight samples, 9.6 ms: in one of these its first sample is beyond the range and its last is not.
  @Test("what was fetched with a sample beyond the range is told with its own time")
  func beyondRange() throws {
    for phase in 0..<9 {
      let (samples, status) = try run(
        hasPin: true,
        trajectory: Trajectory(segments: [
          .init(duration: 3 + 0.0012 * Double(phase)), .init(duration: 0.003, turn: 15),
          .init(duration: 9),
        ]))
      #expect(status.counters.overflows > 0 && status.counters.starts == 1)
      #expect(zip(samples, samples.dropFirst()).allSatisfy { $0 < $1 }, "phase \(phase)")
      let (_, period) = try unevenness(samples.suffix(2_000))
      let last = try #require(samples.last)
      for time in samples.suffix(3_000) {
        let steps = last.seconds(since: time) / period
        #expect(abs(steps - steps.rounded()) < 0.3, "phase \(phase)")
      }
      // Three milliseconds are three samples at most.
      #expect(Double(samples.count) > 833 * 5.85)
    }
  }
}
