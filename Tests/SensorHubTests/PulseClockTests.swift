import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

/// Which epochs get a moment from the pulse, and that it is theirs: on a clock that goes wrong by a known rate.
struct PulseClockTests {
  /// A receiver on a host, by the second of UTC. Rises, falls and messages are in seconds of UTC; the host's clock goes by
  /// `rate`.
  private struct Scene {
    var seconds = 20
    /// Epochs a second, and from each to its message.
    var epochs = 1
    var latency: (_ utc: Double) -> Double = { _ in 0.05 }
    /// Between which moments the line is high.
    var pulses: (_ second: Int) -> [ClosedRange<Double>] = { [Double($0)...(Double($0) + 0.1)] }
    var hasFix: (_ utc: Double) -> Bool = { _ in true }
    /// What the receiver calls a moment.
    var said: (_ utc: Double) -> Double = { $0 }
    var isTimeOfDay = false
    /// A host's second as a share of the true one, less 1.
    var rate = 0.0
    /// A moment from which on the host is away for so long.
    var away: (from: Double, seconds: Double)?
    /// UTC at the start, a day's length before midnight or whatever.
    var start = 1_795_000_000.0
    /// How often the host looks at the line besides.
    var looks = 10

    struct Outcome {
      var utc: Double
      var received: Double
      /// Of the moment that was given, seconds; `nil` where none was.
      var error: Double?
      var state: PulseState
    }

    func host(_ utc: Double) -> Timestamp { Timestamp(seconds: 1_000 + utc * (1 + rate)) }

    func run() -> [Outcome] {
      var clock = PulseClock()
      let pulses = (0..<(seconds + 2)).flatMap(self.pulses)
        .sorted { $0.lowerBound < $1.lowerBound }[...]
      var messages = (0..<(seconds * epochs)).map { index -> (utc: Double, at: Double) in
        let utc = Double(index) / Double(epochs)
        return (utc, utc + latency(utc))
      }.sorted { ($0.at, $0.utc) < ($1.at, $1.utc) }[...]
      var looks = Set((0..<((seconds + 2) * self.looks)).map { Double($0) / Double(self.looks) })
      for message in messages { looks.insert(message.at) }
      if let away {
        looks = looks.filter { $0 < away.from || $0 >= away.from + away.seconds }
        looks.insert(away.from + away.seconds)
      }
      var outcomes: [Outcome] = []
      var (rises, highs) = (pulses, pulses)
      for now in looks.sorted() {
        let edges = rises.prefix { $0.lowerBound <= now }
        rises = rises.dropFirst(edges.count)
        highs = highs.drop { $0.upperBound < now }
        clock.take(
          edge: edges.map(\.lowerBound).max().map(host), count: edges.count, at: host(now))
        if clock.isLookDue(at: host(now)) {
          clock.saw(isHigh: highs.prefix { $0.lowerBound <= now }.contains { $0.contains(now) })
        }
        while let message = messages.first, message.at <= now {
          messages.removeFirst()
          var fix = GNSSFix(
            received: host(now), mode: hasFix(message.utc) ? .threeDimensional : .none)
          let utc = start + said(message.utc)
          if isTimeOfDay {
            fix.timeOfDay = utc.truncatingRemainder(dividingBy: 86_400)
          } else {
            fix.utc = utc
          }
          let moment = clock.moment(of: fix)
          outcomes.append(
            Outcome(
              utc: message.utc, received: now,
              error: moment?.seconds(since: host(message.utc)), state: clock.state))
        }
      }
      return outcomes
    }
  }

  private func uses(_ outcomes: [Scene.Outcome]) -> Int { outcomes.count { $0.error != nil } }

  /// The worst error of the moments that were given.
  private func worst(_ outcomes: [Scene.Outcome]) -> Double {
    outcomes.compactMap { $0.error.map(abs) }.max() ?? 0
  }

  @Test(
    "epochs at every rate and latency get their moments, to a microsecond",
    arguments: [1, 2, 5, 10, 25], [0.002, 0.04, 0.3, 0.74, 0.97])
  func clean(epochs: Int, latency: Double) {
    for rate in [0, 400e-6, -400e-6] {
      var scene = Scene()
      (scene.epochs, scene.latency, scene.rate) = (epochs, { _ in latency }, rate)
      let outcomes = scene.run()
      #expect(worst(outcomes) < 1e-6)
      #expect(outcomes.filter { $0.received >= 5 }.allSatisfy { $0.error != nil })
      #expect(outcomes.allSatisfy { $0.state == .waiting || $0.state == .inUse })
      // Three good seconds, and not one less.
      #expect(outcomes.filter { $0.received < 3 }.allSatisfy { $0.error == nil })
    }
  }

  @Test("an epoch that lies a little before the second, and a day's end, are no matter")
  func edges() {
    var scene = Scene()
    // 2026-11-18 23:59:53 UTC.
    scene.start = 1_795_046_393
    #expect(Int(scene.start) % 86_400 == 86_393)
    scene.said = { $0 - 0.0002 }
    for isTimeOfDay in [false, true] {
      scene.isTimeOfDay = isTimeOfDay
      let outcomes = scene.run()
      #expect(uses(outcomes) >= 15)
      #expect(outcomes.allSatisfy { abs(($0.error ?? -0.0002) + 0.0002) < 1e-6 })
    }
  }

  @Test("before the receiver has its time a pulse says nothing, and nothing is said of it")
  func noFix() {
    var scene = Scene()
    // Its own clock's pulses, 0.3 s late, until the fix.
    scene.hasFix = { $0 >= 10 }
    scene.pulses = { [Double($0) + ($0 < 10 ? 0.3 : 0)...Double($0) + ($0 < 10 ? 0.4 : 0.1)] }
    let outcomes = scene.run()
    #expect(outcomes.filter { $0.utc < 13 }.allSatisfy { $0.error == nil && $0.state == .waiting })
    #expect(uses(outcomes) == 7 && worst(outcomes) < 1e-6)
    // Lost again: not used from the first epoch without a fix.
    scene.pulses = { [Double($0)...Double($0) + 0.1] }
    scene.hasFix = { $0 < 8 || $0 >= 12 }
    let gap = scene.run()
    #expect(gap.filter { (8..<15).contains($0.utc) }.allSatisfy { $0.error == nil })
    #expect(gap.allSatisfy { $0.state == .waiting || $0.state == .inUse })
    #expect(gap.last?.state == .inUse)
    // A pulse that stops a second before the word that the fix is gone, as in a tunnel, is no fault of its wire.
    scene = Scene(seconds: 60, epochs: 5)
    scene.hasFix = { $0 < 20 || $0 >= 40 }
    scene.pulses = { (19..<40).contains($0) ? [] : [Double($0)...Double($0) + 0.1] }
    let tunnel = scene.run()
    #expect(tunnel.allSatisfy { $0.state == .waiting || $0.state == .inUse })
    #expect(tunnel.filter { $0.utc >= 44 }.allSatisfy { $0.error != nil })
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let fault: PulseRejection
    let pulses: @Sendable (Int) -> [ClosedRange<Double>]
  }

  static let faulty = [
    Bad(testDescription: "dead", fault: .missing) { _ in [] },
    Bad(testDescription: "double, 50 us apart", fault: .irregular) {
      let second = Double($0)
      return [second...(second + 20e-6), (second + 50e-6)...(second + 0.1)]
    },
    Bad(testDescription: "double, 2 ms apart", fault: .irregular) {
      let second = Double($0)
      return [second...(second + 1e-3), (second + 2e-3)...(second + 0.1)]
    },
    Bad(testDescription: "double, 300 ms apart", fault: .irregular) {
      let second = Double($0)
      return [second...(second + 0.1), (second + 0.3)...(second + 0.4)]
    },
    Bad(testDescription: "double, 500 ms apart", fault: .irregular) {
      let second = Double($0)
      return [second...(second + 0.1), (second + 0.5)...(second + 0.6)]
    },
    Bad(testDescription: "10 Hz", fault: .irregular) { second in
      (0..<10).map { Double(second) + Double($0) / 10...Double(second) + Double($0) / 10 + 0.05 }
    },
    Bad(testDescription: "2 s apart", fault: .irregular) {
      $0 % 2 == 0 ? [Double($0)...(Double($0) + 0.1)] : []
    },
    Bad(testDescription: "of the other polarity", fault: .inverted) {
      [(Double($0) + 0.1)...(Double($0) + 1)]
    },
    Bad(testDescription: "of the other polarity, 1 ms long", fault: .inverted) {
      [(Double($0) + 0.001)...(Double($0) + 1)]
    },
    Bad(testDescription: "600 ppm off", fault: .irregular) {
      let second = Double($0) * (1 + 600e-6)
      return [second...(second + 0.1)]
    },
    Bad(testDescription: "jittering by 2 ms", fault: .irregular) {
      let second = Double($0) + ($0 % 2 == 0 ? 0.002 : 0)
      return [second...(second + 0.1)]
    },
  ]

  @Test(
    "what no receiver's pulse is is never used, and known after four seconds", arguments: faulty)
  func notUsed(_ bad: Bad) {
    for (epochs, latency) in [(1, 0.05), (5, 0.05), (5, 0.6), (1, 0.95)] {
      var scene = Scene()
      (scene.epochs, scene.latency) = (epochs, { _ in latency })
      scene.pulses = bad.pulses
      let outcomes = scene.run()
      #expect(uses(outcomes) == 0)
      #expect(outcomes.filter { $0.received < 4 }.allSatisfy { $0.state == .waiting })
      #expect(outcomes.last?.state == .unusable(bad.fault))
      // And in the middle of a good run: the last one that is used is good.
      scene.seconds = 40
      scene.pulses = { (10..<25).contains($0) ? bad.pulses($0) : [Double($0)...Double($0) + 0.1] }
      let between = scene.run()
      #expect(worst(between) < 1e-6)
      #expect(between.filter { (12..<25).contains($0.utc) }.allSatisfy { $0.error == nil })
      #expect(between.contains { $0.state == .unusable(bad.fault) })
      #expect(between.last?.state == .inUse)
    }
  }

  @Test("one lost pulse costs the epochs of its second, and ten good ones are wanted then")
  func lostPulse() {
    var scene = Scene(seconds: 40, epochs: 5)
    scene.pulses = { $0 == 10 ? [] : [Double($0)...Double($0) + 0.1] }
    let outcomes = scene.run()
    #expect(worst(outcomes) < 1e-6)
    #expect(outcomes.filter { (5..<10).contains($0.utc) }.allSatisfy { $0.error != nil })
    #expect(outcomes.filter { (10..<21).contains($0.utc) }.allSatisfy { $0.error == nil })
    #expect(outcomes.filter { $0.utc >= 22 }.allSatisfy { $0.error != nil })
    var states: [PulseState] = []
    for outcome in outcomes where outcome.state != states.last { states.append(outcome.state) }
    #expect(states == [.waiting, .inUse, .waiting, .unusable(.irregular), .inUse])
  }

  @Test("a receiver that corrects its seconds is not believed until it has lost its fix")
  func correction() {
    var scene = Scene(seconds: 40)
    // Two leap seconds that it did not know of.
    scene.said = { $0 - ($0 < 15 ? 0 : 2) }
    let outcomes = scene.run()
    #expect(worst(outcomes) < 1e-6)
    #expect(outcomes.filter { $0.utc >= 15 }.allSatisfy { $0.error == nil })
    #expect(outcomes.last?.state == .unusable(.unmatched))
    scene.hasFix = { !(20..<22).contains($0) }
    let again = scene.run()
    #expect(worst(again) < 1e-6)
    #expect(again.last?.state == .inUse)
    // One whose time goes on by itself is never believed.
    scene.said = { $0 * 1.5 }
    #expect(uses(scene.run()) == 0)
  }

  @Test(
    "messages that come to be later than a second are never paired with another's pulse",
    arguments: [1, 5], [0.05, 0.3, 0.8, 0.97])
  func late(epochs: Int, before: Double) {
    for late in stride(from: 1.02, through: 3.2, by: 0.11) {
      var scene = Scene(seconds: 60, epochs: epochs)
      scene.latency = { $0 < 15 || $0 >= 35 ? before : late }
      let outcomes = scene.run()
      #expect(worst(outcomes) < 1e-6, "\(late) s")
      #expect(outcomes.filter { (16..<34).contains($0.utc) }.allSatisfy { $0.error == nil })
      #expect(outcomes.contains { $0.state == .unusable(.unmatched) })
      #expect(outcomes.last?.state == .inUse, "\(late) s")
    }
  }

  @Test(
    "a second that was known stays known, however long nothing is used", arguments: [700, 2_000],
    [0, 100e-6, -100e-6])
  func knownForLong(seconds: Int, rate: Double) {
    let end = Double(seconds)
    // Late to the end; then with a wire that is off for a while meanwhile; then in time again after all.
    for kind in 0..<3 {
      var scene = Scene(seconds: seconds)
      scene.rate = rate
      scene.latency = { $0 < 15 || (kind == 2 && $0 >= end - 60) ? 0.05 : 1.3 }
      if kind == 1 {
        scene.pulses = { (100..<160).contains($0) ? [] : [Double($0)...Double($0) + 0.1] }
      }
      let outcomes = scene.run()
      #expect(worst(outcomes) < 1e-6)
      #expect(outcomes.filter { (16..<end - 60).contains($0.utc) }.allSatisfy { $0.error == nil })
      #expect(outcomes.last?.state == (kind == 2 ? .inUse : .unusable(.unmatched)))
    }
    // A receiver that has corrected its seconds.
    var scene = Scene(seconds: seconds)
    scene.rate = rate
    scene.said = { $0 - ($0 < 15 ? 0 : 2) }
    let outcomes = scene.run()
    #expect(outcomes.filter { $0.utc >= 15 }.allSatisfy { $0.error == nil })
    #expect(outcomes.last?.state == .unusable(.unmatched))
  }

  @Test("a host that was away reads messages late, and gives none of them another's moment")
  func away() {
    for epochs in [1, 5, 10] {
      for seconds in stride(from: 0.1, through: 3.5, by: 0.17) {
        for place in stride(from: 10.0, to: 11, by: 0.13) {
          var scene = Scene(seconds: 30, epochs: epochs)
          scene.away = (place, seconds)
          let outcomes = scene.run()
          #expect(worst(outcomes) < 1e-6, "\(seconds) s from \(place)")
          #expect(outcomes.last?.state == .inUse, "\(seconds) s from \(place)")
        }
      }
    }
  }

  @Test("where epochs are rare the third has its moment, and nothing is said before")
  func slow() {
    for interval in [60, 5, 2] {
      var clock = PulseClock()
      var given: [Timestamp?] = []
      for second in 0..<(8 * interval) {
        let edge = Timestamp(seconds: Double(second))
        clock.take(edge: edge, count: 1, at: edge.advanced(bySeconds: 0.01))
        if second % interval == 0 {
          var fix = GNSSFix(
            received: Timestamp(seconds: Double(second) + 0.06), mode: .twoDimensional)
          fix.utc = 1_795_000_000 + Double(second)
          given.append(clock.moment(of: fix))
          #expect(clock.state == .waiting || clock.state == .inUse)
        }
        for step in [0.25, 0.5, 0.75] {
          let look = edge.advanced(bySeconds: step)
          clock.take(edge: nil, count: 0, at: look)
          if clock.isLookDue(at: look) { clock.saw(isHigh: false) }
        }
      }
      for (place, moment) in given.enumerated() {
        #expect(moment == (place < 2 ? nil : Timestamp(seconds: Double(place * interval))))
      }
    }
  }

  @Test(
    "whatever comes on the line, no epoch gets a moment that is not its own", arguments: 0..<200)
  func noise(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var scene = Scene(seconds: 120, epochs: [1, 1, 5, 10][seed % 4])
    let latency = 0.02 + 0.6 * random.unit()
    let jitter = 0.2 * random.unit()
    let delays = (0..<1_200).map { _ in latency + jitter * random.unit() }
    let epochs = Double(scene.epochs)
    scene.latency = { delays[Int(($0 * epochs).rounded())] }
    scene.rate = 300e-6 * random.symmetric()
    // Quiet stretches of some seconds between disturbed ones.
    var isBad = false
    var lines: [[ClosedRange<Double>]] = []
    for second in 0..<(scene.seconds + 2) {
      if random.unit() < 0.1 { isBad.toggle() }
      let true0 = Double(second)
      var pulses = [true0...(true0 + 0.1)]
      if isBad, random.unit() < 0.5 {
        if random.unit() < 0.3 { pulses.removeAll() }
        for _ in 0..<Int(3 * random.unit()) {
          let rise = true0 + 0.11 + 0.8 * random.unit()
          pulses.append(rise...(rise + 0.08 * random.unit()))
        }
      }
      lines.append(pulses)
    }
    scene.pulses = { lines[$0] }
    let outcomes = scene.run()
    #expect(worst(outcomes) < 1e-6)
    #expect(uses(outcomes) > 0)
  }
}
