import Foundation
import FusionCore
import LinearAlgebra
import SensorTypes
import Testing

/// What is known before the first sample: a gyro's bias; and a body frame that becomes another one.
struct KnownBiasTests {
  private let degree = Double.pi / 180
  private let gravity = Vector3(0, 0, 9.80665)

  private func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: Int64((seconds + 1) * 1e9))
  }

  /// Degrees by which the turn about the vertical is wrong after ten seconds at 60 deg/s, without a field.
  private func drift(bias: Vector3, known: Vector3?) throws -> Double {
    var estimator = AttitudeEstimator()
    if let known {
      estimator.expectGyroBias(known, deviation: 0.2 * degree)
      #expect(estimator.gyroBias == known)
    }
    var first: (attitude: Quaternion, time: Double)?
    for index in 0..<2_080 {
      let t = Double(index) / 208
      estimator.update(
        angularRate: Vector3(0, 0, 60 * degree) + bias, acceleration: gravity, at: time(t))
      if first == nil, estimator.state.mode == .inertial {
        first = (try #require(estimator.attitude), t)
      }
    }
    let begin = try #require(first)
    let turned = try #require(estimator.attitude) * begin.attitude.conjugate
    let expected = 60 * degree * (2_079.0 / 208 - begin.time)
    return (turned.rotationVector.z - expected).remainder(dividingBy: 2 * .pi) / degree
  }

  @Test(
    "a bias that is known from before is not integrated, with no rest and no north to learn it from"
  )
  func knownBias() throws {
    let bias = Vector3(0.3, -0.5, 0.8) * degree
    let (without, with) = (
      try drift(bias: bias, known: nil), try drift(bias: bias, known: bias)
    )
    print("ten seconds of turning, drift, deg: \(without) without, \(with) with the known bias")
    #expect(abs(without) > 5 && abs(with) < 0.1)
  }

  @Test("what is no bias is not taken, and a filter that runs keeps what it has learned")
  func refused() {
    var estimator = AttitudeEstimator()
    for (bias, deviation) in [
      (Vector3(.nan, 0, 0), 0.01), (Vector3(2, 0, 0), 0.01), (Vector3(0.01, 0, 0), 0),
      (Vector3(0.01, 0, 0), .nan), (Vector3(0.01, 0, 0), -1), (Vector3(0.01, 0, 0), .infinity),
    ] {
      estimator.expectGyroBias(bias, deviation: deviation)
    }
    #expect(estimator.state == AttitudeState())
    for index in 0..<1_040 {
      estimator.update(
        angularRate: Vector3(0.01, 0, 0), acceleration: gravity, at: time(Double(index) / 208))
    }
    let learned = estimator.gyroBias
    #expect(abs(learned.x - 0.01) < 0.002)
    estimator.expectGyroBias(Vector3(0, 0, 0.02), deviation: 0.001)
    #expect(estimator.gyroBias == learned)
  }

  @Test("in another body frame attitude starts anew, the bias turns with it")
  func otherBody() throws {
    let turn = Quaternion(rotationVector: Vector3(10 * degree, 0, 0))
    let bias = Vector3(0.01, -0.02, 0.005)
    var estimator = AttitudeEstimator()
    var index = 0
    func run(_ seconds: Double, _ turn: Quaternion, _ estimator: inout AttitudeEstimator) {
      for _ in 0..<Int(seconds * 208) {
        estimator.update(
          angularRate: turn.rotate(bias), acceleration: turn.rotate(gravity),
          at: time(Double(index) / 208))
        index += 1
      }
    }
    run(5, .identity, &estimator)
    let learned = estimator.gyroBias
    estimator.bodyDidTurn(by: turn)
    #expect((estimator.gyroBias - turn.rotate(learned)).length < 1e-12)
    run(2, turn, &estimator)
    let up = try #require(estimator.attitude).conjugate.rotate(Vector3(0, 0, 1))
    #expect((up - turn.rotate(Vector3(0, 0, 1))).length < 0.1 * degree)
    #expect(estimator.state.counters.starts == 2)
  }
}
