// Pure identities: TRIAD, heading of an attitude, its gradient, true north, the standard
// atmosphere.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct DirectAttitudeTests {
  @Test func aLevelBoardFacingEachQuarterHasThatHeading() throws {
    // Body frame of a board whose y axis points east: north is to its left, -x.
    let field = Vector3(-20, 0, -45)
    let q = try #require(DirectAttitude.attitude(up: Vector3(0, 0, 9.8), field: field))
    #expect(abs(DirectAttitude.heading(of: q) - .pi / 2) < 1e-12)
    let south = try #require(
      DirectAttitude.attitude(up: Vector3(0, 0, 9.8), field: Vector3(0, -20, -45)))
    #expect(abs(DirectAttitude.heading(of: south) - .pi) < 1e-12)
    let west = try #require(
      DirectAttitude.attitude(up: Vector3(0, 0, 9.8), field: Vector3(20, 0, -45)))
    #expect(abs(DirectAttitude.heading(of: west) - 1.5 * .pi) < 1e-12)
  }

  @Test func anAttitudeIsFoundAgainFromItsVectors() throws {
    var noise = Noise(1)
    for _ in 0..<500 {
      let truth = Quaternion(rotationVector: noise.vector(1.5))
      let q = try #require(
        DirectAttitude.attitude(
          up: truth.conjugate.rotate(Vector3(0, 0, 9.8)),
          field: truth.conjugate.rotate(earthField())))
      #expect((q * truth.conjugate).rotationVector.length < 1e-9)
      let tilt = try #require(DirectAttitude.attitude(up: truth.conjugate.rotate(Vector3(0, 0, 2))))
      let up = tilt.rotate(truth.conjugate.rotate(Vector3(0, 0, 1)))
      #expect((up - Vector3(0, 0, 1)).length < 1e-9)
    }
  }

  @Test func vectorsWithoutADirectionGiveNoAttitude() {
    let up = Vector3(0, 0, 9.8)
    #expect(DirectAttitude.attitude(up: up, field: Vector3(0, 0, -50)) == nil)
    #expect(DirectAttitude.attitude(up: up, field: .zero) == nil)
    #expect(DirectAttitude.attitude(up: .zero, field: earthField()) == nil)
    #expect(DirectAttitude.attitude(up: up, field: Vector3(.nan, 0, 1)) == nil)
    #expect(DirectAttitude.attitude(up: Vector3(0, 0, -9.8)) != nil)
  }

  @Test func theGradientOfHeadingAgreesWithDifferences() {
    var noise = Noise(2)
    for _ in 0..<200 {
      let q = attitude(
        heading: 6 * noise.uniform(), pitch: 2.4 * noise.uniform() - 1.2, roll: noise.normal())
      let gradient = DirectAttitude.headingGradient(forward: q.rotate(Vector3(0, 1, 0)))
      for axis in 0..<3 {
        var turn = Vector3.zero
        turn[axis] = 1e-6
        let moved = trueHeading(Quaternion(rotationVector: turn) * q)
        let slope = angleDifference(moved, trueHeading(q)) / 1e-6
        #expect(abs(slope - gradient[axis]) < 1e-4 * max(1, abs(slope)))
      }
    }
  }

  @Test func headingStaysBelowTheFullTurn() {
    #expect(DirectAttitude.heading(of: attitude(heading: -1e-17)) < 2 * .pi)
    #expect(DirectAttitude.heading(of: attitude(heading: 359.999 * degree)) > 6.28)
  }
}

@Suite struct TrueNorthTests {
  private func estimate(heading: Double, accuracy: Double?) -> HeadingEstimate {
    HeadingEstimate(
      time: Timestamp(seconds: 1), magneticHeading: heading * degree,
      accuracy: accuracy.map { $0 * degree }, reason: accuracy == nil ? .uncalibrated : nil,
      field: .zero, attitude: .identity)
  }

  @Test(arguments: [(10.0, 4.0, 14.0), (359, 3, 2), (1, -3, 358), (180, 180, 0), (0, -0.0, 0)])
  func trueHeadingIsMagneticPlusDeclination(magnetic: Double, declination: Double, expected: Double)
    throws
  {
    let result = TrueNorth.apply(
      .success(.init(angle: declination * degree, deviation: 0)),
      to: estimate(heading: magnetic, accuracy: 2))
    let heading = try #require(result.trueHeading)
    #expect(abs(angleDifference(heading, expected * degree)) < 1e-12)
    #expect(heading >= 0 && heading < 2 * .pi)
    #expect(result.declination == declination * degree)
    #expect(result.trueReason == nil)
  }

  @Test func theDeclinationsUncertaintyWidensTheAccuracy() throws {
    let result = TrueNorth.apply(
      .success(.init(angle: 0, deviation: 2 * degree)), to: estimate(heading: 0, accuracy: 3))
    let accuracy = try #require(result.accuracy)
    #expect(abs(accuracy / degree - (9 + 3.92 * 3.92).squareRoot()) < 1e-9)
    // It is the largest source of error here, and is not where it is half as large.
    #expect(result.limit == .declination)
    var known = estimate(heading: 0, accuracy: 3)
    known.limit = .iron
    let finer = TrueNorth.apply(.success(.init(angle: 0, deviation: degree)), to: known)
    #expect(finer.limit == .iron)
  }

  @Test func withoutDeclinationThereIsAReasonAndNoNumber() {
    let unknown = TrueNorth.apply(
      .failure(.positionUnknown), to: estimate(heading: 5, accuracy: 2))
    #expect(unknown.trueHeading == nil && unknown.trueReason == .positionUnknown)
    #expect(unknown.accuracy == 2 * degree)
    let hostile = TrueNorth.apply(
      .success(.init(angle: .nan, deviation: 0)), to: estimate(heading: 5, accuracy: 2))
    #expect(hostile.trueHeading == nil && hostile.trueReason != nil)
  }

  @Test func aHeadingThatIsNotTrustedHasNoTrueHeading() {
    let result = TrueNorth.apply(
      .success(.init(angle: 0.1, deviation: 0)), to: estimate(heading: 5, accuracy: nil))
    #expect(result.trueHeading == nil && result.trueReason == .uncalibrated)
  }
}

@Suite struct StandardAtmosphereTests {
  /// ISO 2533:1975, table 5: geopotential height in metres and pressure in hPa.
  @Test(arguments: [
    (0.0, 1013.25), (1000, 898.746), (2000, 794.952), (5000, 540.199), (10_000, 264.363),
    (11_000, 226.321),
  ])
  func agreesWithThePublishedTable(altitude: Double, hectopascals: Double) {
    #expect(abs(StandardAtmosphere.pressure(altitude: altitude) / 100 - hectopascals) < 0.001)
    let back = StandardAtmosphere.altitude(pressure: hectopascals * 100)
    #expect(abs(back - altitude) < 0.05)
  }
}
