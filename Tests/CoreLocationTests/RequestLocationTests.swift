import FacadeTestSupport
import SensorTypes
import Testing

@testable import CoreLocation

struct RequestLocationTests {
  @Test("M3: one location of the desired accuracy, and the service ends")
  func located() async {
    let result = await onThread {
      let bench = PositionBench()
      bench.manager.desiredAccuracy = kCLLocationAccuracyNearestTenMeters
      bench.manager.requestLocation()
      bench.fix(50, accuracy: 30, at: 1_001)
      bench.fix(51, accuracy: 8, at: 1_002)
      bench.fix(52, accuracy: 1, at: 1_003)
      bench.settle()
      let isOff = bench.source.waits(for: Demand())
      return (bench.calls, bench.latitudes, bench.source.demands, isOff)
    }
    #expect(result.0 == ["locations"])
    #expect(result.1 == [[51]])
    #expect(result.2.contains(Demand(location: true, locationInterval: 1)))
    #expect(result.3)
  }

  @Test(
    "M3: the best of ten seconds, by the clock alone; after forty without any an error with the reason"
  )
  func timeouts() async {
    let result = await onThread {
      let bench = PositionBench()
      bench.manager.requestLocation()
      bench.fix(50, accuracy: 30, at: 1_001)
      bench.time.advance(to: 1_009.9)
      bench.settle()
      let early = bench.calls
      bench.time.advance(to: 1_010)
      turn { bench.calls.count == 1 }
      bench.time.advance(to: 2_000)
      bench.manager.requestLocation()
      bench.source.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: 2_001)))
      bench.time.advance(to: 2_039)
      bench.settle()
      let waiting = bench.calls
      bench.time.advance(to: 2_040)
      turn { bench.calls.count == 2 }
      return (early, waiting, bench.spy.log, bench.latitudes, bench.source.waits(for: Demand()))
    }
    #expect(result.0.isEmpty)
    #expect(result.1 == ["locations"])
    #expect(result.2.errors == [.locationUnknown])
    #expect(result.2.reasons == ["no fix"])
    #expect(result.3 == [[50]])
    #expect(result.4)
  }

  @Test("M3: stop cancels, also an answer that waits; start does, and updates take its place")
  func cancellation() async {
    let result = await onThread {
      let bench = PositionBench()
      bench.manager.desiredAccuracy = 100
      bench.manager.requestLocation()
      bench.manager.stopUpdatingLocation()
      bench.fix(50, at: 1_001)
      bench.manager.requestLocation()
      bench.fix(51, at: 1_002)
      // The answer is in the letter box.
      bench.manager.stopUpdatingLocation()
      bench.settle()
      let stopped = bench.calls
      bench.manager.requestLocation()
      bench.manager.startUpdatingLocation()
      bench.fix(52, at: 1_003)
      bench.settle()
      bench.time.advance(to: 1_100)
      bench.settle()
      bench.manager.requestLocation()
      bench.fix(53, at: 1_101)
      bench.settle()
      return (stopped, bench.latitudes)
    }
    #expect(result.0.isEmpty)
    // What is known comes with the start; the request before it had the same answer ready.
    #expect(result.1.flatMap { $0 } == [51, 52, 53])
  }

  @Test("M3: a request that waits for its delegate is one with the next; each answer comes alone")
  func repetition() async {
    let result = await onThread {
      let bench = PositionBench()
      bench.manager.desiredAccuracy = 100
      for step in 0..<3 {
        bench.manager.requestLocation()
        bench.fix(50 + Double(step), at: 1_001 + Double(step))
      }
      bench.settle()
      let once = bench.latitudes
      bench.manager.requestLocation()
      bench.settle()
      return (once, bench.latitudes)
    }
    #expect(result.0 == [[50]])
    // The newest is two seconds old: it answers at once.
    #expect(result.1 == [[50], [52]])
  }

  @Test("M3: asked again by each answer, a delegate is answered as often, whatever comes between")
  func fromDelegate() async {
    let latitudes = await onThread {
      final class Asker: NSObject, CLLocationManagerDelegate {
        var latitudes: [[Double]] = []
        func locationManager(
          _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
        ) {
          latitudes.append(locations.map(\.coordinate.latitude))
          if latitudes.count < 3 { manager.requestLocation() }
        }
      }
      let bench = PositionBench()
      let asker = Asker()
      bench.manager.desiredAccuracy = 100
      bench.manager.delegate = asker
      bench.manager.requestLocation()
      bench.fix(50, at: 1_001)
      turn { asker.latitudes.count == 3 }
      bench.fix(51, at: 1_002)
      bench.manager.delegate = bench.spy
      bench.settle()
      return (asker.latitudes, bench.calls)
    }
    #expect(latitudes.0 == [[50], [50], [50]])
    #expect(latitudes.1.isEmpty)
  }

  // What may be heard: nothing unasked, and one answer to each request that is not cancelled.
  @Test(
    "M3: a delegate hears exactly one answer in 1,000 schedules of fixes, losses, timeouts and stops"
  )
  func schedules() async {
    let result = await onThread {
      var (wrong, located, failed, cancelled) = ([UInt64](), 0, 0, 0)
      for seed in UInt64(1)...1_000 {
        var dice = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func roll(_ count: UInt64) -> UInt64 {
          dice ^= dice << 13
          dice ^= dice >> 7
          dice ^= dice << 17
          return (dice >> 33) % count
        }
        let bench = PositionBench()
        let desired = [kCLLocationAccuracyBest, 10, 100, 3_000]
        bench.manager.desiredAccuracy = desired[Int(roll(4))]
        bench.manager.pausesLocationUpdatesAutomatically = false
        let sky = roll(5)
        var (time, isOutstanding, isUpdating, heard) = (1_000.0, false, false, 0)
        func listen() {
          bench.runtime.wait()
          for _ in 0..<3 { _ = RunLoop.current.run(mode: .default, before: Date()) }
          let new = bench.calls.dropFirst(heard)
          heard += new.count
          guard !isUpdating, !new.isEmpty else { return }
          if new.count > 1 || !isOutstanding { wrong.append(seed) }
          isOutstanding = false
          if new.first == "error" {
            failed += 1
          } else {
            located += 1
            if bench.spy.log.locations.last?.count != 1 { wrong.append(seed) }
          }
        }
        for _ in 0..<40 {
          switch roll(10) {
          case 0, 1:
            bench.manager.requestLocation()
            isOutstanding = isOutstanding || !isUpdating
          case 2 where roll(2) == 0:
            if isOutstanding { cancelled += 1 }
            (isOutstanding, isUpdating) = (false, false)
            bench.manager.stopUpdatingLocation()
          case 3 where roll(8) == 0:
            if isOutstanding { cancelled += 1 }
            (isOutstanding, isUpdating) = (false, true)
            bench.manager.startUpdatingLocation()
          case 4, 5, 6, 7:
            time += Double(roll(4_000)) / 1_000
            if roll(5) < sky {
              bench.fix(50, accuracy: Double(2 + roll(200)), at: time)
            } else {
              bench.time.advance(to: time)
              bench.source.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: time)))
            }
          case 8:
            time += Double(roll(30))
            bench.time.advance(to: time)
          default: listen()
          }
        }
        listen()
        bench.time.advance(to: time + 100)
        listen()
        if isOutstanding { wrong.append(seed) }
      }
      return (wrong, located, failed, cancelled)
    }
    print("seeds 1 to 1000: \(result.1) located, \(result.2) failed, \(result.3) cancelled")
    #expect(result.0.isEmpty, "seeds")
    #expect(result.1 > 500 && result.2 > 100 && result.3 > 100)
  }

  @Test("a client that asks and stops for ever leaves a handful of alarms behind")
  func alarms() async {
    let waiting = await onThread {
      let bench = PositionBench()
      for step in 0..<1_000 {
        bench.manager.requestLocation()
        bench.fix(50, accuracy: 500, at: 1_000 + Double(step) / 100)
        bench.manager.stopUpdatingLocation()
      }
      return bench.time.waiting
    }
    #expect(waiting < 5)
  }
}
