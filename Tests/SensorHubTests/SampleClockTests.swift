import BoardFile
import Recording
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

  @Test(
    "without an edge many looks tell the moment better than one",
    arguments: [(250.0, 2), (1000, 10)], [-0.02, -0.012, 0.004, 0.015])
  func manyLooks(_ chip: (rate: Double, batch: Int), error: Double) {
    let period = 1 / (chip.rate * (1 + error))
    var clock = SampleClock(rate: chip.rate)
    var read = 0
    var worst = 0.0
    var look = 0.0
    while look < 30 {
      // As the hub looks: a batch later, and up to a tenth of a millisecond; that is half a percent of the shorter batch, which
      // none of these clocks goes in step with.
      look += Double(chip.batch) / chip.rate + 1e-5 * Double(read * 7919 % 11)
      let there = Int(look / period)
      guard there > read else { continue }
      let newest = clock.newest(of: there - read, batch: chip.batch, edge: nil, now: at(look))
      read = there
      if look > 12 { worst = max(worst, abs(newest.seconds(since: at(Double(there) * period)))) }
    }
    #expect(worst < 0.3 * period, "\(worst / period) periods")
  }

  @Test("a chip that goes by the host's own clock is known to half a period, and stays so")
  func inStep() {
    var clock = SampleClock(rate: 1000)
    for look in 1...3000 {
      // Always a tenth of a period after the newest was complete.
      let now = 0.01 * Double(look) + 1e-4
      let newest = clock.newest(of: 10, batch: 10, edge: nil, now: at(now))
      #expect(abs(newest.seconds(since: at(0.01 * Double(look)))) <= 0.51e-3)
    }
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

  /// Six seconds of a chip through the hub's task; the host is away for a while after three.
  private func run(
    _ chip: String = "LSM6DSOX", address: UInt8 = 0x6A, rate: Double = 833, hasPin: Bool,
    away: Double = 0, trajectory: Trajectory = .still
  ) throws -> (samples: [Timestamp], SensorStatus, words: [String]) {
    let clock = VirtualClock()
    let line = InterruptLineName(chip: "gpiochip0", line: "17")
    let provider = SimulatedBusProvider(
      SimulatedBoard(
        chips: [
          .init(
            .registers(chip), at: .bus("/dev/i2c-1", address: address),
            interrupt: hasPin ? line : nil)
        ], trajectory: trajectory), clock: clock)
    var sensor = Board.Sensor(
      chip: chip, attachment: .i2c(bus: "/dev/i2c-1", address: address), rate: rate)
    sensor.interrupt = hasPin ? line : nil
    let task = SensorFactory.task(index: 0, sensor: sensor).task
    task.setWanted(true)
    let port = WorkerPort(LiveInput(provider))
    var samples: [Timestamp] = []
    var words: [String] = []
    let start = clock.now()
    var away = away
    while clock.now().seconds(since: start) < 6 {
      var outbox: [WorkerOutput] = []
      task.step(port, at: clock.now(), into: &outbox)
      for case .reading(let reading) in outbox { samples.append(reading.sample.time) }
      for case .diagnostic(let text, _) in outbox { words.append(text) }
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
    return (samples, task.status, words)
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
    let (samples, status, _) = try run(hasPin: hasPin)
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
    "a chip without a threshold on its pin is looked at by time, whether a line is wired or not",
    arguments: [("MPU6050", 0x68, 1000), ("MPU9250", 0x68, 250), ("ICM20948", 0x69, 1125)]
      as [(String, UInt8, Double)], [true, false])
  func byTime(_ chip: (name: String, address: UInt8, rate: Double), hasPin: Bool) throws {
    let (samples, status, words) = try run(
      chip.name, address: chip.address, rate: chip.rate, hasPin: hasPin)
    #expect(Double(samples.count) > 5.5 * chip.rate)
    #expect(status.counters.busErrors == 0 && status.counters.stalls == 0)
    #expect(words.count == (hasPin ? 1 : 0))
    // As many looks as there are in these seconds tell the moment to a part of a period.
    let (worst, period) = try unevenness(samples.suffix(Int(1.5 * chip.rate)))
    #expect(abs(period * chip.rate - 1) < 0.02)
    print("\(chip.name) at \(chip.rate) Hz by time: within \(worst / period) periods of even")
    #expect(worst < 0.5 * period)
  }

  @Test("what a host missed of a short queue is said, and the next samples have their own times")
  func missed() throws {
    let (samples, status, _) = try run(
      "MPU9250", address: 0x68, rate: 1000, hasPin: false, away: 0.1)
    #expect(status.counters.stalls == 1 && status.counters.starts == 1)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { $0 < $1 })
    // 512 bytes are 42 samples: all of the tenth of a second are gone, and no other.
    let gaps = zip(samples, samples.dropFirst()).map { $1.seconds(since: $0) }.filter { $0 > 0.01 }
    #expect(gaps.count == 1)
    #expect((gaps.first ?? 0) > 0.1 && (gaps.first ?? 1) < 0.13)
  }

  @Test(
    "a host that was away takes all that has gathered, each with its own time",
    arguments: [true, false])
  func away(hasPin: Bool) throws {
    let (samples, status, _) = try run(hasPin: hasPin, away: 0.1)
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
      let (samples, status, _) = try run(
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
