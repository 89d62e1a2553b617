import FacadeTestSupport
import Foundation
import Lodestone
import SensorTypes
import SimulatedDevices
import Testing

@testable import CoreMotion

struct AbsoluteAltitudeTests {
  private func height(_ metres: Double, at seconds: Double, accuracy: Double = 2) -> Observation {
    .absoluteAltitude(
      AbsoluteAltitudeEstimate(
        time: Timestamp(seconds: seconds), altitude: metres, accuracy: accuracy))
  }

  @Test("A6: available is what the board answers")
  func availability() {
    for has in [true, false] {
      let source = ScriptedSource(
        capabilities: HardwareCapabilities(
          heading: false, location: has, relativeAltitude: true, absoluteAltitude: has))
      let runtime = LodestoneRuntime(source: source)
      #expect(CMAltimeter.isAbsoluteAltitudeAvailable(on: runtime) == has)
    }
    #expect(CMAltimeter.authorizationStatus() == .authorized)
  }

  @Test(
    "A6: heights go to the last handler on its queue, a loss is one error, and a stop ends them")
  func handler() {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let altimeter = CMAltimeter(port: runtime)
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let (first, second, relative) = (
      Taken<CMAbsoluteAltitudeData>(), Taken<CMAbsoluteAltitudeData>(), Taken<CMAltitudeData>()
    )
    altimeter.startAbsoluteAltitudeUpdates(to: queue) { first.take($0, $1) }
    #expect(
      source.demands.last == Demand(location: true, locationInterval: 1, altitude: true))
    source.publish(height(36.5, at: 1))
    runtime.settleClients()
    queue.waitUntilAllOperationsAreFinished()
    altimeter.startAbsoluteAltitudeUpdates(to: queue) { second.take($0, $1) }
    altimeter.startRelativeAltitudeUpdates(to: queue) { relative.take($0, $1) }
    source.publish(height(37, at: 2, accuracy: 0.3))
    source.publish(.altitude(5, at: 2))
    source.publish(.altitudeUnavailable(.sensorLost("bus"), at: Timestamp(seconds: 3)))
    runtime.settleClients()
    queue.waitUntilAllOperationsAreFinished()
    #expect(first.values.map(\.altitude) == [36.5])
    #expect(first.values.map(\.accuracy) == [2])
    #expect(first.values.map(\.precision) == [2])
    #expect(second.values.map(\.altitude) == [37])
    #expect(second.values.map(\.precision) == [0.2])
    #expect(second.codes == [109])
    #expect(relative.values.count == 1)
    #expect(relative.codes == [109])
    altimeter.stopAbsoluteAltitudeUpdates()
    altimeter.stopAbsoluteAltitudeUpdates()
    #expect(source.demands.last == Demand(altitude: true))
    source.publish(height(38, at: 4))
    runtime.settleClients()
    queue.waitUntilAllOperationsAreFinished()
    #expect(second.values.count == 1)
  }

  @Test("A6: on the simulated board heights are the truth within their accuracy, one a second")
  func simulated() throws {
    let stage = try MotionStage(
      legs: ["seconds: 10, fix: true", "seconds: 20, climb: 15", "seconds: 60"])
    let altimeter = CMAltimeter(port: stage.runtime)
    stage.run(4)
    #expect(CMAltimeter.isAbsoluteAltitudeAvailable(on: stage.runtime))
    let taken = Taken<CMAbsoluteAltitudeData>()
    altimeter.startAbsoluteAltitudeUpdates(to: stage.queue) { taken.take($0, $1) }
    stage.run(60)
    #expect((40...66).contains(taken.values.count))
    let inside = taken.values.filter {
      abs($0.altitude - stage.truth(at: $0.timestamp).altitude) <= 1.96 * $0.accuracy
    }
    #expect(Double(inside.count) >= 0.9 * Double(taken.values.count))
    #expect(taken.values.allSatisfy { $0.precision <= max(0.1, $0.accuracy) })
    #expect(taken.codes.isEmpty)
  }
}
