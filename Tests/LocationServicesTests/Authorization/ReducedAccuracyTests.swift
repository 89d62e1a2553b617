import Geodesy
import SensorTypes
import Testing

@testable import LocationServices

struct ReducedAccuracyTests {
  private func report(
    _ latitude: Double, _ longitude: Double, accuracy: Double? = 5
  ) throws -> LocationReport {
    var fix = GNSSFix(received: Timestamp(seconds: 1), mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.horizontalAccuracy) = (latitude, longitude, accuracy)
    (fix.altitude, fix.verticalAccuracy, fix.ellipsoidalAltitude) = (40, 3, 80)
    (fix.speed, fix.speedAccuracy, fix.course, fix.courseAccuracy) = (4, 0.1, 90, 1)
    return try #require(LocationReport(LocationEstimate(fix: fix, isSimulated: true)))
  }

  @Test(
    "M10: a reduced position holds the true one within its accuracy, everywhere on earth, and a cell is 4 to 5 km wide around"
  )
  func covers() throws {
    var dice = Dice(seed: 8)
    for _ in 0..<20_000 {
      let latitude = Double.random(in: -90...90, using: &dice)
      let longitude = Double.random(in: -180...180, using: &dice)
      var reducer = ReducedAccuracy()
      let true_ = try report(latitude, longitude)
      let reduced = reducer.reduce(true_)
      let distance = Geodesic.inverse(from: true_.position, to: reduced.position).distance
      let accuracy = try #require(reduced.horizontalAccuracy)
      #expect(distance + 5 <= accuracy)
      #expect(abs(reduced.position.latitude) <= 90 && abs(reduced.position.longitude) <= 180)
      if abs(latitude) < 89 { #expect((4_000...5_000).contains(accuracy)) }
    }
  }

  @Test("M10: thousands of positions of one place average to its cell's middle and no further")
  func noAverage() throws {
    var dice = Dice(seed: 9)
    // Also where the noise crosses a border of cells: 50.05 is one.
    for latitude in [50.0123, 50.05] {
      var reducer = ReducedAccuracy()
      var seen: Set<Position> = []
      for _ in 0..<5_000 {
        let noise = Double.random(in: -0.0005...0.0005, using: &dice)
        seen.insert(reducer.reduce(try report(latitude + noise, 13 + noise)).position)
      }
      #expect(seen.count == 1)
    }
    // Whoever begins anew gets the same.
    var (first, second) = (ReducedAccuracy(), ReducedAccuracy())
    let before = first.reduce(try report(50.011, 13.011))
    let after = second.reduce(try report(50.039, 13.003))
    #expect(before.position == after.position)
  }

  @Test("M10: neither height nor speed nor course remain, nor an accuracy finer than kilometres")
  func leaks() throws {
    var reducer = ReducedAccuracy()
    let reduced = reducer.reduce(try report(50.01, 13.01))
    #expect(reduced.altitude == nil && reduced.ellipsoidalAltitude == nil)
    #expect(reduced.verticalAccuracy == nil && reduced.speed == nil && reduced.course == nil)
    #expect(reduced.speedAccuracy == nil && reduced.courseAccuracy == nil)
    #expect(reduced.time == Timestamp(seconds: 1) && reduced.isSimulated)
    let accuracy = try #require(reduced.horizontalAccuracy)
    #expect(accuracy.truncatingRemainder(dividingBy: 1_000) == 0)
    #expect(reducer.reduce(try report(50.01, 13.01, accuracy: nil)).horizontalAccuracy == nil)
  }

  @Test("M10: a walk of a hundred kilometres goes from cell to cell")
  func walk() throws {
    var reducer = ReducedAccuracy()
    var cells: [Position] = []
    for step in 0..<1_000 {
      let reduced = reducer.reduce(try report(50 + Double(step) / 1_110, 13.01)).position
      if cells.last != reduced { cells.append(reduced) }
    }
    #expect((17...20).contains(cells.count))
    #expect(Set(cells).count == cells.count)
  }
}
