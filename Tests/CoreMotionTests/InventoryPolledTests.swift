import BoardTestSupport
import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@testable import CoreMotion

// The services of Core Motion of which a program asks for the newest, instead of being told.

struct InventoryPolledTests {
  @Test("motion: acceleration and field are to be asked for, at their intervals, until the stop")
  func polled() throws {
    let stage = try MotionStage(legs: ["seconds: 60"])
    let manager = stage.manager()
    stage.run(2)
    #expect(!manager.isAccelerometerActive && !manager.isMagnetometerActive)
    #expect(manager.accelerometerData == nil && manager.magnetometerData == nil)
    manager.magnetometerUpdateInterval = 0.5
    manager.startAccelerometerUpdates()
    manager.startMagnetometerUpdates()
    stage.run(2)
    #expect(manager.isAccelerometerActive && manager.isMagnetometerActive)
    let now = stage.board.clock.now().seconds
    let force = try #require(manager.accelerometerData)
    let field = try #require(manager.magnetometerData)
    #expect(abs(force.acceleration.vector.length - 1) < 0.1 && now - force.timestamp < 0.05)
    #expect(field.magneticField.vector.length > 10 && now - field.timestamp < 0.6)
    var times: Set<Double> = []
    for _ in 0..<20 {
      stage.run(0.1)
      times.insert(try #require(manager.magnetometerData).timestamp)
    }
    #expect((4...6).contains(times.count))
    manager.stopAccelerometerUpdates()
    manager.stopMagnetometerUpdates()
    #expect(!manager.isAccelerometerActive && !manager.isMagnetometerActive)
    #expect(manager.accelerometerData == nil && manager.magnetometerData == nil)
  }
}
