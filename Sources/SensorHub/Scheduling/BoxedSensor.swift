import SensorBus
import SensorDrivers
import SensorTypes

/// A driver behind a reference, so that a worker can hold chips of many kinds in one array.
protocol AnySensor: AnyObject {
  func start() throws(DriverError) -> StartProgress
  func announce()
  func poll() throws(DriverError) -> Reading?
  var batch: Int { get }
  var raisesPin: Bool { get }
  var backlog: Int { get }
  func verify() throws(DriverError)
  func widen() -> Bool
  func sleep() throws(DriverError)
  var outputRate: Double { get }
  var latency: Double { get }
  var conversionTime: Double? { get }
  var isSelfTimed: Bool { get }
  var sampleTime: Timestamp? { get }
  var givesRate: Bool { get }
  var note: String? { get }
}

/// Owns a noncopyable driver; calls go straight through.
final class BoxedSensor<Driver: SensorDriver & ~Copyable>: AnySensor {
  private var driver: Driver

  init(_ driver: consuming Driver) { self.driver = driver }

  func start() throws(DriverError) -> StartProgress { try driver.start() }
  func announce() { driver.announce() }
  func poll() throws(DriverError) -> Reading? { try driver.poll() }
  var batch: Int { driver.batch }
  var raisesPin: Bool { driver.raisesPin }
  var backlog: Int { driver.backlog }
  func verify() throws(DriverError) { try driver.verify() }
  func widen() -> Bool { driver.widen() }
  func sleep() throws(DriverError) { try driver.sleep() }
  var outputRate: Double { driver.outputRate }
  var latency: Double { driver.latency }
  var conversionTime: Double? { driver.conversionTime }
  var isSelfTimed: Bool { driver.isSelfTimed }
  var sampleTime: Timestamp? { driver.sampleTime }
  var givesRate: Bool { driver.givesRate }
  var note: String? { driver.note }
}
