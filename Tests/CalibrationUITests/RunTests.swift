import CalibrationCore
import CommandTestSupport
import SensorTypes
import Testing

@testable import CalibrationUI

/// What the runs of calibrations compute and say, without a board.
struct RunTests {
  @Test("headings are read from a list, and 360 is north")
  func headings() {
    #expect(CompassSwing.headings("0, 90,180.5 ,360") == .success([0, 90, 180.5, 0]))
    for text in ["-1", "360.5", "north", "nan"] {
      guard case .failure(let error) = CompassSwing.headings("0,\(text),90") else {
        Issue.record("\(text) was taken")
        continue
      }
      #expect(error.description == "'\(text)' is no heading from 0 to 360")
    }
  }

  @Test("the headings of a swing are turned to magnetic north, and known as well as was said")
  func sightings() throws {
    let run = DeviationRun(headings: [90], isMagnetic: false, error: 1.8, hold: 5, every: nil)
    let samples = ReportFixture.samples(3, seed: 1, noise: 0, outliers: 0)
    // A declination of 3.6 degrees east: true 90 is magnetic 86.4.
    let sightings = run.sightings(of: [(90, samples)], declination: 0.02 * .pi)
    let sighting = try #require(sightings.first)
    #expect(abs(sighting.heading - 0.48 * .pi) < 1e-12)
    #expect(abs(sighting.deviation - 0.01 * .pi) < 1e-12)
    #expect(sighting.samples == samples && sightings.count == 1)
  }

  @Test("two calibrations are apart by the root of the mean square, the short way round")
  func difference() throws {
    // 3 and -4 degrees: the root of 25 / 2.
    let degree = Double.pi / 180
    let apart = try #require(
      PlanarRun.difference([1 * degree, 359 * degree], [358 * degree, 3 * degree]))
    #expect(abs(apart - 12.5.squareRoot()) < 1e-9)
    #expect(PlanarRun.difference([], []) == nil)
    #expect(PlanarRun.difference([0, 0], [0]) == nil)
  }

  @Test("the compass is drawn from north eastwards, ten degrees a sign")
  func bar() {
    let bar = PlanarRun.bar([0, 9, 35])
    #expect(bar == "#........#.........................#")
    #expect(bar.count == 36)
  }

  @Test("a heading is doubted where the record in force is more than 45 degrees off")
  func doubt() {
    #expect(HeadingRun.doubt(45) == nil)
    #expect(HeadingRun.doubt(45.6)?.contains("points 46 deg elsewhere") == true)
  }

  @Test("a simulated board that moves is told from one that somebody holds")
  func stillWords() {
    let moved = StillRun.words("it moves", isSimulated: true, hasMoved: true)
    #expect(moved.hasPrefix("it moves; ") && moved.contains("simulated-hand.yaml"))
    #expect(StillRun.words("it moves", isSimulated: false, hasMoved: true) == "it moves")
    #expect(StillRun.words("too short", isSimulated: true, hasMoved: false) == "too short")
  }

  @Test("a drive and a hand are told different things, at most 80 columns wide")
  func introduction() {
    let hand = MountRun.introduction("boat", isDriving: false)
    let drive = MountRun.introduction("boat", isDriving: true)
    #expect(hand.hasPrefix("How the chips of 'boat' sit\n") && hand.contains("in your hand"))
    #expect(drive.contains("Drive a few minutes") && !drive.contains("in your hand"))
    for line in (hand + drive).split(separator: "\n") { #expect(line.count <= 80) }
  }
}
