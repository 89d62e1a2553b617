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

/// The reading is of an accelerometer with a gyro: 100 degrees a second about X and 1 g along Z unless said otherwise.
func expectMotion(
  _ reading: Reading?, degrees: Vector3 = Vector3(100, 0, 0), g: Vector3 = Vector3(0, 0, 1),
  _ location: SourceLocation = #_sourceLocation
) {
  guard case .inertial(let rate, let force) = reading else {
    Issue.record("no sample", sourceLocation: location)
    return
  }
  let degree = Double.pi / 180
  #expect(near(rate, degree * degrees, 1e-12), sourceLocation: location)
  #expect(near(force, 9.80665 * g, 1e-9), sourceLocation: location)
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
