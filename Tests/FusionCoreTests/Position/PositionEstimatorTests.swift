// Simulated carriers, whose place is known: what a carried position and its circle are worth, and what must
// never come out.

import Geodesy
import SensorTypes
import Testing

@testable import FusionCore

import Glibc

@Suite struct PositionEstimatorTests {
  /// A carrier in the plane of a local frame, and a receiver and a gyro on it.
  struct Ride {
    /// Speed and turn rate wander about these: m/s, and one sigma each in m/s and rad/s, for so many seconds.
    var speed: Double
    var speedSpread: Double
    var turnSpread: Double
    var duration = 20.0

    /// What the receiver states, m, and how long its errors hang together, seconds.
    var accuracy = 4.0
    var errorTime = 60.0

    static let walker = Ride(speed: 1.4, speedSpread: 0.3, turnSpread: 0.05)
    static let cyclist = Ride(speed: 5, speedSpread: 1.5, turnSpread: 0.06)
    static let car = Ride(speed: 15, speedSpread: 5, turnSpread: 0.04)
  }

  /// One second of a ride.
  struct Second {
    var time: Timestamp
    var place: SIMD2<Double>
    var fix: GNSSFix
    var turnRate: Double
  }

  static let frame = LocalFrame(
    origin: GeodeticCoordinate(latitude: 47, longitude: 8, height: 0))

  static func fix(
    at place: SIMD2<Double>, _ time: Timestamp, accuracy: Double = 4, speed: Double? = nil,
    course: Double? = nil
  ) -> GNSSFix {
    let point = frame.toGeodetic(SIMD3(place.x, place.y, 0)).position
    var fix = GNSSFix(received: time, mode: .twoDimensional)
    fix.latitude = point.latitude
    fix.longitude = point.longitude
    fix.horizontalAccuracy = accuracy
    fix.speed = speed
    fix.speedAccuracy = speed.map { _ in 0.3 }
    fix.course = course.map { ($0 * 180 / .pi).truncatingRemainder(dividingBy: 360) }
    return fix
  }

  static func place(_ estimate: PositionEstimate) -> SIMD2<Double> {
    let local = frame.toLocal(
      GeodeticCoordinate(latitude: estimate.latitude, longitude: estimate.longitude, height: 0))
    return SIMD2(local.x, local.y)
  }

  static func second(_ index: Int) -> Timestamp {
    Timestamp(nanoseconds: Int64(index) * 1_000_000_000)
  }

  /// A ride of so many seconds. Errors of place are a first-order process with a 68 % radius of the stated accuracy,
  /// those of the gyro white noise and a bias.
  static func seconds(_ count: Int, of ride: Ride, seed: UInt64) -> [Second] {
    var noise = Noise(seed)
    func keep(_ time: Double) -> Double { exp(-1 / time) }
    func step(_ value: inout Double, _ spread: Double, _ time: Double) {
      let k = keep(time)
      value = k * value + (1 - k * k).squareRoot() * spread * noise.normal()
    }
    let deviation = ride.accuracy / 1.5096
    var (place, course) = (SIMD2<Double>.zero, 0.0)
    var (faster, turn, bias) = (0.0, 0.0, 0.002)
    var error = SIMD2(deviation * noise.normal(), deviation * noise.normal())
    return (0..<count).map { index in
      let rate = turn
      step(&faster, ride.speedSpread, ride.duration)
      step(&turn, ride.turnSpread, ride.duration / 4)
      step(&error.x, deviation, ride.errorTime)
      step(&error.y, deviation, ride.errorTime)
      step(&bias, 0.002, 1_000)
      let speed = max(0, ride.speed + faster)
      let middle = course + 0.25 * (rate + turn)
      course += 0.5 * (rate + turn)
      place += speed * SIMD2(sin(middle), cos(middle))
      let time = second(index)
      let measured = max(0, speed + 0.15 * noise.normal())
      let fix = fix(
        at: place + error, time, accuracy: ride.accuracy, speed: measured,
        course: course + 0.15 / max(0.3, speed) * noise.normal() + 2 * .pi)
      return Second(
        time: time, place: place, fix: fix, turnRate: turn + bias + 0.002 * noise.normal())
    }
  }

  static func feed(_ second: Second, to estimator: inout PositionEstimator, gyro: Bool) {
    if gyro { estimator.update(turnRate: second.turnRate, at: second.time) }
    estimator.update(second.fix, at: second.time)
  }

  @Test(
    "the truth is inside the circle of a loss in 60 to 80 % of its seconds, whoever carries the board",
    arguments: [("walker", Ride.walker), ("cyclist", .cyclist), ("car", .car)], [true, false])
  func coverage(_ carrier: (name: String, ride: Ride), gyro: Bool) {
    var (inside, total) = (0, 0)
    for seed in UInt64(1)...4 {
      let ride = Self.seconds(1_300, of: carrier.ride, seed: seed)
      var estimator = PositionEstimator()
      for (index, second) in ride.enumerated() {
        Self.feed(second, to: &estimator, gyro: gyro)
        guard index >= 120, index % 45 == 0, index + 30 < ride.count else { continue }
        var lost = estimator
        for later in ride[(index + 1)...(index + 30)] {
          if gyro { lost.update(turnRate: later.turnRate, at: later.time) }
          guard let estimate = lost.estimate(at: later.time) else { continue }
          let off = Self.place(estimate) - later.place
          total += 1
          if (off * off).sum().squareRoot() <= estimate.horizontalAccuracy { inside += 1 }
        }
      }
    }
    let share = 100 * Double(inside) / Double(max(1, total))
    print(
      "\(carrier.name), gyro \(gyro): inside \((share * 10).rounded() / 10) % of \(total) seconds")
    #expect(total == 4 * 26 * 30)
    #expect((60...80).contains(share))
  }

  /// A car at 10 m/s to the north that turns with a radius of 50 m from `from` on.
  static func turning(_ index: Int, from: Int) -> (place: SIMD2<Double>, course: Double) {
    let straight = 10 * Double(min(index, from))
    let angle = 0.2 * Double(max(0, index - from))
    return (SIMD2(50 * (1 - cos(angle)), straight + 50 * sin(angle)), angle)
  }

  @Test("a turn that nobody but the gyro or the compass sees is followed", arguments: [10, 30])
  func turn(loss: Int) throws {
    func error(gyro: Bool, compass: Bool) throws -> (Double, PositionEstimate) {
      var estimator = PositionEstimator()
      for index in 0...(120 + loss) {
        let time = Self.second(index)
        let (place, course) = Self.turning(index, from: 120)
        if gyro { estimator.update(turnRate: index > 120 ? 0.2 : 0, at: time) }
        if compass { estimator.update(heading: course + 1, at: time) }
        if index <= 120 {
          estimator.update(Self.fix(at: place, time, speed: 10, course: course), at: time)
        }
      }
      let estimate = try #require(estimator.estimate(at: Self.second(120 + loss)))
      let off = Self.place(estimate) - Self.turning(120 + loss, from: 120).place
      return ((off * off).sum().squareRoot(), estimate)
    }
    let (aided, estimate) = try error(gyro: true, compass: false)
    let (byCompass, _) = try error(gyro: false, compass: true)
    let (blind, straight) = try error(gyro: false, compass: false)
    // By the trapezoid half a second of the turn is missing: 6 degrees, of 10 m a second.
    #expect(aided < 0.1 * 10 * Double(loss))
    #expect(byCompass < 0.1 * 10 * Double(loss))
    #expect(blind > 0.5 * 10 * Double(loss))
    #expect(estimate.isTurnMeasured)
    #expect(!straight.isTurnMeasured)
    #expect(estimate.fixTime == Self.second(120))
    let course = try #require(estimate.course)
    let truth = 0.2 * Double(loss) * 180 / .pi
    #expect(abs((course - truth).remainder(dividingBy: 360)) < 8)
  }

  @Test("a board that is turned in a hand does not turn its carrier")
  func hand() throws {
    var noise = Noise(3)
    var estimator = PositionEstimator()
    for index in 0..<300 {
      let time = Self.second(index)
      estimator.update(turnRate: 0.5 * noise.normal(), at: time)
      if index < 290 {
        estimator.update(
          Self.fix(at: SIMD2(0, 1.4 * Double(index)), time, speed: 1.4, course: 0), at: time)
      }
    }
    let estimate = try #require(estimator.estimate(at: Self.second(299)))
    let off = Self.place(estimate) - SIMD2(0, 1.4 * 299)
    #expect((off * off).sum().squareRoot() < 4)
  }

  @Test("what stands still stays, without a course, and with the receiver's own accuracy at least")
  func standstill() throws {
    var estimator = PositionEstimator()
    for index in 0..<120 {
      let time = Self.second(index)
      estimator.update(Self.fix(at: .zero, time, speed: 0), at: time)
    }
    let estimate = try #require(estimator.estimate(at: Self.second(149)))
    let off = Self.place(estimate)
    #expect((off * off).sum().squareRoot() < 1)
    #expect(estimate.course == nil)
    #expect(estimate.horizontalAccuracy >= 4)
  }

  @Test("a fix far beside the carried position is followed at once, and turns nothing")
  func jump() throws {
    var estimator = PositionEstimator()
    for index in 0..<60 {
      let time = Self.second(index)
      estimator.update(
        Self.fix(at: SIMD2(0, 10 * Double(index)), time, speed: 10, course: 0), at: time)
    }
    // After 20 s it is 400 m further east than it could be, and says no velocity.
    for index in 80..<84 {
      let time = Self.second(index)
      estimator.update(Self.fix(at: SIMD2(400, 10 * Double(index)), time), at: time)
      let estimate = try #require(estimator.estimate(at: time))
      let course = try #require(estimate.course)
      #expect(abs(course.remainder(dividingBy: 360)) < 5)
      #expect(abs(estimate.speed - 10) < 1)
      #expect(abs(Self.place(estimate).x - 400) < 4)
    }
  }

  @Test("nothing is carried for longer than is said, without a speed, or from a fix of cells")
  func limits() {
    var params = PositionParameters()
    params.longestLoss = 1_000
    var estimator = PositionEstimator(params)
    estimator.update(Self.fix(at: .zero, Self.second(0)), at: Self.second(0))
    #expect(estimator.estimate(at: Self.second(1)) == nil)
    estimator.update(Self.fix(at: .zero, Self.second(1), speed: 3, course: 1), at: Self.second(1))
    #expect(estimator.estimate(at: Self.second(61)) != nil)
    #expect(estimator.estimate(at: Self.second(62)) == nil)
    var coarse = PositionEstimator()
    for index in 0..<10 {
      let time = Self.second(index)
      coarse.update(Self.fix(at: .zero, time, accuracy: 900, speed: 0), at: time)
    }
    #expect(coarse.estimate(at: Self.second(11)) == nil)
  }

  @Test("the circle never shrinks while nothing comes")
  func growth() throws {
    var estimator = PositionEstimator()
    let ride = Self.seconds(600, of: .car, seed: 5)
    for second in ride { Self.feed(second, to: &estimator, gyro: false) }
    var last = 0.0
    for index in 600...629 {
      let radius = try #require(estimator.estimate(at: Self.second(index))).horizontalAccuracy
      #expect(radius > last)
      last = radius
    }
  }

  @Test("over the date line and beside a pole it goes straight on", arguments: [0.0, 89.9])
  func edges(latitude: Double) throws {
    var estimator = PositionEstimator()
    let start = Position(latitude: latitude, longitude: 179.999)
    func on(_ distance: Double) -> Geodesic.Direct {
      Geodesic.direct(from: start, azimuth: 90, distance: distance)
    }
    for index in 0..<30 {
      let time = Self.second(index)
      let here = on(20 * Double(index))
      var fix = Self.fix(at: .zero, time, speed: 20, course: here.finalAzimuth * .pi / 180)
      fix.latitude = here.position.latitude
      fix.longitude = here.position.longitude
      estimator.update(fix, at: time)
    }
    let estimate = try #require(estimator.estimate(at: Self.second(49)))
    let off = Geodesic.inverse(
      from: Position(latitude: estimate.latitude, longitude: estimate.longitude),
      to: on(20 * 49).position
    ).distance
    #expect(off < 10)
  }

  @Test("what no receiver says and no gyro measures changes nothing that is finite")
  func hostile() throws {
    var noise = Noise(11)
    let odd = [Double.nan, .infinity, -.infinity, 0, -1, 1e308, -1e308, 1e-300, 91, 181, 1e5]
    func any() -> Double {
      noise.next() % 3 == 0 ? odd[Int(noise.next() % UInt64(odd.count))] : 10 * noise.normal()
    }
    var estimator = PositionEstimator()
    for _ in 0..<4_000 {
      let time = Timestamp(nanoseconds: Int64(noise.next() % 400_000_000_000))
      var fix = GNSSFix(received: time)
      fix.latitude = any()
      fix.longitude = any()
      fix.horizontalAccuracy = any()
      fix.speed = any()
      fix.speedAccuracy = any()
      fix.course = any()
      fix.courseAccuracy = any()
      estimator.update(turnRate: any(), at: time)
      estimator.update(heading: any(), at: time)
      estimator.update(fix, at: time)
      if let estimate = estimator.estimate(at: time.advanced(bySeconds: 3)) {
        #expect(estimate.horizontalAccuracy.isFinite && estimate.horizontalAccuracy > 0)
        #expect(abs(estimate.latitude) <= 90 && abs(estimate.longitude) <= 180)
        #expect(estimate.speed.isFinite && estimate.speedAccuracy.isFinite)
        #expect(estimate.course.map { $0 >= 0 && $0 < 360 } ?? true)
      }
    }
    #expect(estimator.state.rejected > 1_000)
    // And it still works.
    let late = 1_000
    for index in late..<(late + 30) {
      let time = Self.second(index)
      estimator.update(
        Self.fix(at: SIMD2(0, 5 * Double(index - late)), time, speed: 5, course: 0), at: time)
    }
    let estimate = try #require(estimator.estimate(at: Self.second(late + 34)))
    let off = Self.place(estimate) - SIMD2(0, 5 * 34)
    #expect((off * off).sum().squareRoot() < 5)
  }

  @Test("a run that is saved and resumed is the same to the bit")
  func resumed() {
    let ride = Self.seconds(200, of: .cyclist, seed: 9)
    var whole = PositionEstimator()
    var first = PositionEstimator()
    for second in ride[..<100] {
      Self.feed(second, to: &whole, gyro: true)
      Self.feed(second, to: &first, gyro: true)
    }
    var resumed = PositionEstimator(state: first.state)
    for second in ride[100...] {
      Self.feed(second, to: &whole, gyro: true)
      Self.feed(second, to: &resumed, gyro: true)
    }
    #expect(whole.state == resumed.state)
  }
}
