import Foundation
import Geodesy
import SensorTypes
import SharedData
import Testing

@testable import LocationServices

/// How far the board may be from where it was: against arithmetic by hand, chance, and recorded drives.
struct PositionAgeTests {
  private static func report(
    accuracy: Double? = 10, speed: Double? = nil, speedAccuracy: Double? = nil,
    at seconds: Double = 0
  ) throws -> LocationReport {
    var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: .threeDimensional)
    fix.latitude = 50
    fix.longitude = 13
    fix.horizontalAccuracy = accuracy
    fix.speed = speed
    fix.speedAccuracy = speedAccuracy
    return try #require(LocationReport(LocationEstimate(fix: fix, isSimulated: false)))
  }

  @Test("the radius at some ages, by hand")
  func values() throws {
    func radius(
      _ speed: Double?, _ speedAccuracy: Double?, _ age: Double, _ activity: Activity = .other
    ) throws -> Double {
      let report = try Self.report(speed: speed, speedAccuracy: speedAccuracy)
      return try #require(report.uncertainty(at: Timestamp(seconds: age), activity: activity))
    }
    // As it was measured, at its own time and before.
    #expect(try radius(3, 0.2, 0) == 10)
    #expect(try radius(3, 0.2, -5) == 10)
    // 3 * 30 + sqrt(10^2 + 1.5096^2 * (0.2^2 * 30^2 + 30^3 / 3))
    #expect(abs(try radius(3, 0.2, 30) - 233.845) < 0.01)
    // 0 + sqrt(10^2 + 1.5096^2 * (0.5^2 * 60^2 + 60^3 / 3)): the accuracy of the speed is assumed.
    #expect(abs(try radius(0, nil, 60) - 407.715) < 0.01)
    // Three times the wandering: 2 * 10 + sqrt(100 + 1.5096^2 * (0.2^2 * 10^2 + 3 * 10^3 / 3))
    #expect(abs(try radius(2, 0.2, 10, .airborne) - 68.865) < 0.01)
    // Without a speed the greatest: 10 + 310 * 2, 10 + 30 * 2.
    #expect(try radius(nil, nil, 2) == 630)
    #expect(try radius(nil, nil, 2, .fitness) == 70)
    // At long ages no more than the greatest speed makes; a rocket's is its own.
    #expect(abs(try radius(2, 0.1, 1e5, .fitness) - (10 + 3e6)) < 0.01)
    #expect(abs(try radius(400, 0.1, 1e6) - (10 + 4e8)) < 0.01)
    let unknown = try Self.report(accuracy: nil, speed: 1).uncertainty(at: Timestamp(seconds: 1))
    #expect(unknown == nil)
  }

  @Test("it holds the board in 68 % of cases at least, where it stands in no more than that")
  func coverage() throws {
    var dice = Dice(seed: 11)
    func normal() -> Double {
      let radius = (-2 * log(Double.random(in: 1e-300..<1, using: &dice))).squareRoot()
      return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &dice))
    }
    // The sigma in each direction of a radius that 68 % lie within: P(r) = 1 - exp(-r^2 / 2 sigma^2).
    let sigma = 10 / (-2 * log(0.32)).squareRoot()
    for speed in [0.0, 1.5, 20] {
      for age in [1.0, 10, 60] {
        let radius = try #require(
          Self.report(speed: speed, speedAccuracy: 0.3).uncertainty(at: Timestamp(seconds: age)))
        var inside = 0
        for _ in 0..<2_000 {
          var (x, y) = (sigma * normal(), sigma * normal())
          // Its speed, which way ever, and what wanders: a variance of 1 (m/s)^2 a second, in thirty steps.
          var (east, north) = (speed + 0.3 * normal(), 0.3 * normal())
          let step = age / 30
          for _ in 0..<30 {
            let kick = (normal() * step.squareRoot(), normal() * step.squareRoot())
            x += (east + kick.0 / 2) * step
            y += (north + kick.1 / 2) * step
            (east, north) = (east + kick.0, north + kick.1)
          }
          if hypot(x, y) <= radius { inside += 1 }
        }
        let share = Double(inside) / 2_000
        print("seed 11, \(speed) m/s after \(age) s: \(share) within \(radius) m")
        // Four sigma of the count: 0.042.
        #expect(share > 0.68 - 0.042)
        if speed == 0 { #expect(share < 0.68 + 0.042) }
      }
    }
  }

  private static let phone = SharedData.files(in: "data/phone", extension: "csv")

  @Test(
    "of recorded drives and rides 68 % at least lie within the radius, up to a minute",
    .enabled(if: !phone.isEmpty, "skipped: no recordings of phones below LODESTONE_SHARED"),
    arguments: phone)
  func drives(_ file: URL) throws {
    let fixes = try Self.fixes(file)
    #expect(fixes.count > 100)
    for age in [5.0, 10, 30, 60] {
      var (count, inside) = (0, 0)
      var next = 0
      for fix in fixes.enumerated().filter({ $0.offset % 3 == 0 }).map(\.element) {
        let then = fix.time.advanced(bySeconds: age)
        while next < fixes.count, fixes[next].time < then { next += 1 }
        guard next < fixes.count, fixes[next].time == then else { continue }
        let radius = try #require(fix.uncertainty(at: then))
        count += 1
        let metres = Geodesic.inverse(from: fix.position, to: fixes[next].position).distance
        if metres <= radius { inside += 1 }
      }
      let share = Double(inside) / Double(max(count, 1))
      print("\(file.lastPathComponent) after \(Int(age)) s: \(share) of \(count)")
      #expect(count > 15)
      #expect(share >= 0.68)
    }
  }

  /// The fixes of a log, whole seconds apart.
  private static func fixes(_ file: URL) throws -> [LocationReport] {
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    let names = try #require(lines.first).split(separator: ",").map(String.init)
    let wanted = [
      "time", "latitude", "longitude", "horizontalAccuracy", "speed", "speedAccuracy",
    ]
    let columns = try wanted.map { try #require(names.firstIndex(of: $0)) }
    return lines.dropFirst().compactMap { line in
      let words = line.split(separator: ",", omittingEmptySubsequences: false)
      guard words.count == names.count,
        let date = try? Date(
          String(words[columns[0]]).replacing(" ", with: "T").replacing("+00:00", with: "Z"),
          strategy: .iso8601)
      else { return nil }
      let numbers = columns.dropFirst().map { Double(words[$0]) }
      var fix = GNSSFix(
        received: Timestamp(seconds: date.timeIntervalSince1970), mode: .threeDimensional)
      (fix.latitude, fix.longitude) = (numbers[0], numbers[1])
      (fix.horizontalAccuracy, fix.speed, fix.speedAccuracy) = (numbers[2], numbers[3], numbers[4])
      guard fix.horizontalAccuracy != nil else { return nil }
      return LocationReport(LocationEstimate(fix: fix, isSimulated: false))
    }
  }

  @Test("M17: the newest position stays known as it was measured; its age and uncertainty grow")
  func known() throws {
    var engine = LocationEngine()
    func observation(_ seconds: Double, speed: Double) -> Observation {
      var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: .threeDimensional)
      (fix.latitude, fix.longitude, fix.horizontalAccuracy) = (50, 13, 10)
      (fix.speed, fix.speedAccuracy) = (speed, 0.2)
      return .location(LocationEstimate(fix: fix, isSimulated: false))
    }
    #expect(engine.knownPosition(at: Timestamp(seconds: 5)) == nil)
    engine.handle(observation(100, speed: 3)) { _ in }
    // One that was on its way for longer.
    engine.handle(observation(99, speed: 50)) { _ in }
    engine.handle(.locationUnavailable(.noFix, at: Timestamp(seconds: 101))) { _ in }
    let known = try #require(engine.knownPosition(at: Timestamp(seconds: 130)))
    #expect(known.report.time == Timestamp(seconds: 100))
    #expect(known.report.horizontalAccuracy == 10)
    #expect(abs(known.age - 30) < 1e-9)
    #expect(abs(try #require(known.uncertainty) - 233.845) < 0.01)
    engine.forgetObservations()
    #expect(engine.knownPosition(at: Timestamp(seconds: 130)) == nil)
  }
}
