// The steps of the smoother, against a batch solution.

import LinearAlgebra
import Testing

@testable import FusionCore

/// A linear problem on the filter's own 24 errors, solved twice: step by step and as one system of equations.
private struct LinearRun {
  static let n = ErrorVector.count
  /// Steps: each moves the errors by `transitions`, adds `noises`, and measures.
  var transitions: [[[Double]]] = []
  var noises: [[Double]] = []
  struct Measurement {
    var step: Int
    var h: ErrorVector
    var value: Double
    var variance: Double
  }
  var measurements: [Measurement] = []
  var prior: [Double] = []
  /// Of the step-by-step solution: covariance rows and estimates after each step, the tape.
  var covariances: [ErrorCovariance] = []
  var estimates: [ErrorVector] = []
  var ends: [TapePosition] = []
  var tape = ErrorTape()

  static func dense(_ rows: [(Int, ErrorVector)]) -> [[Double]] {
    var matrix = (0..<n).map { row in (0..<n).map { $0 == row ? 1.0 : 0 } }
    for (index, row) in rows { matrix[index] = (0..<n).map { row[$0] } }
    return matrix
  }

  static func product(_ a: [[Double]], _ b: [[Double]]) -> [[Double]] {
    a.map { row in (0..<n).map { column in (0..<n).reduce(0) { $0 + row[$1] * b[$1][column] } } }
  }

  init(seed: UInt64, steps: Int) {
    var random = Noise(seed)
    func vector() -> ErrorVector {
      var v = ErrorVector.zero
      for index in 0..<Self.n { v[index] = 0.3 * random.normal() }
      return v
    }
    var covariance = ErrorCovariance()
    for index in 0..<Self.n {
      prior.append(0.5 + random.uniform())
      covariance.decouple(index, variance: prior[index])
    }
    covariance.tape = ErrorTape()
    var x = ErrorVector.zero
    for step in 0..<steps {
      let f = ErrorCovariance.Transition(
        attitude: (vector(), vector(), vector()), lift: 0.3 * random.normal())
      var move = Self.dense([
        (0, f.attitude.0), (1, f.attitude.1), (2, f.attitude.2), (6, f.velocity.0),
        (7, f.velocity.1),
      ])
      covariance.propagate(f)
      var extra = (index: 0, variance: 0.0)
      if step == 1 {
        let angle = 0.7
        covariance.turnEarth(sine: sin(angle), cosine: cos(angle))
        var turn = Self.dense([])
        for a in [0, 6] {
          turn[a][a] = cos(angle)
          turn[a][a + 1] = -sin(angle)
          turn[a + 1][a] = sin(angle)
          turn[a + 1][a + 1] = cos(angle)
        }
        move = Self.product(turn, move)
      }
      if step == 2 {
        extra = (8, 2)
        covariance.decouple(extra.index, variance: extra.variance)
        move[extra.index] = [Double](repeating: 0, count: Self.n)
      }
      if step == 3 {
        covariance.fade(ErrorVector.anomaly, by: 0.8)
        move[ErrorVector.anomaly] = move[ErrorVector.anomaly].map { 0.8 * $0 }
      }
      var noise = ErrorVector.zero
      for index in 0..<Self.n { noise[index] = 0.1 + 0.2 * random.uniform() }
      covariance.add(noise)
      var noiseList = (0..<Self.n).map { noise[$0] }
      noiseList[extra.index] += extra.variance
      transitions.append(move)
      noises.append(noiseList)
      let old = x
      for row in 0..<Self.n {
        x[row] = (0..<Self.n).reduce(0) { $0 + move[row][$1] * old[$1] }
      }
      for _ in 0..<3 {
        let measurement = Measurement(
          step: step, h: vector(), value: random.normal(), variance: 0.05 + random.uniform())
        measurements.append(measurement)
        covariance.update(
          &x, h: measurement.h, value: measurement.value, variance: measurement.variance)
      }
      covariance.tape?.appendTo(&tape)
      covariances.append(covariance)
      estimates.append(x)
      ends.append(tape.end)
    }
  }

  /// The most likely errors after each step given all measurements, and the inverse of their information.
  func batch() -> (errors: [Double], covariance: [[Double]]) {
    let n = Self.n
    let size = n * (transitions.count + 1)
    // The errors at the start come first.
    var information = [[Double]](repeating: [Double](repeating: 0, count: size), count: size)
    var right = [Double](repeating: 0, count: size)
    func take(_ entries: [(Int, Double)], _ value: Double, _ variance: Double) {
      for (a, x) in entries {
        right[a] += x * value / variance
        for (b, y) in entries { information[a][b] += x * y / variance }
      }
    }
    for index in 0..<n { take([(index, 1)], 0, prior[index]) }
    for step in transitions.indices {
      for row in 0..<n {
        let entries =
          [(n * (step + 1) + row, 1.0)]
          + (0..<n).map { (n * step + $0, -transitions[step][row][$0]) }
        take(entries, 0, noises[step][row])
      }
    }
    for m in measurements {
      take((0..<n).map { (n * (m.step + 1) + $0, m.h[$0]) }, m.value, m.variance)
    }
    let inverse = Self.inverse(information)
    return (inverse.map { row in zip(row, right).reduce(0) { $0 + $1.0 * $1.1 } }, inverse)
  }

  /// Gauss and Jordan; the matrix is positive definite, so that no pivot needs to be looked for.
  static func inverse(_ matrix: [[Double]]) -> [[Double]] {
    let size = matrix.count
    var work = matrix.enumerated().map { row, values in
      values + (0..<size).map { $0 == row ? 1.0 : 0 }
    }
    for pivot in 0..<size {
      let scale = 1 / work[pivot][pivot]
      for column in 0..<2 * size { work[pivot][column] *= scale }
      let top = work[pivot]
      for row in 0..<size where row != pivot && work[row][pivot] != 0 {
        let factor = work[row][pivot]
        for column in pivot..<2 * size { work[row][column] -= factor * top[column] }
      }
    }
    return work.map { Array($0[size...]) }
  }
}

@Suite struct ErrorAdjointTests {
  @Test("going back over the steps gives what one system of equations gives")
  func core() {
    let run = LinearRun(seed: 70, steps: 5)
    let (errors, covariance) = run.batch()
    var adjoint = ErrorAdjoint(at: run.tape.end)
    let n = LinearRun.n
    for step in run.ends.indices.reversed() {
      adjoint.rewind(run.tape, to: run.ends[step])
      for a in 0..<n {
        let row = run.covariances[step].row(a)
        let at = n * (step + 1) + a
        #expect(abs(run.estimates[step][a] + adjoint.error(row) - errors[at]) < 1e-9)
        for b in 0..<n {
          let smoothed = row[b] - adjoint.gain(row, run.covariances[step].row(b))
          #expect(abs(smoothed - covariance[at][n * (step + 1) + b]) < 1e-9)
        }
      }
    }
  }
}
