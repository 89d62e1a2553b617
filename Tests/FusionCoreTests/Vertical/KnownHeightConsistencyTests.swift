// Known elevations and QNH against an air of its own: a weather that wanders, air of another temperature, a receiver with
// errors of seconds and of hours.

import Glibc
import SensorTypes
import Testing

@testable import FusionCore

/// A board on a hill for hours, in an air of its own.
struct KnownHeightRun {
  var seed: UInt64
  var hours = 3.0
  var hasReceiver = false
  /// When and how well the elevation is known; the truth plus an error of that size.
  var anchor: (at: Double, accuracy: Double)?
  /// When a QNH of a station at that elevation comes.
  var qnh: (at: Double, station: Double)?
  /// Minutes in which the receiver hears nothing.
  var lost: ClosedRange<Double>?
  var start = 800.0

  struct Moment {
    var minute: Double
    var error: Double
    var accuracy: Double
  }

  /// What was published, once a minute, and what became of what was given.
  func run() -> (
    moments: [Moment], verdicts: [KnownHeightResult], last: AbsoluteAltitudeEstimator
  ) {
    var noise = Noise(seed)
    var relative = RelativeAltitudeEstimator()
    var absolute = AbsoluteAltitudeEstimator()
    var (moments, verdicts): ([Moment], [KnownHeightResult]) = ([], [])
    // 6.6 m per root hour near 900 hPa: what the filter takes for granted.
    var weather = 800 * noise.normal()
    let warmth = 1 + 0.035 * noise.normal()
    let chip = 100 * noise.normal()
    let slow = 2.4 * noise.normal()
    var fast = noise.normal()
    var (anchorDone, qnhDone) = (anchor == nil, qnh == nil)
    let seconds = Int(hours * 3600)
    for i in 0..<seconds {
      let t = Double(i)
      weather += 73 * (1 / 3600.0).squareRoot() * noise.normal()
      let height = start + 60 * (1 - cos(t / 700))
      // Layers are thicker or thinner than the standard ones, from the sea up.
      let real = StandardAtmosphere.pressure(
        altitude: height / warmth + StandardAtmosphere.altitude(pressure: 101_325 + weather))
      let at = Timestamp(seconds: 50 + t)
      guard
        let estimate = relative.update(
          pressure: real + chip + noise.normal(), at: at)
      else { continue }
      if let all = absolute.update(estimate), i % 60 == 59 {
        moments.append(
          Moment(minute: t / 60, error: all.altitude - height, accuracy: all.accuracy))
      }
      if let anchor, !anchorDone, t >= anchor.at {
        anchorDone = true
        verdicts.append(
          absolute.update(
            KnownHeight(
              altitude: height + anchor.accuracy * noise.normal(), accuracy: anchor.accuracy,
              relativeAltitude: estimate.relativeAltitude, age: 0, witness: .here), at: at))
      }
      if let qnh, !qnhDone, t >= qnh.at {
        qnhDone = true
        let pressure = StandardAtmosphere.pressure(
          altitude: qnh.station / warmth + StandardAtmosphere.altitude(pressure: 101_325 + weather))
        // Distance and barometer of the station, and rounding down; given back the half.
        let exact = StandardAtmosphere.qnh(
          stationPressure: pressure + 86 * noise.normal(), elevation: qnh.station)
        let given = (exact / 100).rounded(.down) * 100 + 50
        let there = StandardAtmosphere.stationPressure(qnh: given, elevation: qnh.station)
        let slope = relative.metresPerPascal(atPressure: there) ?? 0
        let here = relative.metresPerPascal(atPressure: estimate.pressure) ?? 0
        verdicts.append(
          absolute.update(
            KnownHeight(
              altitude: qnh.station,
              accuracy: (8100 * slope * slope + 10_000 * here * here).squareRoot(),
              relativeAltitude: relative.relativeAltitude(atPressure: there) ?? 0, age: 0,
              witness: .elsewhere), at: at))
      }
      if hasReceiver, !(lost?.contains(t / 60) ?? false) {
        fast = fast * exp(-1 / 30.0) + (1 - exp(-2 / 30.0)).squareRoot() * noise.normal()
        let fix = height + slow + 2.4 * fast + noise.normal()
        absolute.update(altitude: fix, accuracy: 2.4, at: at)
      }
    }
    return (moments, verdicts, absolute)
  }
}

@Suite struct KnownHeightConsistencyTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var make: @Sendable (UInt64) -> KnownHeightRun
  }

  static let cases = [
    Case(testDescription: "elevation +- 2 m alone") {
      KnownHeightRun(seed: $0, anchor: (60, 2))
    },
    Case(testDescription: "receiver alone") { KnownHeightRun(seed: $0, hasReceiver: true) },
    Case(testDescription: "elevation +- 2 m, receiver") {
      KnownHeightRun(seed: $0, hasReceiver: true, anchor: (300, 2))
    },
    Case(testDescription: "elevation +- 2 m, receiver lost from the tenth minute") {
      KnownHeightRun(seed: $0, hasReceiver: true, anchor: (300, 2), lost: 10...999)
    },
    Case(testDescription: "QNH of a station at the sea alone") {
      KnownHeightRun(seed: $0, qnh: (60, 0))
    },
    Case(testDescription: "QNH of a station near by alone") {
      KnownHeightRun(seed: $0, qnh: (60, 700))
    },
    Case(testDescription: "QNH of a station at the sea, receiver") {
      KnownHeightRun(seed: $0, hasReceiver: true, qnh: (300, 0))
    },
    Case(testDescription: "elevation +- 2 m, an hour later a QNH near by") {
      KnownHeightRun(seed: $0, anchor: (60, 2), qnh: (3660, 700))
    },
  ]

  static let seeds: ClosedRange<UInt64> = 1...60

  /// One sigma holds the truth in 68 % of the runs, 1.96 in 95: the runs are independent, the minutes of one are not.
  @Test(arguments: cases)
  func theTruthIsInsideTheBar(_ test: Case) {
    var (inside, count, nees) = (0.0, 0.0, 0.0)
    var at: [Double: (square: Double, bar: Double)] = [:]
    var rejected = 0
    for seed in Self.seeds {
      let result = test.make(seed).run()
      // An hour after an elevation a QNH is no better, which is no refusal.
      rejected += result.verdicts.filter { $0 != .taken && $0 != .notBetter }.count
      for moment in result.moments where moment.minute > 7 {
        let ratio = moment.error / moment.accuracy
        nees += ratio * ratio
        inside += abs(ratio) <= 1.96 ? 1 : 0
        count += 1
        let minute = moment.minute.rounded()
        if [10, 30, 60, 120, 175].contains(minute) {
          at[minute, default: (0, 0)].square += moment.error * moment.error
          at[minute, default: (0, 0)].bar += moment.accuracy
        }
      }
    }
    let runs = Double(Self.seeds.count)
    let figures = at.sorted { $0.key < $1.key }.map {
      "\(Int($0.key)) min \(text(($0.value.square / runs).squareRoot())) (bar \(text($0.value.bar / runs)))"
    }
    print(
      "\(test.testDescription): inside \(text(inside / count)), NEES \(text(nees / count)), rms error m: "
        + figures.joined(separator: ", "))
    #expect(rejected == 0)
    #expect(inside / count >= 0.93)
    // 60 runs, each a walk: the mean square of a sigma that is true is within 40 % of 1 in 98 cases of 100; a receiver's
    // least slow error is a bound and not a spread, so below there is room.
    #expect(nees / count < 1.4)
  }
}

extension KnownHeightConsistencyTests {
  /// What an elevation teaches of a receiver, in many short runs of one whose fast and slow errors are each as large as
  /// what it states.
  @Test func anElevationCorrectsAReceiver() {
    var (squares, bars) = (SIMD2<Double>.zero, SIMD2<Double>.zero)
    let seeds: ClosedRange<UInt64> = 7_001...7_250
    for seed in seeds {
      var run = KnownHeightRun(seed: seed, hours: 0.17, hasReceiver: true)
      for index in 0..<2 {
        run.anchor = index == 0 ? nil : (300, 2)
        guard let last = run.run().moments.last else { continue }
        squares[index] += last.error * last.error / Double(seeds.count)
        bars[index] += last.accuracy * last.accuracy / Double(seeds.count)
      }
    }
    print(
      "receiver alone: rms \(text(squares[0].squareRoot())) m, bar \(text(bars[0].squareRoot())); "
        + "five minutes after an elevation: rms \(text(squares[1].squareRoot())) m, "
        + "bar \(text(bars[1].squareRoot()))")
    #expect(squares[1] < squares[0])
    // What such a receiver exceeds its own bar by it still does; the elevation adds nothing to that. A mean of 250
    // squares of 2.7 m has a standard error of 0.65.
    #expect(squares[1] - bars[1] < squares[0] - bars[0] + 0.65)
  }
}
