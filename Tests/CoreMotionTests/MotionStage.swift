// A simulated board in virtual time, with a motion manager on it.

import FacadeTestSupport
import BoardTestSupport
import Foundation
import LinearAlgebra
import LocationServices
import Lodestone
import SensorTypes
import SimulatedDevices
import Synchronization

@testable import CoreMotion
import StateStore

/// What a handler was given, in order.
final class Taken<Value: Sendable>: Sendable {
  private struct State {
    var values: [Value] = []
    var codes: [Int] = []
  }
  private let state = Mutex(State())

  var values: [Value] { state.withLock { $0.values } }
  var codes: [Int] { state.withLock { $0.codes } }

  func take(_ value: Value?, _ error: (any Error)?) {
    state.withLock { state in
      if let value { state.values.append(value) }
      if let error { state.codes.append((error as NSError).code) }
    }
  }
}

/// The board, the services on it, and a queue for handlers.
final class MotionStage {
  let board: VirtualBoard
  let runtime: LodestoneRuntime
  let queue = OperationQueue()

  /// - Parameters:
  ///   - legs: The way, as a board file says it; the board begins level and faces 40 degrees from true north.
  ///   - without: Chips that it does not have.
  init(
    legs: [String], without chips: [String] = [], head: String = "", records: Bool = false,
    prepare: (StateStore) throws -> Void = { _ in }
  ) throws {
    board = try VirtualBoard(
      edit: { text in
        let parts = (head + text).components(separatedBy: "  legs:\n")[0]
          .components(separatedBy: "  - chip: ")
        let kept = parts.filter { part in !chips.contains { part.hasPrefix($0) } }
        var text = kept.joined(separator: "  - chip: ")
        // What was in the last chip's part goes on with the simulation.
        if !text.contains("simulation:"), let last = parts.last,
          let range = last.range(of: "simulation:")
        {
          text += last[range.lowerBound...]
        }
        return text + "  legs:\n" + legs.map { "    - {\($0)}\n" }.joined()
      }, records: records, demand: Demand(), prepare: prepare)
    let clock = board.clock
    runtime = LodestoneRuntime(
      source: VirtualSource(board),
      clocks: RuntimeClocks(now: { clock.now() }, wallTime: { 1_795_000_000 }))
    queue.maxConcurrentOperationCount = 1
  }

  func manager() -> CMMotionManager { CMMotionManager(port: runtime) }

  /// Lets the board live, and gives handlers their time.
  @discardableResult
  func run(_ seconds: Double) -> [Observation] {
    var all: [Observation] = []
    var left = seconds
    while left > 1e-9 {
      let step = min(left, 0.2)
      all += board.run(step)
      runtime.settleClients()
      queue.waitUntilAllOperationsAreFinished()
      left -= step
    }
    return all
  }

  func truth(at timestamp: TimeInterval) -> TruthState {
    board.simulation.truth(at: Timestamp(seconds: timestamp))
  }
}

extension CMAcceleration {
  var vector: Vector3 { Vector3(x, y, z) }
}

extension CMRotationRate {
  var vector: Vector3 { Vector3(x, y, z) }
}

extension CMMagneticField {
  var vector: Vector3 { Vector3(x, y, z) }
}

extension CMAttitude {
  /// Device to reference frame.
  var turn: Quaternion {
    Quaternion(w: quaternion.w, x: quaternion.x, y: quaternion.y, z: quaternion.z)
  }
}

extension Quaternion {
  /// How far another rotation is from this one, degrees.
  func angle(to other: Quaternion) -> Double {
    (conjugate * other).rotationVector.length * 180 / .pi
  }
}
