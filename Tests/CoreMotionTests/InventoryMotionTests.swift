import CoreMotion
import FacadeTestSupport
import Testing

// The inventory of Core Motion: each symbol once, with its type. What it does stands in the tests that
// `Tests/api-inventory.txt` names.

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
  @Test("A2: inventory: the altimeter and what it says; the spelling of 2014 leads to today's")
  func altimeter() {
    let questions: [() -> Bool] = [
      CMAltimeter.isRelativeAltitudeAvailable, CMAltimeter.isAbsoluteAltitudeAvailable,
    ]
    gives(CMAltimeter.authorizationStatus, (() -> CMAuthorizationStatus).self)
    gives(CMAltimeter.init, (() -> CMAltimeter).self)
    gives(
      { $0.startRelativeAltitudeUpdates(to:withHandler:) },
      ((CMAltimeter) -> (OperationQueue, @escaping CMAltitudeHandler) -> Void).self)
    gives(
      { $0.startAbsoluteAltitudeUpdates(to:withHandler:) },
      ((CMAltimeter) -> (OperationQueue, @escaping CMAbsoluteAltitudeHandler) -> Void).self)
    let stops: [(CMAltimeter) -> () -> Void] = [
      { $0.stopRelativeAltitudeUpdates }, { $0.stopAbsoluteAltitudeUpdates },
    ]
    gives(questions, [() -> Bool].self)
    gives(stops, [(CMAltimeter) -> () -> Void].self)
    gives(CMAltitudeHandler.self, ((CMAltitudeData?, (any Error)?) -> Void).Type.self)
    gives(
      CMAbsoluteAltitudeHandler.self, ((CMAbsoluteAltitudeData?, (any Error)?) -> Void).Type.self)
    has(\CMAltitudeData.relativeAltitude, NSNumber.self)
    has(\CMAltitudeData.pressure, NSNumber.self)
    has(\CMAbsoluteAltitudeData.altitude, Double.self)
    has(\CMAbsoluteAltitudeData.accuracy, Double.self)
    has(\CMAbsoluteAltitudeData.precision, Double.self)
    let (altimeter, queue) = (Noting(), OperationQueue())
    (altimeter as any OldAltimeter).startRelativeAltitudeUpdatesToQueue(queue) { _, _ in }
    #expect(altimeter.queues == [queue])
  }

  @Test("inventory: every value can be archived")
  func conformances() {
    has(\CMLogItem.timestamp, TimeInterval.self)
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
    sets(\CMError.rawValue, UInt32.self)
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
    sets(\CMCalibratedMagneticField.field, CMMagneticField.self)
    sets(\CMCalibratedMagneticField.accuracy, CMMagneticFieldCalibrationAccuracy.self)
    #expect(calibrated.field.z == 3 && calibrated.accuracy == .high)
    #expect(CMCalibratedMagneticField().accuracy == .uncalibrated)
  }

  @Test("inventory: what device motion says")
  func deviceMotion() {
    has(\CMDeviceMotion.attitude, CMAttitude.self)
    has(\CMDeviceMotion.rotationRate, CMRotationRate.self)
    has(\CMDeviceMotion.gravity, CMAcceleration.self)
    has(\CMDeviceMotion.userAcceleration, CMAcceleration.self)
    has(\CMDeviceMotion.magneticField, CMCalibratedMagneticField.self)
    has(\CMDeviceMotion.heading, Double.self)
    has(\CMDeviceMotion.headingAccuracy, Double.self)
    has(\CMDeviceMotion.sensorLocation, CMDeviceMotion.SensorLocation.self)
    has(\CMAttitude.roll, Double.self)
    has(\CMAttitude.pitch, Double.self)
    has(\CMAttitude.yaw, Double.self)
    has(\CMAttitude.rotationMatrix, CMRotationMatrix.self)
    has(\CMAttitude.quaternion, CMQuaternion.self)
    gives(CMAttitude.multiply(byInverseOf:), ((CMAttitude) -> (CMAttitude) -> Void).self)
    has(\CMAccelerometerData.acceleration, CMAcceleration.self)
    has(\CMGyroData.rotationRate, CMRotationRate.self)
    has(\CMMagnetometerData.magneticField, CMMagneticField.self)
  }

  @Test("inventory: the motion manager")
  func manager() {
    gives(CMMotionManager.init, (() -> CMMotionManager).self)
    gives(
      CMMotionManager.availableAttitudeReferenceFrames, (() -> CMAttitudeReferenceFrame).self)
    #expect(CMMotionManager.authorizationStatus() == .authorized)
    let intervals: [ReferenceWritableKeyPath<CMMotionManager, TimeInterval>] = [
      \.accelerometerUpdateInterval, \.gyroUpdateInterval, \.magnetometerUpdateInterval,
      \.deviceMotionUpdateInterval,
    ]
    let flags: [KeyPath<CMMotionManager, Bool>] = [
      \.isAccelerometerAvailable, \.isAccelerometerActive, \.isGyroAvailable, \.isGyroActive,
      \.isMagnetometerAvailable, \.isMagnetometerActive, \.isDeviceMotionAvailable,
      \.isDeviceMotionActive,
    ]
    changes(\CMMotionManager.showsDeviceMovementDisplay, Bool.self)
    changes(\CMMotionManager.deviceMotionBody, (any CMBodyIdentifiable)?.self)
    has(\CMMotionManager.accelerometerData, CMAccelerometerData?.self)
    has(\CMMotionManager.gyroData, CMGyroData?.self)
    has(\CMMotionManager.magnetometerData, CMMagnetometerData?.self)
    has(\CMMotionManager.deviceMotion, CMDeviceMotion?.self)
    has(\CMMotionManager.attitudeReferenceFrame, CMAttitudeReferenceFrame.self)
    let switches: [(CMMotionManager) -> () -> Void] = [
      { $0.startAccelerometerUpdates }, { $0.stopAccelerometerUpdates },
      { $0.startGyroUpdates }, { $0.stopGyroUpdates },
      { $0.startMagnetometerUpdates }, { $0.stopMagnetometerUpdates },
      { $0.startDeviceMotionUpdates }, { $0.stopDeviceMotionUpdates },
    ]
    gives(intervals, [ReferenceWritableKeyPath<CMMotionManager, TimeInterval>].self)
    gives(flags, [KeyPath<CMMotionManager, Bool>].self)
    gives(switches, [(CMMotionManager) -> () -> Void].self)
    typealias Start<Value> = (CMMotionManager) -> (
      OperationQueue, @escaping (Value?, (any Error)?) -> Void
    ) -> Void
    gives(
      { $0.startAccelerometerUpdates(to:withHandler:) }, Start<CMAccelerometerData>.self)
    gives({ $0.startGyroUpdates(to:withHandler:) }, Start<CMGyroData>.self)
    gives(
      { $0.startMagnetometerUpdates(to:withHandler:) }, Start<CMMagnetometerData>.self)
    gives({ $0.startDeviceMotionUpdates(to:withHandler:) }, Start<CMDeviceMotion>.self)
    gives(
      { $0.startDeviceMotionUpdates(using:) },
      ((CMMotionManager) -> (CMAttitudeReferenceFrame) -> Void).self)
    gives(
      { $0.startDeviceMotionUpdates(using:to:withHandler:) },
      ((CMMotionManager) -> (
        CMAttitudeReferenceFrame, OperationQueue, @escaping CMDeviceMotionHandler
      ) -> Void).self)
    gives(CMAccelerometerHandler.self, ((CMAccelerometerData?, (any Error)?) -> Void).Type.self)
    gives(CMGyroHandler.self, ((CMGyroData?, (any Error)?) -> Void).Type.self)
    gives(CMMagnetometerHandler.self, ((CMMagnetometerData?, (any Error)?) -> Void).Type.self)
    gives(CMDeviceMotionHandler.self, ((CMDeviceMotion?, (any Error)?) -> Void).Type.self)
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
