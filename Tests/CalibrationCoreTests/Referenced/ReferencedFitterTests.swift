import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import Testing

struct ReferencedFitterTests {
  static let units = 1...200

  private func fitter(_ vessel: Vessel, placed: Bool = true) -> ReferencedFitter {
    ReferencedFitter(mount: vessel.mount, earth: placed ? vessel.earth : nil)
  }

  private func planar(_ units: ClosedRange<Int>, placed: Bool = true, _ change: (inout Vessel) -> Void)
    -> Tally
  {
    var tally = Tally()
    for seed in units {
      var vessel = Vessel(seed)
      change(&vessel)
      let samples = vessel.samples(seconds: 75) { 0.1 * $0 }
      tally.add(vessel, fitter(vessel, placed: placed).planar(samples), roll: 10 * degree)
    }
    return tally
  }

  @Test func aTurnOnAWave() {
    for gyro in [false, true] {
      let tally = planar(Self.units) { $0.hasGyro = gyro }
      print("planar, gyro \(gyro):", tally.words)
    }
    print("planar, calm:", planar(Self.units) { $0.roll = 0 }.words)
    print("planar, aligned, no place:", planar(Self.units, placed: false) { $0.hasGyro = true }.words)
  }

  private func sightings(_ vessel: inout Vessel, points: Int, error: Double)
    -> [ReferencedFitter.Sighting]
  {
    (0..<points).map { k in
      let heading = 2 * .pi * Double(k) / Double(points)
      let samples = vessel.samples(from: 30 * Double(k), seconds: 6) { t in
        heading + 1.5 * degree * sin(1.3 * t)
      }
      return ReferencedFitter.Sighting(
        samples: samples, heading: heading + error * vessel.dice.normal(), deviation: error)
    }
  }

  @Test func eightPoints() {
    for (gyro, placed) in [(false, true), (true, true), (true, false)] {
      var tally = Tally()
      for seed in Self.units {
        var vessel = Vessel(seed)
        vessel.hasGyro = gyro
        let points = sightings(&vessel, points: 8, error: 2 * degree)
        tally.add(vessel, fitter(vessel, placed: placed).deviation(points), roll: 10 * degree)
      }
      print("deviation, gyro \(gyro), placed \(placed):", tally.words)
    }
  }

  @Test func oneHeading() {
    var tally = Tally()
    for seed in Self.units {
      var vessel = Vessel(seed)
      vessel.roll = 0
      let points = sightings(&vessel, points: 1, error: 2 * degree)
      tally.add(
        vessel,
        fitter(vessel).knownHeading(
          points[0].samples, heading: points[0].heading, deviation: 2 * degree), roll: 10 * degree)
    }
    print("one heading:", tally.words)
  }

  /// 3 bends of 90 deg at 10 m/s with straight legs, u-blox's course.
  private func drive(_ vessel: inout Vessel, bends: Int) -> CourseGathering {
    let speed = 10.0
    let start = vessel.dice.flat(0...6)
    func heading(_ t: Double) -> Double {
      // 15 s straight, 6 s bend.
      let leg = (t / 21).rounded(.down)
      let inLeg = t - 21 * leg
      let turn = min(1, max(0, (inLeg - 15) / 6))
      // Smooth begin and end.
      let eased = turn * turn * (3 - 2 * turn)
      return start + (leg + eased) * .pi / 2
    }
    func rate(_ t: Double) -> Double { (heading(t + 0.01) - heading(t - 0.01)) / 0.02 }
    let samples = vessel.samples(
      seconds: 21 * Double(bends) + 15, acceleration: { Vector3(rate($0) * speed, 0, 0) },
      heading: heading)
    var gathering = CourseGathering(mount: vessel.mount, declination: 0.06)
    var wander = 0.0
    var slip = 1.5 * degree * vessel.dice.normal()
    var next = 0.2
    for sample in samples {
      gathering.take(sample)
      let t = sample.time.seconds - 1_000
      guard t >= next else { continue }
      next += 0.2
      wander = 0.95 * wander + 0.3 * 0.8 * vessel.dice.normal()
      if Int(t / 0.2) % 60 == 0 { slip = 1.5 * degree * vessel.dice.normal() }
      var fix = GNSSFix(received: sample.time.advanced(bySeconds: 0.1), mode: .threeDimensional)
      fix.speed = speed
      fix.speedAccuracy = 0.1
      // The receiver's filter trails by a tenth of a second more.
      let course = (heading(t - 0.1) + slip + 0.06) / degree + wander
      fix.course = course - 360 * (course / 360).rounded(.down)
      fix.courseAccuracy = 1
      _ = gathering.take(fix)
    }
    return gathering
  }

  @Test func threeBends() {
    for (gyro, roll) in [(true, 2.0), (false, 0)] {
      var tally = Tally()
      for seed in Self.units {
        var vessel = Vessel(seed)
        vessel.hasGyro = gyro
        vessel.roll = roll * degree
        let gathering = drive(&vessel, bends: 3)
        tally.add(vessel, fitter(vessel).course(gathering.sightings), roll: 10 * degree)
      }
      print("course, roll \(roll):", tally.words)
    }
  }
}
