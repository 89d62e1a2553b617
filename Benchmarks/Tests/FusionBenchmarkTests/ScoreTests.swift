// The error's definition against rotations known by their angles, and what is made of errors.

import Foundation
import FusionBenchmark
import LinearAlgebra
import Testing

struct ScoreTests {
  let degree = Double.pi / 180

  func turn(_ x: Double, _ y: Double, _ z: Double) -> Quaternion {
    Quaternion(rotationVector: Vector3(x, y, z) * degree)
  }

  @Test(
    "a turn about the vertical is heading alone, about a horizontal axis inclination alone",
    arguments: [0.0, 1e-6, 0.01, 5, 90, 179])
  func axes(angle: Double) {
    let truth = turn(30, -50, 70)
    let heading = AttitudeError(estimate: turn(0, 0, -angle) * truth, truth: truth)
    #expect(abs(heading.heading - angle) < 1e-9)
    #expect(abs(heading.inclination) < 1e-9)
    #expect(abs(heading.total - angle) < 1e-9)
    let tilt = AttitudeError(
      estimate: turn(0.6 * angle, 0.8 * angle, 0) * truth, truth: truth)
    #expect(abs(tilt.heading) < 1e-9)
    #expect(abs(tilt.inclination - angle) < 1e-9)
    #expect(abs(tilt.total - angle) < 1e-9)
  }

  @Test("heading and inclination make up the total, by rotation matrices")
  func matrices() {
    let truth = turn(10, 20, 30)
    let estimate = turn(0, 0, 25) * turn(12, -7, 0) * truth
    let error = AttitudeError(estimate: estimate, truth: truth)
    let rotation = estimate.matrix * truth.matrix.transposed
    let columns = rotation.columns
    let trace = columns.x.x + columns.y.y + columns.z.z
    #expect(abs(error.total - acos((trace - 1) / 2) / degree) < 1e-9)
    // Inclination: how far the vertical has moved.
    #expect(abs(error.inclination - acos(columns.z.z) / degree) < 1e-9)
    #expect(abs(error.heading - 25) < 1e-9)
  }

  @Test("the sign of a quaternion means nothing")
  func signs() {
    let (truth, estimate) = (turn(10, 20, 30), turn(12, 18, 40))
    let negative = Quaternion(w: -estimate.w, vector: -estimate.vector)
    let error = AttitudeError(estimate: estimate, truth: truth)
    let other = AttitudeError(estimate: negative, truth: truth)
    #expect(abs(error.heading - other.heading) < 1e-9)
    #expect(abs(error.total - other.total) < 1e-9)
  }

  @Test("a trial: root mean square, bounds where they are valid, what is missing")
  func trial() throws {
    var score = TrialScore(name: "a")
    func add(_ heading: Double, bound: Double?) {
      score.add(
        Estimate(attitude: turn(0, 0, heading), headingBound: bound.map { $0 * degree }),
        truth: .identity)
    }
    add(3, bound: 4)
    add(-4, bound: 2)
    add(0, bound: nil)
    add(0, bound: .nan)
    add(0, bound: 0)
    score.add(Estimate(attitude: nil, headingBound: 1), truth: .identity)
    score.add(
      Estimate(
        attitude: Quaternion(w: .nan, vector: .zero), headingBound: 1), truth: .identity)
    #expect(score.rows == 7)
    #expect(score.missing == 2)
    // (9 + 16 + 0 + 0 + 0) / 5.
    #expect(abs(try #require(score.rms).x - 5.0.squareRoot()) < 1e-9)
    #expect(score.coverage == 0.5)
    #expect(abs(try #require(score.width) - 3) < 1e-9)
    #expect(abs(try #require(score.invalid) - 5.0 / 7) < 1e-12)
  }

  @Test("a run: errors are means over trials, bounds over all rows together")
  func run() throws {
    func trial(_ name: String, _ rows: Int, heading: Double, bound: Double?) -> TrialScore {
      var score = TrialScore(name: name)
      for _ in 0..<rows {
        score.add(
          Estimate(attitude: turn(0, 0, heading), headingBound: bound.map { $0 * degree }),
          truth: .identity)
      }
      return score
    }
    let run = RunScore(trials: [
      trial("a", 30, heading: 1, bound: 2), trial("b", 10, heading: 4, bound: 3),
      trial("c", 10, heading: 4, bound: nil),
    ])
    #expect(abs(try #require(run.rms).x - 3) < 1e-9)
    #expect(run.coverage == 0.75)
    #expect(run.worstCoverage == 0)
    #expect(abs(try #require(run.width) - 2.25) < 1e-9)
    #expect(run.invalid == 0.2)
    #expect(run.worstInvalid == 1)
    // A tenth of 40 rows: four of a, by four of b.
    #expect(abs(try #require(run.tenthRatio) - 2.0 / 3) < 1e-9)
    let dumb = RunScore(trials: run.trials + [TrialScore(name: "d")])
    #expect(dumb.rms == nil, "a trial without an error is not averaged away")
  }

  @Test("without a trial's own offset; and a bound that knows when it is good")
  func offsetAndCorrelation() throws {
    var (first, second) = (TrialScore(name: "a"), TrialScore(name: "b"))
    for step in 0..<100 {
      let own = Double(step % 2 == 0 ? 1 : -1)
      // Across the turn's end, too.
      for (offset, bound) in [(170.0, 1.0), (190, 10)] {
        let error = turn(0, 0, offset + own)
        if bound == 1 {
          first.add(Estimate(attitude: error, headingBound: bound * degree), truth: .identity)
        } else {
          second.add(Estimate(attitude: error, headingBound: nil), truth: .identity)
        }
      }
    }
    #expect(abs(try #require(first.headingWithoutOffset) - 1) < 1e-9)
    #expect(abs(try #require(RunScore(trials: [first, second]).headingWithoutOffset) - 1) < 1e-9)
    #expect(TrialScore(name: "c").headingWithoutOffset == nil)
    func correlated(_ pairs: [(Double, Double)]) -> Double? {
      var score = TrialScore(name: "a")
      for (error, bound) in pairs {
        score.add(
          Estimate(attitude: turn(0, 0, error), headingBound: bound * degree), truth: .identity)
      }
      return RunScore(trials: [score]).correlation
    }
    let good = correlated([(0.1, 1), (0.2, 2), (0.4, 4), (0.8, 8)])
    #expect(try #require(good) > 0.99)
    let bad = correlated([(0.1, 8), (0.2, 4), (0.4, 2), (0.8, 1)])
    #expect(try #require(bad) < -0.99)
    #expect(correlated([(1, 1)]) == nil && correlated([(1, 2), (3, 2)]) == nil)
  }

  @Test("the line of JSON has its keys in their order, and null for what is not there")
  func json() throws {
    let empty = Report.json(RunScore(trials: [TrialScore(name: "a")]))
    #expect(
      empty == """
        {"trials":1,"heading":null,"inclination":null,"total":null,"coverage":null,"width":null,\
        "invalid":null,"worstCoverage":null,"worstInvalid":null,"tenthRatio":null,"missing":null}
        """)
    var score = TrialScore(name: "a")
    score.add(Estimate(attitude: turn(0, 0, 2), headingBound: 3 * degree), truth: .identity)
    let line = Report.json(RunScore(trials: [score]))
    #expect(
      line.hasPrefix(
        #"{"trials":1,"heading":2.0000,"inclination":0.0000,"total":2.0000,"coverage":1.0000,"width":3.0000,"invalid":0.0000,"#
      ))
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    #expect(object?["trials"] as? Int == 1)
    #expect(object?["missing"] as? Double == 0)
  }

  @Test("rows and estimates are handed on, 20 numbers a row")
  func exports() throws {
    var preparation = Preparation()
    preparation.hasGyro = false
    let rows = try preparation.rows(of: numbered(2))
    let estimates = [
      Estimate(attitude: nil, headingBound: nil),
      Estimate(attitude: turn(0, 0, 90), headingBound: 0.5),
    ]
    let data = Export.binary(rows, estimates)
    #expect(data.count == 2 * 20 * 8)
    let values = data.withUnsafeBytes { raw in
      (0..<40).map {
        Double(
          bitPattern: UInt64(
            littleEndian: raw.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)))
      }
    }
    #expect(values[20] == 0.0035)
    #expect(values[21].isNaN, "no gyro")
    #expect(Array(values[24..<35]) == [1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1])
    #expect(abs(values[35] - 0.5.squareRoot()) < 1e-12)
    #expect(values[39] == 0.5)
    #expect(values[15].isNaN && values[19].isNaN, "no estimate")
    let lines = Export.csv("a", rows, estimates).split(separator: "\n")
    #expect(lines[0] == "a,0.0,,,,,,1,,,")
    #expect(lines[1].split(separator: ",", omittingEmptySubsequences: false).count == 11)
    #expect(Export.header.split(separator: ",").count == 11)
  }
}
