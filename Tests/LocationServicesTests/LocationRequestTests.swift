import SensorTypes
import Testing

@testable import LocationServices

/// M3: one location and no more, against a plain restatement of its rule.
struct LocationRequestTests {
  @Test("M3: exactly one answer, the right one, in 1,000 schedules of fixes, losses and stops")
  func schedules() {
    var (located, failed, cancelled, ignored) = (0, 0, 0, 0)
    for seed in UInt64(1)...1_000 {
      let schedule = RequestSchedule(seed: seed)
      let expected = schedule.expected()
      let heard = schedule.played()
      #expect(heard == expected.answers, "seed \(seed)")
      for answer in expected.answers {
        if answer.fix == nil { failed += 1 } else { located += 1 }
      }
      cancelled += expected.cancelled
      ignored += expected.ignored
    }
    print(
      "seeds 1 to 1000: \(located) located, \(failed) failed, \(cancelled) cancelled, \(ignored) ignored"
    )
    // All ways out were gone.
    #expect(located > 1_000 && failed > 100 && cancelled > 300 && ignored > 300)
  }

  @Test("M3: the first position of the desired accuracy answers, once, and the service ends")
  func desired() {
    var bench = RequestBench(desired: 10)
    bench.ask(.requestLocation)
    #expect(bench.engine.demand == Demand(location: true, locationInterval: 1))
    bench.fix(1, accuracy: 40, at: 1)
    bench.fix(2, accuracy: 10.1, at: 2)
    #expect(bench.heard.isEmpty)
    bench.fix(3, accuracy: 10, at: 3)
    #expect(bench.takeHeard() == [.init(fix: 3, seconds: 3)])
    #expect(bench.engine.demand == Demand())
    #expect(bench.engine.nextDeadline == nil)
    for second in 4...60 { bench.fix(second, accuracy: 1, at: Double(second)) }
    #expect(bench.heard.isEmpty)
  }

  @Test("M3: after ten seconds the best that was had answers; without any the first that comes")
  func patience() {
    var bench = RequestBench(desired: 5)
    bench.ask(.requestLocation)
    #expect(bench.engine.nextDeadline == Timestamp(seconds: 40))
    bench.fix(1, accuracy: 30, speed: 0, at: 1)
    bench.fix(2, accuracy: 12, speed: 0, at: 2)
    bench.fix(3, accuracy: 25, speed: 0, at: 3)
    #expect(bench.engine.nextDeadline == Timestamp(seconds: 10))
    bench.advance(9.999)
    #expect(bench.heard.isEmpty)
    bench.advance(10)
    #expect(bench.takeHeard() == [.init(fix: 2, seconds: 10)])

    bench.now = 100
    bench.ask(.requestLocation)
    bench.advance(139)
    bench.fix(4, accuracy: 300, at: 139.5)
    #expect(bench.takeHeard() == [.init(fix: 4, seconds: 139.5)])
  }

  @Test("M3: nothing for forty seconds is a failure, with the reason in words, and said once")
  func failure() {
    var bench = RequestBench(desired: 100)
    bench.ask(.requestLocation)
    bench.say(.locationUnavailable(.noFix, at: Timestamp(seconds: 1)))
    bench.say(.locationUnavailable(.sensorLost("unplugged"), at: Timestamp(seconds: 5)))
    bench.advance(39.9)
    #expect(bench.heard.isEmpty)
    bench.advance(40)
    bench.advance(41)
    #expect(bench.takeHeard() == [.init(fix: nil, seconds: 40)])
    #expect(bench.reasons == ["sensor lost: unplugged"])
    #expect(bench.engine.demand == Demand())
  }

  @Test("M3: of a board that moves the newest is the best, of one that stands the most accurate")
  func best() {
    for (speed, expected) in [(20.0, 3), (0, 1)] {
      var bench = RequestBench(desired: 2)
      bench.ask(.requestLocation)
      bench.fix(1, accuracy: 4, speed: speed, at: 1)
      bench.fix(2, accuracy: 9, speed: speed, at: 2)
      bench.fix(3, accuracy: 6, speed: speed, at: 3)
      bench.advance(10)
      #expect(bench.takeHeard() == [.init(fix: expected, seconds: 10)])
    }
  }

  @Test("M3 M4: the best answers when three seconds have brought nothing better, within ten metres")
  func settled() {
    var bench = RequestBench(desired: -1)
    bench.ask(.requestLocation)
    #expect(bench.engine.demand == Demand(location: true))
    for (second, accuracy) in [(1, 20.0), (2, 9), (3, 8.9), (4, 8.8)] {
      bench.fix(second, accuracy: accuracy, speed: 0, at: Double(second))
    }
    #expect(bench.heard.isEmpty)
    bench.fix(5, accuracy: 8.7, speed: 0, at: 5)
    #expect(bench.takeHeard() == [.init(fix: 5, seconds: 5)])
    // Coarse ones do not settle.
    bench.now = 100
    bench.ask(.requestLocation)
    for second in 1...9 {
      bench.fix(100 + second, accuracy: 15, speed: 0, at: 100 + Double(second))
    }
    #expect(bench.heard.isEmpty)
    bench.advance(110)
    #expect(bench.takeHeard().map(\.milliseconds) == [110_000])
  }

  @Test("M3: what is known answers at once where the board is still as near to it as is desired")
  func known() {
    // A hundred metres and thirty seconds on at 3 m/s: 90 m on its way, and 157 m of wandering with 10 m of accuracy,
    // sqrt(100 + 1.5096^2 (0.04 * 900 + 27000 / 3)) = 143.9: 233.9 m in all.
    for (desired, isAnswered) in [(233.0, false), (235, true)] {
      var bench = RequestBench(desired: desired)
      bench.fix(1, accuracy: 10, speed: 3, at: 0)
      bench.say(.locationUnavailable(.noFix, at: Timestamp(seconds: 2)))
      bench.now = 30
      bench.ask(.requestLocation)
      #expect(bench.takeHeard() == (isAnswered ? [.init(fix: 1, seconds: 30)] : []))
    }
  }

  @Test("M3: stop and start cancel a request; while updates run, or another waits, none begins")
  func conflicts() {
    var bench = RequestBench(desired: 10)
    bench.ask(.requestLocation)
    bench.ask(.stop(.location))
    #expect(bench.engine.demand == Demand())
    bench.fix(1, accuracy: 1, at: 1)
    bench.advance(100)
    #expect(bench.heard.isEmpty)

    bench.now = 100
    bench.ask(.requestLocation)
    bench.ask(.start(.location))
    bench.ask(.requestLocation)
    bench.fix(2, accuracy: 1, at: 101)
    bench.advance(200)
    #expect(bench.heard.isEmpty)
    #expect(bench.updates == [2])
    bench.ask(.stop(.location))

    bench.now = 300
    bench.ask(.requestLocation)
    bench.now = 305
    bench.ask(.requestLocation)
    bench.fix(3, accuracy: 50, at: 306)
    bench.advance(310)
    bench.advance(400)
    #expect(bench.takeHeard() == [.init(fix: 3, seconds: 310)])

    bench.now = 500
    bench.ask(.requestLocation)
    bench.ask(.release)
    bench.fix(4, accuracy: 1, at: 501)
    bench.advance(600)
    #expect(bench.heard.isEmpty)
  }

  @Test("a position without accuracy answers nothing; one of another board neither")
  func worthless() {
    var bench = RequestBench(desired: 100)
    bench.ask(.requestLocation)
    bench.fix(1, accuracy: nil, at: 1)
    bench.fix(2, accuracy: 500, at: 2)
    bench.engine.forgetObservations()
    bench.advance(10)
    #expect(bench.heard.isEmpty)
    bench.fix(3, accuracy: 50, at: 11)
    #expect(bench.takeHeard() == [.init(fix: 3, seconds: 11)])
  }
}
