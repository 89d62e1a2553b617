// Known elevations and QNH against an air of its own: a weather that wanders, air of another temperature, a receiver with
// errors of seconds and of hours.

import SensorTypes
import Testing

@testable import FusionCore

import Glibc

@Suite struct QNHTests {
  /// ICAO standard atmosphere (Doc 7488; the same in ISO 2533:1975, table 1): geopotential metres and hectopascals.
  static let table: [(height: Double, pressure: Double)] = [
    (-500, 1074.77), (0, 1013.25), (500, 954.61), (1000, 898.75), (2000, 794.95), (3000, 701.09),
    (4000, 616.40), (5000, 540.20), (8000, 356.00),
  ]

  @Test(arguments: table)
  func theStandardAtmosphereIsTheTables(height: Double, pressure: Double) {
    #expect(abs(StandardAtmosphere.pressure(altitude: height) / 100 - pressure) < 0.006)
    #expect(abs(StandardAtmosphere.altitude(pressure: pressure * 100) - height) < 0.2)
    // In the standard atmosphere every station gives the standard QNH.
    let qnh = StandardAtmosphere.qnh(stationPressure: pressure * 100, elevation: height)
    #expect(abs(qnh - 101_325) < 2.5)
    let back = StandardAtmosphere.stationPressure(qnh: 101_325, elevation: height)
    #expect(abs(back / 100 - pressure) < 0.006)
  }

  /// The National Weather Service's formula for the altimeter setting (Smithsonian Meteorological Tables, 6th edition,
  /// table 65), hectopascals; without its 0.3 hPa for an altimeter that sits 3 m above the ground.
  private func altimeterSetting(_ station: Double, _ elevation: Double) -> Double {
    let n = 0.190284
    let k = pow(1013.25, n) * 0.0065 / 288
    return station * pow(1 + k * elevation / pow(station, n), 1 / n)
  }

  @Test(arguments: [(1031.2, 12.0), (975, 150), (901.4, 1100), (834.2, 1707), (760, 2440)])
  func aStationsQNHIsItsAltimeterSetting(station: Double, elevation: Double) {
    let ours = StandardAtmosphere.qnh(stationPressure: station * 100, elevation: elevation) / 100
    let theirs = altimeterSetting(station, elevation)
    print("QNH at \(elevation) m: \(text(ours)), by the altimeter setting \(text(theirs)) hPa")
    // Their 288 K and rounded exponent make 0.2 hPa at 2440 m.
    #expect(abs(ours - theirs) < 0.05 + elevation * 1e-4)
    let back = StandardAtmosphere.stationPressure(qnh: ours * 100, elevation: elevation)
    #expect(abs(back / 100 - station) < 1e-6)
  }
}

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
  func run() -> (moments: [Moment], verdicts: [KnownHeightVerdict], last: AbsoluteAltitudeEstimator)
  {
    var noise = Noise(seed)
    var relative = RelativeAltitudeEstimator()
    var absolute = AbsoluteAltitudeEstimator()
    var (moments, verdicts): ([Moment], [KnownHeightVerdict]) = ([], [])
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

@Suite struct KnownHeightTests {
  private func board(_ altitude: Double?, seconds: ClosedRange<Int> = 0...120)
    -> AbsoluteAltitudeEstimator
  {
    var absolute = AbsoluteAltitudeEstimator()
    stand(&absolute, altitude, seconds)
    return absolute
  }

  /// Stands still, with fixes of an altitude where there is a receiver.
  @discardableResult
  private func stand(
    _ absolute: inout AbsoluteAltitudeEstimator, _ altitude: Double?, _ seconds: ClosedRange<Int>
  ) -> AbsoluteAltitudeEstimate? {
    var last: AbsoluteAltitudeEstimate?
    for second in seconds {
      let at = Timestamp(seconds: Double(second))
      last = absolute.update(
        AltitudeEstimate(time: at, relativeAltitude: 0, relativeAccuracy: 0.1, pressure: 90_000))
      if let altitude { absolute.update(altitude: altitude, accuracy: 3, at: at) }
    }
    return last
  }

  private func here(_ altitude: Double, _ accuracy: Double = 2, age: Double = 0) -> KnownHeight {
    KnownHeight(
      altitude: altitude, accuracy: accuracy, relativeAltitude: 0, age: age,
      witness: age > 0 ? .formerly : .here)
  }

  @Test("an elevation is worth what it was given for, and fades as the weather drifts")
  func fading() throws {
    var absolute = board(nil)
    #expect(stand(&absolute, nil, 121...130) == nil)
    #expect(absolute.update(here(1234), at: Timestamp(seconds: 130)) == .taken)
    let now = try #require(stand(&absolute, nil, 131...132))
    #expect(abs(now.altitude - 1234) < 0.2 && abs(now.accuracy - 2) < 0.5)
    #expect(now.fixTime == nil && now.knownTime == Timestamp(seconds: 130))
    for (hours, bar) in [(1.0, 6.896), (4, 13.351), (24, 32.394)] {
      let second = 130 + Int(hours * 3600)
      let then = try #require(stand(&absolute, nil, second...second))
      // The wind of the moment of the elevation is over, and there is another one: 3 m each are in the bar.
      let expected = (bar * bar + 18).squareRoot()
      #expect(abs(then.altitude - 1234) < 3.1 && abs(then.accuracy - expected) < 0.3)
    }
  }

  @Test("an elevation of an earlier run is worth what the weather has left of it")
  func earlier() throws {
    var absolute = board(nil)
    #expect(absolute.update(here(1234, age: 4 * 3600), at: Timestamp(seconds: 120)) == .taken)
    let now = try #require(stand(&absolute, nil, 121...121))
    // 2, 13.2 by the weather, and 3 each for the wind of then and of now.
    #expect(abs(now.accuracy - (4 + 174.24 + 18.0).squareRoot()) < 0.2)
    #expect(now.knownTime == Timestamp(seconds: 120 - 4 * 3600))
  }

  @Test("an elevation far from a receiver that has a fix is refused")
  func refusedByReceiver() throws {
    var absolute = board(850)
    guard
      case .contradictsReceiver(let difference) = absolute.update(
        here(1234), at: Timestamp(seconds: 120))
    else {
      Issue.record("taken")
      return
    }
    #expect(abs(difference - 384) < 3)
    let after = try #require(stand(&absolute, 850, 121...180))
    #expect(abs(after.altitude - 850) < 2 && after.knownTime == nil)
    // One within the receiver's own doubt is not.
    #expect(absolute.update(here(856), at: Timestamp(seconds: 180)) == .taken)
    let near = try #require(stand(&absolute, 850, 181...240))
    #expect(near.altitude > 852 && near.altitude < 857 && near.accuracy < 3)
  }

  @Test("a receiver that is far from an elevation for 30 s overrules it, not sooner")
  func overruled() throws {
    var absolute = board(nil)
    _ = absolute.update(here(1234), at: Timestamp(seconds: 120))
    let early = try #require(stand(&absolute, 850, 121...145))
    #expect(abs(early.altitude - 1234) < 2 && absolute.state.overruled == 0)
    let late = try #require(stand(&absolute, 850, 146...240))
    #expect(abs(late.altitude - 850) < 3 && late.knownTime == nil)
    #expect(absolute.state.overruled == 1 && abs(absolute.state.overruledBy + 384) < 5)
  }

  @Test("without a receiver the newest word is right")
  func newest() throws {
    var absolute = board(nil)
    _ = absolute.update(here(1234), at: Timestamp(seconds: 120))
    _ = stand(&absolute, nil, 121...130)
    guard case .replaced(let by) = absolute.update(here(123.4), at: Timestamp(seconds: 130)) else {
      Issue.record("not replaced")
      return
    }
    #expect(abs(by + 1110.6) < 1)
    let now = try #require(stand(&absolute, nil, 131...131))
    #expect(abs(now.altitude - 123.4) < 0.3 && now.accuracy < 3)
  }

  @Test(
    "a QNH again and again is no better than one, and a fixed board's elevation no better than it is"
  )
  func repetition() throws {
    for witness in [KnownHeight.Witness.elsewhere, .here] {
      var absolute = board(nil)
      var last: AbsoluteAltitudeEstimate?
      for second in 121...1000 {
        _ = absolute.update(
          KnownHeight(
            altitude: 100, accuracy: 8, relativeAltitude: 0, age: 0, witness: witness),
          at: Timestamp(seconds: Double(second)))
        last = stand(&absolute, nil, second...second)
      }
      #expect(try #require(last).accuracy > 7.9)
    }
  }

  @Test("a word again and again is worth what one is")
  func sameWord() throws {
    var absolute = board(nil)
    for second in 121...130 {
      _ = absolute.update(here(1234, 5), at: Timestamp(seconds: Double(second)))
      let now = try #require(stand(&absolute, nil, second...second))
      #expect(now.accuracy > 4.99)
    }
  }

  @Test("who corrects an elevation is believed, with no more accuracy; a poorer word is not")
  func corrected() throws {
    var absolute = board(nil)
    _ = absolute.update(here(1234, 5), at: Timestamp(seconds: 121))
    stand(&absolute, nil, 121...180)
    for (second, elevation) in [(180, 1226.0), (181, 1228)] {
      #expect(
        absolute.update(here(elevation, 5), at: Timestamp(seconds: Double(second))) == .taken)
      let now = try #require(stand(&absolute, nil, (second + 1)...(second + 1)))
      #expect(abs(now.altitude - elevation) < 0.3 && now.accuracy > 4.99)
    }
    #expect(absolute.update(here(1234, 9), at: Timestamp(seconds: 182)) == .notBetter)
    let now = try #require(stand(&absolute, nil, 183...183))
    #expect(abs(now.altitude - 1228) < 0.3)
  }

  @Test("what is no better than the receiver changes nothing, and is no part of it")
  func notBetter() throws {
    var (told, alone) = (board(850), board(850))
    let qnh = KnownHeight(
      altitude: 855, accuracy: 11, relativeAltitude: 0, age: 0, witness: .elsewhere)
    _ = told.update(qnh, at: Timestamp(seconds: 120))
    let now = try #require(stand(&told, 850, 121...240))
    #expect(now.knownTime == nil)
    #expect(now == stand(&alone, 850, 121...240))
  }

  @Test("an elevation in the place of what old fixes said names none of them, and has its 30 s")
  func replacedFixes() throws {
    // Nothing was heard for a minute; then once, and not believed, before the elevation came.
    for heard in [nil, 140] {
      var absolute = board(850)
      stand(&absolute, nil, 121...139)
      if let heard { stand(&absolute, 1300, heard...heard) }
      stand(&absolute, nil, 141...181)
      let verdict = absolute.update(here(1234), at: Timestamp(seconds: 181))
      guard case .replaced = verdict else {
        Issue.record("\(verdict)")
        return
      }
      let now = try #require(stand(&absolute, nil, 182...190))
      #expect(now.fixTime == nil && now.knownTime == Timestamp(seconds: 181))
      let early = try #require(stand(&absolute, 850, 191...219))
      #expect(abs(early.altitude - 1234) < 3 && early.fixTime == nil)
      #expect(absolute.state.overruled == 0)
      let late = try #require(stand(&absolute, 850, 220...300))
      #expect(abs(late.altitude - 850) < 5 && late.knownTime == nil && late.fixTime != nil)
      #expect(absolute.state.overruled == 1)
    }
  }

  @Test("what was known is forgotten, and found anew by the next fix")
  func forgetting() throws {
    var absolute = board(850)
    _ = absolute.update(here(852), at: Timestamp(seconds: 120))
    absolute.forgetLevel()
    #expect(stand(&absolute, nil, 121...125) == nil)
    let now = try #require(stand(&absolute, 850, 126...130))
    #expect(now.knownTime == nil && abs(now.altitude - 850) < 1)
  }

  @Test("numbers that are none are not used")
  func hostile() {
    var absolute = AbsoluteAltitudeEstimator()
    #expect(absolute.update(here(100), at: Timestamp(seconds: 1)) == .unusable)
    absolute = board(100)
    let before = absolute.state
    for bad in [Double.nan, .infinity, -.infinity, 1e300, -1e6] {
      for known in [
        here(bad), here(100, bad), here(100, age: bad),
        KnownHeight(
          altitude: 100, accuracy: 2, relativeAltitude: bad, age: 0, witness: .elsewhere),
      ] {
        #expect(absolute.update(known, at: Timestamp(seconds: 120)) == .unusable)
      }
    }
    #expect(absolute.state == before)
  }
}
