// Every parameter of which a short run can show it has an effect; the others stand here with the reason.

import Testing

@_spi(Tuning) @testable import FusionCore

@Suite(
  "parameters have effects",
  .enabled(if: BroadTests.isReleaseBuild, "skipped: run in release mode only, debug is too slow"))
struct ParameterEffectTests {
  /// Numbers of the attitude estimator that no run reaches, and what would be needed.
  private static let attitude = [
    "alignment.uncertainDuration": "an alignment in motion that diverges late",
    "place.horizontal": "a start whose field is never measured", "place.vertical": "the same",
    "north.solutionVariance": "a residual offset that turns north by 0.3 rad",
    "north.magnetVariance": "a magnet found within 15 s of north",
    "north.biasShare": "a record whose shift is known, amid a run",
    "slowTurn.unobserved": "a magnetometer that is silent at rest (`RestContradictionTests`)",
    "place.doubtAngle": "a new place at rest (`RestContradictionTests`)",
    "magnet.pause": "a second magnet within 1.5 s",
    "fieldTest.largestExcusedTilt": "a disturbance while the tilt is worse than 0.1 rad",
    "fieldTest.placeDistance": "a new place whose field is far from the calibration's",
    "fieldTest.leastStep": "a field that a magnet turns, without a gyro (`FieldStepTests`)",
    "fieldTest.stepDuration": "the same",
    "integration.clippedShare": "a gyro beyond its range (`ClippingTests`)",
    "integration.clippedDeviation": "the same",
    "integration.clippedForce": "an accelerometer beyond its range",
    "fieldTest.placeShare": "the same", "heading.largestField": "a field above 100 uT",
    "measuredHeading.scatterMemory": "more than 50 measured headings (`MeasuredHeadingTests`)",
    "measuredHeading.leastScatter": "headings that differ by a degree (`MeasuredHeadingTests`)",
    "measuredHeading.turnTime": "late headings of a board that turns (`AntennaTests`)",
    "measuredHeading.leastInterval": "headings that come more than 20 times a second",
    "smoother.window": "a run of 15 minutes; it bounds memory only", "smoother.overlap": "the same",
    "smoother.reach": "an attitude that is wrong for longer than `smoother.whole`",
    "smoother.noise": "the bounds of smoothed headings, which are not compared",
    "tilt.covarianceFactor": "the bound of the tilt, which is not compared",
    "tilt.pullFactor": "the same", "tilt.floor": "the same",
  ]
  /// Numbers of relative altitude that no run reaches, and what would be needed.
  private static let relative = [
    "doors.sharpStep": "a step that is sharp, but small against its track",
    "doors.sharpGate": "the same",
    "doors.opposedShare": "an acceleration that is wrong while a door opens",
    "doors.leastAgeShare": "the same",
  ]
  /// Numbers of absolute altitude that no run reaches, and what would be needed.
  private static let absolute = [
    "limits.knownAge": "a known height that is a month old and better than the fixes",
    "test.presentFix": "a known height that contradicts a fix of a minute ago",
  ]

  @Test("each number of attitude but the listed ones changes a run")
  func attitudeRuns() {
    let without = ParameterRuns.attitude.withoutEffect(except: Set(Self.attitude.keys)) { $0.sound }
    #expect(without.isEmpty)
  }

  @Test("each number of relative altitude but the listed ones changes a run")
  func relativeRuns() {
    let runs = ParameterRuns.relativeAltitude
    #expect(runs.withoutEffect(except: Set(Self.relative.keys)) { $0.sound }.isEmpty)
  }

  @Test("each number of absolute altitude but the listed ones changes a run")
  func absoluteRuns() {
    let runs = ParameterRuns.absoluteAltitude
    #expect(runs.withoutEffect(except: Set(Self.absolute.keys)) { $0.sound }.isEmpty)
  }

  @Test("each number of position changes a run")
  func positionRuns() {
    #expect(ParameterRuns.position.withoutEffect { $0.sound }.isEmpty)
  }

  @Test("the listed exceptions are parameters")
  func exceptions() {
    #expect(Set(Self.attitude.keys).isSubset(of: AttitudeParameters.numbers.map(\.name)))
    #expect(Set(Self.relative.keys).isSubset(of: RelativeAltitudeParameters.numbers.map(\.name)))
    #expect(Set(Self.absolute.keys).isSubset(of: AbsoluteAltitudeParameters.numbers.map(\.name)))
  }
}
