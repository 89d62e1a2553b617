import CoreMotion
import Testing

// The inventory of Core Motion: numbers, values and older names. What else it does is in the tests that `Tests/api-inventory.txt`
// names.

/// The deprecated ones; a witness may be deprecated without a warning where it is called.
private protocol OldMotion {
  func accuracies() -> [CMMagneticFieldCalibrationAccuracy]
}
private struct Old: OldMotion {
  @available(*, deprecated)
  func accuracies() -> [CMMagneticFieldCalibrationAccuracy] {
    [
      CMMagneticFieldCalibrationAccuracyUncalibrated, CMMagneticFieldCalibrationAccuracyLow,
      CMMagneticFieldCalibrationAccuracyMedium, CMMagneticFieldCalibrationAccuracyHigh,
    ]
  }
}
private protocol OldAltimeter {
  func startRelativeAltitudeUpdatesToQueue(
    _ queue: OperationQueue, withHandler handler: @escaping CMAltitudeHandler)
}
extension CMAltimeter: OldAltimeter {}

private final class Body: NSObject, CMBodyIdentifiable {}

/// An altimeter that notes what reaches the method of today.
private final class Noting: CMAltimeter {
  var queues: [OperationQueue] = []
  override func startRelativeAltitudeUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMAltitudeHandler
  ) { queues.append(queue) }
}

/// What a program's own tests put in the place of measured values.
private final class FixedMotion: CMDeviceMotion, @unchecked Sendable {
  override var heading: Double { 90 }
  override var timestamp: TimeInterval { 5 }
}
private final class FixedAltitude: CMAltitudeData, @unchecked Sendable {
  override var relativeAltitude: NSNumber { 3 }
}
private final class FixedForce: CMAccelerometerData, @unchecked Sendable {
  override var acceleration: CMAcceleration { CMAcceleration(x: 0, y: 0, z: -1) }
}

struct InventoryMotionTests {
  @Test("A2: inventory: the altimeter's spelling of 2014 leads to today's")
  func altimeter() {
    let (altimeter, queue) = (Noting(), OperationQueue())
    (altimeter as any OldAltimeter).startRelativeAltitudeUpdatesToQueue(queue) { _, _ in }
    #expect(altimeter.queues == [queue])
  }

  @Test("inventory: every value can be archived")
  func conformances() {
    let types: [any NSSecureCoding.Type] = [
      CMLogItem.self, CMAltitudeData.self, CMAbsoluteAltitudeData.self, CMAccelerometerData.self,
      CMGyroData.self, CMMagnetometerData.self, CMDeviceMotion.self, CMAttitude.self,
    ]
    #expect(types.allSatisfy { $0.supportsSecureCoding })
  }

  @Test("inventory: a program's own values are made of nothing, and what it overrides counts")
  func subclasses() {
    let motion: CMDeviceMotion = FixedMotion()
    #expect(motion.heading == 90 && motion.timestamp == 5 && motion.headingAccuracy == -1)
    #expect(motion.attitude == CMAttitude() && motion.attitude.quaternion.w == 1)
    let altitude: CMAltitudeData = FixedAltitude()
    #expect(altitude.relativeAltitude == 3 && altitude.pressure.doubleValue.isNaN)
    let force: CMAccelerometerData = FixedForce()
    #expect(force.acceleration.z == -1 && force.timestamp == 0)
    #expect(CMLogItem().timestamp == 0 && CMAbsoluteAltitudeData().altitude.isNaN)
    #expect(CMGyroData().rotationRate.x.isNaN && CMMagnetometerData().magneticField.x.isNaN)
  }

  @Test("inventory: numbers are the SDK's")
  func numbers() {
    let errors: [CMError] = [
      CMErrorNULL, CMErrorDeviceRequiresMovement, CMErrorTrueNorthNotAvailable, CMErrorUnknown,
      CMErrorMotionActivityNotAvailable, CMErrorMotionActivityNotAuthorized,
      CMErrorMotionActivityNotEntitled, CMErrorInvalidParameter, CMErrorInvalidAction,
      CMErrorNotAvailable, CMErrorNotEntitled, CMErrorNotAuthorized, CMErrorNilData, CMErrorSize,
    ]
    #expect(errors.map(\.rawValue) == Array(100...113))
    #expect(CMError(rawValue: 101) == CMErrorDeviceRequiresMovement)
    #expect(CMError(113) == CMErrorSize && CMErrorDomain == "CMErrorDomain")
    let statuses: [CMAuthorizationStatus] = [.notDetermined, .restricted, .denied, .authorized]
    #expect(statuses.map(\.rawValue) == [0, 1, 2, 3] && CMAuthorizationStatus(rawValue: 4) == nil)
    let frames: [CMAttitudeReferenceFrame] = [
      .xArbitraryZVertical, .xArbitraryCorrectedZVertical, .xMagneticNorthZVertical,
      .xTrueNorthZVertical,
    ]
    #expect(frames.map(\.rawValue) == [1, 2, 4, 8])
    #expect(CMAttitudeReferenceFrame(rawValue: 12) == [frames[2], frames[3]])
    let accuracies: [CMMagneticFieldCalibrationAccuracy] = [.uncalibrated, .low, .medium, .high]
    #expect(accuracies.map(\.rawValue) == [-1, 0, 1, 2])
    #expect(CMMagneticFieldCalibrationAccuracy(rawValue: 3) == nil)
    let old: any OldMotion = Old()
    #expect(old.accuracies() == accuracies)
    let places: [CMDeviceMotion.SensorLocation] = [.default, .headphoneLeft, .headphoneRight]
    #expect(places.map(\.rawValue) == [0, 1, 2])
    #expect(CMDeviceMotion.SensorLocation(rawValue: 3) == nil)
  }

  @Test("inventory: vectors, quaternion, matrix and field, of nothing and of their parts")
  func parts() {
    let quaternion = CMQuaternion(x: 1, y: 2, z: 3, w: 4)
    let axes: [WritableKeyPath<CMQuaternion, Double>] = [\.x, \.y, \.z, \.w]
    #expect(axes.map { quaternion[keyPath: $0] } == [1, 2, 3, 4])
    #expect(axes.allSatisfy { CMQuaternion()[keyPath: $0] == 0 })
    let matrix = CMRotationMatrix(
      m11: 1, m12: 2, m13: 3, m21: 4, m22: 5, m23: 6, m31: 7, m32: 8, m33: 9)
    let entries: [WritableKeyPath<CMRotationMatrix, Double>] = [
      \.m11, \.m12, \.m13, \.m21, \.m22, \.m23, \.m31, \.m32, \.m33,
    ]
    #expect(entries.map { matrix[keyPath: $0] } == [1, 2, 3, 4, 5, 6, 7, 8, 9])
    #expect(entries.allSatisfy { CMRotationMatrix()[keyPath: $0] == 0 })
    let acceleration = CMAcceleration(x: 1, y: 2, z: 3)
    let pushes: [WritableKeyPath<CMAcceleration, Double>] = [\.x, \.y, \.z]
    #expect(pushes.map { acceleration[keyPath: $0] } == [1, 2, 3] && CMAcceleration().z == 0)
    let rate = CMRotationRate(x: 1, y: 2, z: 3)
    let turns: [WritableKeyPath<CMRotationRate, Double>] = [\.x, \.y, \.z]
    #expect(turns.map { rate[keyPath: $0] } == [1, 2, 3] && CMRotationRate().x == 0)
    let field = CMMagneticField(x: 1, y: 2, z: 3)
    let fields: [WritableKeyPath<CMMagneticField, Double>] = [\.x, \.y, \.z]
    #expect(fields.map { field[keyPath: $0] } == [1, 2, 3] && CMMagneticField().y == 0)
    let calibrated = CMCalibratedMagneticField(field: field, accuracy: .high)
    #expect(calibrated.field.z == 3 && calibrated.accuracy == .high)
    #expect(CMCalibratedMagneticField().accuracy == .uncalibrated)
  }

  @Test("inventory: a board's motion needs no permission")
  func manager() {
    #expect(CMMotionManager.authorizationStatus() == .authorized)
  }

  @Test("inventory: a motion's body is kept, and not held")
  func body() {
    let manager = CMMotionManager()
    var body: Body? = Body()
    manager.deviceMotionBody = body
    #expect(manager.deviceMotionBody === body)
    body = nil
    #expect(manager.deviceMotionBody == nil)
  }
}
