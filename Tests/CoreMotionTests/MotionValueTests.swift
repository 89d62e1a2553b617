import Foundation
import LinearAlgebra
import Lodestone
import SensorTypes
import Testing

@testable import CoreMotion

struct MotionValueTests {
  private func attitude(_ v: Vector3) -> CMAttitude {
    let q = Quaternion(rotationVector: v)
    return CMAttitude(CMQuaternion(x: q.vector.x, y: q.vector.y, z: q.vector.z, w: q.w))
  }

  private func archived<Value: NSObject & NSCoding>(_ value: Value) throws -> Value? {
    let bytes = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: bytes)
  }

  @Test("motion: quaternion, matrix and angles are of one attitude")
  func attitudes() {
    for _ in 0..<200 {
      let (yaw, pitch, roll) = (
        Double.random(in: -3.1...3.1), Double.random(in: -1.5...1.5), Double.random(in: -3.1...3.1)
      )
      let q =
        Quaternion(rotationVector: Vector3(0, 0, yaw))
        * Quaternion(rotationVector: Vector3(pitch, 0, 0))
        * Quaternion(rotationVector: Vector3(0, roll, 0))
      let attitude = CMAttitude(CMQuaternion(x: q.vector.x, y: q.vector.y, z: q.vector.z, w: q.w))
      #expect(abs(attitude.yaw - yaw) < 1e-9)
      #expect(abs(attitude.pitch - pitch) < 1e-6)
      #expect(abs(attitude.roll - roll) < 1e-9)
      // The matrix leads from the reference frame to the device: up is its third column.
      let m = attitude.rotationMatrix
      let up = q.conjugate.rotate(Vector3(0, 0, 1))
      #expect((Vector3(m.m13, m.m23, m.m33) - up).length < 1e-12)
      let x = q.conjugate.rotate(Vector3(1, 0, 0))
      #expect((Vector3(m.m11, m.m21, m.m31) - x).length < 1e-12)
    }
  }

  @Test("motion: multiplied by the inverse of another an attitude is the turn since then")
  func multiplication() throws {
    let start = Quaternion(rotationVector: Vector3(0.3, -0.2, 1.1))
    let turn = Quaternion(rotationVector: Vector3(0, 0.4, 0))
    let end = start * turn
    let reference = attitude(start.rotationVector)
    let changed = attitude(end.rotationVector)
    let copy = try #require(changed.copy() as? CMAttitude)
    changed.multiply(byInverseOf: reference)
    #expect(changed.turn.angle(to: turn) < 1e-9)
    #expect(abs(changed.roll - 0.4) < 1e-9)
    #expect(copy.turn.angle(to: end) < 1e-9, "a copy is another one")
    copy.multiply(byInverseOf: copy)
    #expect(copy.turn.angle(to: .identity) < 1e-9)
    let motion = CMDeviceMotion(reference.quaternion, CMDeviceMotion.Values(), timestamp: 1)
    motion.attitude.multiply(byInverseOf: reference)
    #expect(abs(motion.attitude.yaw) < 1e-9, "as code for iOS does it")
  }

  @Test("motion: values survive archiving, and one of which something is missing makes none")
  func archiving() throws {
    let force = CMAccelerometerData(SIMD3(0.1, -0.2, -1), timestamp: 4.5)
    #expect(try archived(force) == force)
    #expect(try archived(force)?.acceleration.z == -1)
    #expect(try #require(force.copy() as? CMAccelerometerData) == force)
    let rate = CMGyroData(SIMD3(0.1, -0.2, -1), timestamp: 4.5)
    #expect(try archived(rate) == rate)
    #expect(!rate.isEqual(force), "another quantity")
    let field = CMMagnetometerData(SIMD3(10, -20, 40), timestamp: 4.5)
    #expect(try archived(field)?.magneticField.y == -20)
    let turned = attitude(Vector3(0.1, 0.2, 0.3))
    #expect(try archived(turned) == turned)
    var values = CMDeviceMotion.Values()
    values.gravity = SIMD3(0, 0, -1)
    values.accuracy = .medium
    values.heading = 123.5
    values.headingAccuracy = 4.5
    let motion = CMDeviceMotion(turned.quaternion, values, timestamp: 7)
    let back = try #require(try archived(motion))
    #expect(back == motion)
    #expect(back.heading == 123.5 && back.headingAccuracy == 4.5)
    #expect(back.magneticField.accuracy == .medium)
    let height = CMAbsoluteAltitudeData(altitude: 36.5, accuracy: 1.5, timestamp: 3)
    #expect(try archived(height) == height)
    let coder = NSKeyedArchiver(requiringSecureCoding: true)
    coder.encode(1.0, forKey: "timestamp")
    coder.finishEncoding()
    let empty = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
    #expect(CMGyroData(coder: empty) == nil)
    #expect(CMDeviceMotion(coder: empty) == nil)
    #expect(CMAbsoluteAltitudeData(coder: empty) == nil)
  }

  @Test("motion: numbers are the SDK's")
  func numbers() {
    #expect(CMAttitudeReferenceFrame.xArbitraryZVertical.rawValue == 1)
    #expect(CMAttitudeReferenceFrame.xArbitraryCorrectedZVertical.rawValue == 2)
    #expect(CMAttitudeReferenceFrame.xMagneticNorthZVertical.rawValue == 4)
    #expect(CMAttitudeReferenceFrame.xTrueNorthZVertical.rawValue == 8)
    #expect(CMMagneticFieldCalibrationAccuracy.uncalibrated.rawValue == -1)
    #expect(CMMagneticFieldCalibrationAccuracy.high.rawValue == 2)
    #expect(CMDeviceMotion.SensorLocation.headphoneRight.rawValue == 2)
    #expect(CMErrorDeviceRequiresMovement.rawValue == 101)
    #expect(CMErrorTrueNorthNotAvailable.rawValue == 102)
  }

  @Test("what was made without values is equal to itself and to another one of its kind")
  func withoutValues() {
    let makes: [() -> CMLogItem] = [
      { CMAltitudeData() }, { CMAbsoluteAltitudeData() }, { CMAccelerometerData() },
      { CMGyroData() }, { CMMagnetometerData() },
    ]
    for make in makes {
      let (one, other) = (make(), make())
      #expect(one.isEqual(one) && one.isEqual(other) && one.hash == other.hash)
    }
    #expect(!CMGyroData().isEqual(CMAccelerometerData()))
    let motion = CMDeviceMotion()
    #expect(motion.isEqual(motion))
  }
}
