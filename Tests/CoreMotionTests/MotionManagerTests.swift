import BoardTestSupport
import FacadeTestSupport
import Foundation
import LinearAlgebra
import Lodestone
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import CoreMotion
import Recording

/// The raw services and the life of a manager, on the simulated board.
struct MotionManagerTests {
  private static let (magnetometer, inertial) = (0, 1)

  private func samples(_ stage: MotionStage, _ chip: Int) -> Int {
    Int(stage.board.hub.status[chip].counters.samples)
  }

  @Test(
    "motion: raw samples are the chips' own in the SDK's units and signs, iron and bias included")
  func raw() throws {
    let stage = try MotionStage(
      legs: ["seconds: 5", "seconds: 4, pitch: 60", "seconds: 4, turn: 90", "seconds: 20"])
    let manager = stage.manager()
    #expect(manager.accelerometerUpdateInterval == 0.01)
    let forces = Taken<CMAccelerometerData>()
    let (rates, fields) = (Taken<CMGyroData>(), Taken<CMMagnetometerData>())
    manager.startAccelerometerUpdates(to: stage.queue) { forces.take($0, $1) }
    manager.startGyroUpdates(to: stage.queue) { rates.take($0, $1) }
    manager.startMagnetometerUpdates(to: stage.queue) { fields.take($0, $1) }
    stage.run(4)
    let flat = try #require(forces.values.last).acceleration
    #expect((flat.vector - Vector3(0, 0, -1)).length < 0.06, "face up, z is -1")
    #expect(abs(forces.values.count - 400) < 30)
    #expect(abs(rates.values.count - 400) < 30)
    #expect(fields.values.count > 250)
    stage.run(11)
    for data in forces.values {
      let truth = stage.truth(at: data.timestamp).specificForce / 9.80665
      #expect((data.acceleration.vector + truth).length < 0.08)
    }
    var turned = Vector3.zero
    for data in rates.values {
      let truth = stage.truth(at: data.timestamp).angularRate
      turned += data.rotationRate.vector - truth
    }
    let bias = turned / Double(rates.values.count)
    #expect(bias.length < 0.05)
    #expect(bias.length > 1e-5, "nobody takes it away here")
    let field = try #require(fields.values.last)
    let truth = stage.truth(at: field.timestamp)
    let real = truth.attitude.conjugate.rotate(truth.magneticField)
    #expect((field.magneticField.vector - real).length > 20, "the board's iron is in it")
    #expect(forces.codes + rates.codes + fields.codes == [])
  }

  @Test("motion: each manager has its interval, and the chip runs as fast as the fastest needs")
  func intervals() throws {
    let stage = try MotionStage(legs: ["seconds: 60"])
    let (slow, fast) = (stage.manager(), stage.manager())
    slow.accelerometerUpdateInterval = 0.2
    fast.accelerometerUpdateInterval = 0.02
    let (few, many) = (Taken<CMAccelerometerData>(), Taken<CMAccelerometerData>())
    slow.startAccelerometerUpdates(to: stage.queue) { few.take($0, $1) }
    stage.run(2)
    var (before, heard) = (samples(stage, Self.inertial), few.values.count)
    stage.run(10)
    let slowly = samples(stage, Self.inertial) - before
    #expect(slowly < 300, "the chip itself is slow: \(slowly) in ten seconds")
    #expect(abs(few.values.count - heard - 50) <= 2)
    #expect(samples(stage, Self.magnetometer) < 200, "nobody asks for the magnetometer")
    fast.startAccelerometerUpdates(to: stage.queue) { many.take($0, $1) }
    stage.run(2)
    (before, heard) = (few.values.count, many.values.count)
    stage.run(10)
    #expect(abs(few.values.count - before - 50) <= 2)
    #expect(abs(many.values.count - heard - 500) <= 10)
    fast.accelerometerUpdateInterval = 0.1
    stage.run(2)
    heard = many.values.count
    stage.run(5)
    #expect(abs(many.values.count - heard - 50) <= 3)
    fast.accelerometerUpdateInterval = 0
    stage.run(2)
    heard = many.values.count
    stage.run(2)
    #expect(many.values.count - heard > 400, "as fast as the board file says")
  }

  @Test(
    "motion: nothing is asked of the board before a start and after a stop, and nothing is told")
  func stop() throws {
    let stage = try MotionStage(legs: ["seconds: 60"])
    let manager = stage.manager()
    stage.run(2)
    #expect(manager.isAccelerometerAvailable)
    #expect(manager.isGyroAvailable)
    #expect(manager.isMagnetometerAvailable)
    #expect(manager.isDeviceMotionAvailable)
    #expect(!manager.isGyroActive)
    #expect(manager.gyroData == nil)
    let asleep = samples(stage, Self.inertial)
    stage.run(2)
    #expect(samples(stage, Self.inertial) == asleep)
    manager.startGyroUpdates()
    #expect(manager.isGyroActive)
    stage.run(2)
    let first = try #require(manager.gyroData)
    stage.run(1)
    let second = try #require(manager.gyroData)
    #expect(second.timestamp > first.timestamp + 0.9)
    #expect(stage.board.clock.now().seconds - second.timestamp < 0.05)
    // A handler takes the place of asking, and the other way round.
    let taken = Taken<CMGyroData>()
    manager.startGyroUpdates(to: stage.queue) { taken.take($0, $1) }
    stage.run(1)
    #expect(taken.values.count > 80)
    #expect(manager.gyroData != nil)
    manager.startGyroUpdates()
    let heard = taken.values.count
    stage.run(1)
    #expect(taken.values.count == heard)
    #expect(manager.gyroData != nil)
    manager.stopGyroUpdates()
    manager.stopGyroUpdates()
    #expect(!manager.isGyroActive)
    #expect(manager.gyroData == nil)
    stage.run(0.5)
    let stopped = samples(stage, Self.inertial)
    let later = stage.run(2)
    #expect(samples(stage, Self.inertial) == stopped)
    #expect(!later.contains { if case .motion = $0 { true } else { false } })
  }

  @Test("motion: a manager that is released counts as stopped")
  func release() throws {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    do {
      let manager = CMMotionManager(port: runtime)
      manager.startGyroUpdates()
      #expect(
        source.demands.last == Demand(motion: MotionDemand(samples: true, interval: 0.01)))
      withExtendedLifetime(manager) {}
    }
    #expect(source.demands.last == Demand())
  }

  @Test("motion: nothing while the application is suspended, and then the newest")
  func suspension() throws {
    let stage = try MotionStage(legs: ["seconds: 60"])
    let manager = stage.manager()
    let taken = Taken<CMAccelerometerData>()
    manager.startAccelerometerUpdates(to: stage.queue) { taken.take($0, $1) }
    stage.run(2)
    stage.runtime.applicationState = .suspended
    let heard = taken.values.count
    stage.run(2)
    #expect(taken.values.count == heard)
    let resumed = stage.board.clock.now().seconds
    stage.runtime.applicationState = .foreground
    stage.run(1)
    #expect(taken.values.count > heard + 50)
    #expect(taken.values[heard].timestamp > resumed - 0.05, "what is old is not caught up on")
  }

  @Test("motion: a chip that is unplugged is an error once, and values again when it is back")
  func fault() throws {
    let stage = try MotionStage(legs: ["seconds: 60"])
    let manager = stage.manager()
    let (forces, motions) = (Taken<CMAccelerometerData>(), Taken<CMDeviceMotion>())
    let fields = Taken<CMMagnetometerData>()
    manager.startAccelerometerUpdates(to: stage.queue) { forces.take($0, $1) }
    manager.startDeviceMotionUpdates(using: .xArbitraryZVertical, to: stage.queue) {
      motions.take($0, $1)
    }
    manager.startMagnetometerUpdates(to: stage.queue) { fields.take($0, $1) }
    stage.run(5)
    let now = stage.board.clock.now()
    stage.board.simulation.inject(
      .noAnswer, chip: Self.inertial, from: now, until: now.advanced(bySeconds: 6))
    stage.run(2)
    #expect(forces.codes == [109])
    #expect(motions.codes == [109])
    let (heard, magnetic) = (forces.values.count, fields.values.count)
    stage.run(3)
    #expect(forces.values.count == heard)
    #expect(fields.values.count > magnetic + 150, "the other chip goes on by itself")
    stage.run(8)
    #expect(forces.values.count > heard + 300)
    #expect(forces.codes == [109])
    #expect(motions.codes == [109])
    #expect(try #require(motions.values.last).timestamp > now.seconds + 10)
    #expect(manager.isAccelerometerActive)
  }

  @Test("motion: a board without a gyro has no device motion and invents none")
  func withoutGyro() throws {
    let stage = try MotionStage(legs: ["seconds: 60"], without: ["LSM6DSOX"])
    let manager = stage.manager()
    stage.run(1)
    #expect(!manager.isAccelerometerAvailable)
    #expect(!manager.isGyroAvailable)
    #expect(manager.isMagnetometerAvailable)
    #expect(!manager.isDeviceMotionAvailable)
    #expect(CMMotionManager.availableAttitudeReferenceFrames(on: stage.runtime).isEmpty)
    let (rates, motions, fields) = (
      Taken<CMGyroData>(), Taken<CMDeviceMotion>(), Taken<CMMagnetometerData>()
    )
    for _ in 0..<2 {
      manager.startGyroUpdates(to: stage.queue) { rates.take($0, $1) }
      manager.startDeviceMotionUpdates(to: stage.queue) { motions.take($0, $1) }
      manager.startMagnetometerUpdates(to: stage.queue) { fields.take($0, $1) }
      stage.run(2)
    }
    #expect(rates.codes == [109, 109], "once a start")
    #expect(motions.codes == [109, 109])
    #expect(rates.values.isEmpty)
    #expect(motions.values.isEmpty)
    #expect(fields.values.count > 200)
    #expect(!manager.isGyroActive)
    #expect(!manager.isDeviceMotionActive)
    #expect(manager.isMagnetometerActive)
  }

  @Test("motion: a board without a magnetometer has attitude, and no north")
  func withoutMagnetometer() throws {
    let stage = try MotionStage(legs: ["seconds: 60"], without: ["LIS3MDL"])
    let manager = stage.manager()
    stage.run(1)
    #expect(
      CMMotionManager.availableAttitudeReferenceFrames(on: stage.runtime) == .xArbitraryZVertical)
    let taken = Taken<CMDeviceMotion>()
    manager.startDeviceMotionUpdates(using: .xMagneticNorthZVertical, to: stage.queue) {
      taken.take($0, $1)
    }
    stage.run(2)
    #expect(taken.codes == [109])
    #expect(taken.values.isEmpty)
    manager.startDeviceMotionUpdates(to: stage.queue) { taken.take($0, $1) }
    stage.run(2)
    let motion = try #require(taken.values.last)
    #expect(motion.heading == -1)
    #expect(motion.magneticField.accuracy == .uncalibrated)
    #expect(taken.codes == [109])
  }

  @Test("motion: a run of starts, intervals and stops replays to the bit")
  func replay() throws {
    let stage = try MotionStage(
      legs: ["seconds: 5", "seconds: 6, turn: 90, fix: true", "seconds: 9"], records: true)
    let manager = stage.manager()
    manager.deviceMotionUpdateInterval = 0.05
    manager.startDeviceMotionUpdates(using: .xMagneticNorthZVertical)
    var live = stage.run(6)
    manager.startGyroUpdates()
    live += stage.run(2)
    manager.stopDeviceMotionUpdates()
    manager.gyroUpdateInterval = 0.1
    live += stage.run(3)
    manager.stopGyroUpdates()
    live += stage.run(1)
    manager.startDeviceMotionUpdates()
    live += stage.run(2)
    stage.board.hub.stop()
    var replayed: [Observation] = []
    try Replay.run(Recording(stage.board.recording), board: stage.board.board) {
      replayed.append($0)
    }
    let motions = live.count { if case .motion = $0 { true } else { false } }
    #expect(motions > 200)
    #expect(replayed == live)
  }
}
