// Small helpers of the driver tests.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

/// Whether two numbers agree to `tolerance`, which is never wider than the last digit printed.
func near(_ a: Double, _ b: Double, _ tolerance: Double) -> Bool { abs(a - b) <= tolerance }

/// Whether two vectors agree to `tolerance` on every axis.
func near(_ a: Vector3, _ b: Vector3, _ tolerance: Double) -> Bool {
  near(a.x, b.x, tolerance) && near(a.y, b.y, tolerance) && near(a.z, b.z, tolerance)
}

/// The driver's error of `body`, or `nil` when it throws none.
func failure<R>(_ body: () throws(DriverError) -> R) -> DriverError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error
  }
}

/// Calls `start` until the chip is ready and gives the waits it asked for; at most 20 calls.
func startUp<Driver: SensorDriver & ~Copyable>(
  _ driver: inout Driver
) throws(DriverError) -> [Double] {
  var waits: [Double] = []
  for _ in 0..<20 {
    switch try driver.start() {
    case .ready: return waits
    case .wait(let seconds): waits.append(seconds)
    }
  }
  Issue.record("not ready after 20 steps")
  return waits
}

/// What became of polling until something was thrown, at most `limit` times.
func pollUntilFailure<Driver: SensorDriver & ~Copyable>(
  _ driver: inout Driver, limit: Int
) -> (readings: Int, error: DriverError?) {
  var readings = 0
  for _ in 0..<limit {
    do {
      if try driver.poll() != nil { readings += 1 }
    } catch {
      return (readings, error)
    }
  }
  return (readings, nil)
}
