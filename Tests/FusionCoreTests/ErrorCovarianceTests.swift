// The short way over a block's transition against the long one.

import LinearAlgebra
import Testing

@testable import FusionCore

@Suite struct ErrorCovarianceTests {
  @Test("what the body turned by spares rows of the covariance and changes nothing else")
  func turned() {
    var random = Noise(5)
    func vector(_ size: Double) -> Vector3 {
      Vector3(random.normal(), random.normal(), random.normal()) * size
    }
    var long = ErrorCovariance()
    for index in 0..<ErrorVector.count { long.decouple(index, variance: 0.5 + random.uniform()) }
    for _ in 0..<3 {
      var common = ErrorVector.zero
      for index in 0..<ErrorVector.count { common[index] = random.normal() }
      long.add(common: common)
    }
    let turned = vector(0.5)
    func row(_ axis: Int) -> ErrorVector {
      var row = ErrorVector.unit(axis)
      let a = vector(0.1)
      row[vector: ErrorVector.bias] = -a
      for axis in 0..<3 {
        row[vector: ErrorVector.gyroMatrix + 3 * axis] = -a[axis] * turned
      }
      return row
    }
    var f = ErrorCovariance.Transition(attitude: (row(0), row(1), row(2)), lift: 0.4)
    var short = long
    long.propagate(f)
    f.turned = turned
    short.propagate(f)
    for row in 0..<ErrorVector.count {
      for column in 0..<ErrorVector.count {
        #expect(abs(long[row, column] - short[row, column]) < 1e-12)
      }
    }
  }
}
