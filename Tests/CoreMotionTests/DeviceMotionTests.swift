import BoardFile
import BoardTestSupport
import CalibrationCore
import Foundation
import LinearAlgebra
import Lodestone
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import CoreMotion
import StateStore

/// Device motion against the truth of the simulated board.
struct DeviceMotionTests {
  private static let north = Quaternion(rotationVector: Vector3(0, 0, -.pi / 2))

  private func turned(_ degrees: Double) -> Quaternion {
    Quaternion(rotationVector: Vector3(0, 0, degrees * .pi / 180))
  }

  private func wrapped(_ degrees: Double) -> Double { degrees.remainder(dividingBy: 360) }

  /// What the board does before it is looked at, how it lies then, and which way it faces.
  struct Pose: Sendable, CustomTestStringConvertible {
    var name: String
    var leg: String
    var pitch = 0.0
    var roll = 0.0
    var turn = 0.0
    var testDescription: String { name }
  }

  static let poses = [
    Pose(name: "flat", leg: "seconds: 4"),
    Pose(name: "on its nose", leg: "seconds: 4, pitch: -70", pitch: -70),
    Pose(name: "nose up", leg: "seconds: 4, pitch: 70", pitch: 70),
    Pose(name: "right side down", leg: "seconds: 4, roll: 80", roll: 80),
    Pose(name: "left side down", leg: "seconds: 4, roll: -80", roll: -80),
    Pose(name: "turned", leg: "seconds: 4, turn: 130", turn: 130),
    Pose(
      name: "all of it", leg: "seconds: 4, turn: -75, pitch: 30, roll: -40", pitch: 30, roll: -40,
      turn: -75),
  ]

  @Test(
    "motion: gravity, attitude and heading in all four frames, however the board lies",
    arguments: poses)
  func lying(pose: Pose) throws {
    let stage = try MotionStage(legs: ["seconds: 10, fix: true", pose.leg, "seconds: 60"])
    stage.run(4)
    let frames: [CMAttitudeReferenceFrame] = [
      .xArbitraryZVertical, .xArbitraryCorrectedZVertical, .xMagneticNorthZVertical,
      .xTrueNorthZVertical,
    ]
    #expect(CMMotionManager.availableAttitudeReferenceFrames(on: stage.runtime).rawValue == 15)
    let managers = frames.map { frame in
      let manager = stage.manager()
      manager.deviceMotionUpdateInterval = 0.1
      manager.startDeviceMotionUpdates(using: frame)
      #expect(manager.attitudeReferenceFrame == frame)
      return manager
    }
    stage.run(25)
    for (frame, manager) in zip(frames, managers) {
      let motion = try #require(manager.deviceMotion, "\(frame)")
      let truth = stage.truth(at: motion.timestamp)
      let up = truth.attitude.conjugate.rotate(Vector3(0, 0, 1))
      #expect((motion.gravity.vector + up).length < 0.035)
      #expect(abs(motion.gravity.vector.length - 1) < 1e-9)
      #expect(motion.userAcceleration.vector.length < 0.06)
      #expect(motion.rotationRate.vector.length < 0.01)
      let attitude = motion.attitude
      #expect(abs(wrapped(attitude.pitch * 180 / .pi - pose.pitch)) < 2)
      #expect(abs(wrapped(attitude.roll * 180 / .pi - pose.roll)) < 4)
      switch frame {
      case .xTrueNorthZVertical, .xMagneticNorthZVertical:
        let isTrue = frame == .xTrueNorthZVertical
        let earth = isTrue ? truth.attitude : turned(truth.declination) * truth.attitude
        let error = attitude.turn.angle(to: Self.north * earth)
        #expect(error < 3, "\(frame.rawValue): \(error)")
        let heading = isTrue ? truth.heading : truth.magneticHeading
        #expect(abs(wrapped(motion.heading - heading)) < 5)
        #expect(motion.headingAccuracy > 0 && motion.headingAccuracy < 15)
        // X to the north: the yaw of a board that faces north is a quarter to the left.
        #expect(abs(wrapped(attitude.yaw * 180 / .pi + heading + 90)) < 5)
      default:
        #expect(motion.heading == -1 && motion.headingAccuracy == -1)
        // It began at zero and has turned with the board.
        #expect(abs(wrapped(attitude.yaw * 180 / .pi + pose.turn)) < 3)
      }
      let field = motion.magneticField
      if frame == .xArbitraryZVertical {
        #expect(field.accuracy == .uncalibrated)
        #expect(field.field.vector == .zero)
      } else {
        let real = truth.attitude.conjugate.rotate(truth.magneticField)
        #expect((field.field.vector - real).length < 3)
        #expect(field.accuracy == .high || field.accuracy == .medium)
      }
      #expect(motion.sensorLocation == .default)
    }
  }

  @Test(
    "motion: in motion gravity and the rest are what was measured, and turns have the truth's rate and sign"
  )
  func moving() throws {
    let stage = try MotionStage(
      legs: [
        "seconds: 6, fix: true", "seconds: 3, turn: 120", "seconds: 3, pitch: 40, roll: 20",
        "seconds: 3, turn: -200, speed: 2", "seconds: 3, pitch: -30, roll: -50",
        "seconds: 4, pitch: 0, roll: 0, speed: 0", "seconds: 20",
      ])
    let manager = stage.manager()
    manager.deviceMotionUpdateInterval = 0.02
    manager.accelerometerUpdateInterval = 0
    let (motions, forces) = (Taken<CMDeviceMotion>(), Taken<CMAccelerometerData>())
    manager.startDeviceMotionUpdates(using: .xMagneticNorthZVertical, to: stage.queue) {
      motions.take($0, $1)
    }
    manager.startAccelerometerUpdates(to: stage.queue) { forces.take($0, $1) }
    stage.run(24)
    let measured = Dictionary(forces.values.map { ($0.timestamp, $0.acceleration.vector) }) {
      a, _ in a
    }
    #expect(motions.values.count > 1_000)
    var (squares, worstAttitude) = (0.0, 0.0)
    for motion in motions.values {
      let raw = try #require(measured[motion.timestamp])
      #expect((motion.gravity.vector + motion.userAcceleration.vector - raw).length < 1e-12)
      let truth = stage.truth(at: motion.timestamp)
      squares += (motion.rotationRate.vector - truth.angularRate).lengthSquared
      guard motion.timestamp - stage.board.start.seconds > 4 else { continue }
      worstAttitude = max(
        worstAttitude,
        motion.attitude.turn.angle(
          to: Self.north * turned(truth.declination) * truth.attitude))
    }
    let rms = (squares / Double(motions.values.count)).squareRoot()
    print("motion: rate rms \(rms) rad/s, attitude worst \(worstAttitude) deg")
    #expect(rms < 0.02)
    #expect(worstAttitude < 4)
    #expect(motions.codes.isEmpty)
  }

  @Test("motion: another calibration moves north, and no arbitrary frame jumps")
  func calibrationChange() throws {
    let stage = try MotionStage(legs: ["seconds: 200"])
    let (free, corrected) = (stage.manager(), stage.manager())
    let (first, second) = (Taken<CMDeviceMotion>(), Taken<CMDeviceMotion>())
    free.startDeviceMotionUpdates(using: .xArbitraryZVertical, to: stage.queue) {
      first.take($0, $1)
    }
    corrected.startDeviceMotionUpdates(
      using: .xArbitraryCorrectedZVertical, to: stage.queue
    ) { second.take($0, $1) }
    let observations = stage.run(15)
    let key = try #require(
      stage.board.board.sensors.first.map { CalibrationKey(.magnetometer, $0) })
    guard case .record(.magnetometer(var record)) = stage.board.state.calibrations.current(key)
    else {
      Issue.record("no calibration")
      return
    }
    record.offset += Vector3(8, -6, 0)
    try stage.board.state.calibrations.save(record)
    let later = stage.run(25)
    func heading(_ observations: [Observation]) -> Double? {
      for case .heading(let estimate) in observations.reversed() {
        return estimate.magneticHeading * 180 / .pi
      }
      return nil
    }
    let before = try #require(heading(observations))
    let after = try #require(heading(later))
    #expect(abs(wrapped(after - before)) > 3, "north has moved")
    for (taken, limit) in [(first, 0.02), (second, 0.03)] {
      let yaws = taken.values.map { $0.attitude.yaw * 180 / .pi }
      let steps = zip(yaws.dropFirst(), yaws).map { abs(wrapped($0 - $1)) }
      #expect(
        (steps.max() ?? 1) < limit, "no step above \(limit) degrees in a hundredth of a second")
    }
    let drift = try #require(first.values.last).attitude.yaw * 180 / .pi
    #expect(abs(drift) < 1.5)
    let led = try #require(second.values.last).attitude.yaw * 180 / .pi
    #expect(abs(led) > 2, "it follows")
    #expect(abs(led) < 7, "slowly")
  }

  @Test("motion: true north is told as missing until the board knows where it is")
  func trueNorth() throws {
    let stage = try MotionStage(legs: ["seconds: 8, fix: false", "seconds: 20, fix: true"])
    let manager = stage.manager()
    let taken = Taken<CMDeviceMotion>()
    manager.startDeviceMotionUpdates(using: .xTrueNorthZVertical, to: stage.queue) {
      taken.take($0, $1)
    }
    stage.run(6)
    #expect(taken.codes == [Int(CMErrorTrueNorthNotAvailable.rawValue)])
    #expect(taken.values.isEmpty)
    stage.run(10)
    #expect(taken.codes.count == 1)
    let motion = try #require(taken.values.last)
    #expect(abs(wrapped(motion.heading - stage.truth(at: motion.timestamp).heading)) < 4)
  }

  @Test(
    "motion: without a calibration there is no north; the movement display asks for one, and nobody else"
  )
  func uncalibrated() throws {
    for shows in [false, true] {
      let stage = try MotionStage(legs: ["seconds: 60, fix: true"])
      try FileManager.default.removeItem(at: stage.board.state.folder)
      let prompts = Kept<Bool>()
      let isShown = DispatchSemaphore(value: 0)
      stage.runtime.calibrationPresenter = .closure { event in
        guard case .show = event else { return }
        prompts.append(true)
        isShown.signal()
      }
      let manager = stage.manager()
      manager.showsDeviceMovementDisplay = shows
      let taken = Taken<CMDeviceMotion>()
      manager.startDeviceMotionUpdates(using: .xMagneticNorthZVertical, to: stage.queue) {
        taken.take($0, $1)
      }
      stage.run(5)
      #expect(taken.codes == [Int(CMErrorDeviceRequiresMovement.rawValue)])
      #expect(taken.values.isEmpty)
      if shows { #expect(isShown.wait(timeout: .now() + 60) == .success) }
      #expect(prompts.all.count == (shows ? 1 : 0))
      // The frames that need no north go on, and say that the field is not calibrated.
      manager.startDeviceMotionUpdates(using: .xArbitraryCorrectedZVertical, to: stage.queue) {
        taken.take($0, $1)
      }
      stage.run(2)
      let motion = try #require(taken.values.last)
      #expect(motion.magneticField.accuracy == .uncalibrated)
      #expect(motion.magneticField.field.vector == .zero)
    }
  }

  @Test("motion: a frame that is none, or several, is refused")
  func invalidFrame() throws {
    let stage = try MotionStage(legs: ["seconds: 5"])
    let manager = stage.manager()
    let taken = Taken<CMDeviceMotion>()
    for frame: CMAttitudeReferenceFrame in [[], [.xArbitraryZVertical, .xTrueNorthZVertical]] {
      manager.startDeviceMotionUpdates(using: frame, to: stage.queue) { taken.take($0, $1) }
      manager.startDeviceMotionUpdates(using: frame)
    }
    stage.run(0.2)
    #expect(taken.codes == Array(repeating: Int(CMErrorInvalidParameter.rawValue), count: 2))
    #expect(!manager.isDeviceMotionActive)
  }
}
