package import SensorTypes

/// Clocks and buses by name, as one worker uses them.
///
/// What is opened is confined to the thread that opened it.
package protocol BusAccess {
  /// The monotonic clock of this board.
  func now() -> Timestamp

  /// What the system believes the date to be, seconds since 1970; may be years off on a board without
  /// a clock battery.
  func wallTime() -> Double

  /// Whether somebody who knows has set that date: the network's time, not what was left of the last run.
  var isWallTimeSet: Bool { get }

  /// The chip at `address` of an I2C bus (`/dev/i2c-1`). Opening does not touch the chip.
  func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice

  /// What the kernel offers of the chip at `address`, where a driver of its own has bound it; `.notFound` where
  /// none has.
  func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice

  /// A serial port (`/dev/serial0`, a by-id path, a pty), raw, at `baudRate`.
  func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream

  /// A connection to a server, begun now: it is made, or found impossible, while it is read. A UDP port is listened to from now
  /// on.
  func connection(to server: ServerAddress) throws(BusError) -> any ByteStream

  /// A GPIO line, watched for rising edges.
  func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine
}

/// Opens buses by name. There is one for a Linux board and one for the simulated board; what stands on it cannot tell them
/// apart.
package protocol BusProvider: BusAccess, Sendable {
  /// The I2C buses there are, by device node, in order of number.
  func registerBuses() -> [String]

  /// The serial ports at which a receiver may hang, most likely first.
  func serialPorts() -> [String]

  /// A connection to a server in the network, begun now: it is made, or found impossible, while it is read.
  ///
  /// - Parameters:
  ///   - isEncrypted: Whether it is TLS, with the server's certificate and name verified.
  ///   - seconds: How long it may take until it is open.
  func networkStream(
    to server: ServerAddress, isEncrypted: Bool, within seconds: Double
  ) throws(BusError) -> any NetworkStream
}

extension BusProvider {
  /// A board without a network.
  package func networkStream(
    to server: ServerAddress, isEncrypted: Bool, within seconds: Double
  ) throws(BusError) -> any NetworkStream {
    throw BusError(.noConnection("this board has no network"), bus: server.description)
  }
}

extension BusAccess {
  /// A board without kernel drivers.
  package func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice {
    throw BusError(.notFound, bus: bus, address: address)
  }
}

/// Everything on one bus, done by one thread.
package protocol BusWork: AnyObject {
  /// Does what is due and says when it wants to be called again at the latest.
  func step() -> Timestamp

  /// Calls `body` with everything that should end the wait early.
  func forEachReadiness(_ body: (Readiness) -> Void)

  /// Called once, on the thread, after the last step: leaves what it drove as it should be left. Nothing is
  /// repeated, and nobody is told how it went.
  func finish()
}

extension BusWork {
  /// Leaves everything as it is.
  package func finish() {}
}

/// Runs work, each on a thread of its own.
package protocol BusRunner: Sendable {
  /// Starts a thread called `name` that makes its work and steps it until stopped.
  func start(name: String, _ make: @escaping @Sendable () -> any BusWork) -> any BusRun

  /// Starts a thread for work that is less urgent than a bus: it never has a real-time priority.
  func startBackground(
    name: String, _ make: @escaping @Sendable () -> any BusWork
  ) -> any BusRun

  /// Whether the work is stepped on the thread of a caller who moves the clock. All subscribers are then called before a
  /// step ends. Otherwise a separate thread calls those that may take their time, so that no bus waits for them.
  var stepsOnCaller: Bool { get }
}

extension BusRunner {
  /// As any other work.
  package func startBackground(
    name: String, _ make: @escaping @Sendable () -> any BusWork
  ) -> any BusRun { start(name: name, make) }

  /// Work has a thread of its own.
  package var stepsOnCaller: Bool { false }
}

/// A thread at work.
package protocol BusRun: Sendable {
  /// Ends the current wait, so that `step` runs at once.
  func wake()
  /// Stops after the current step, lets the work finish and waits for the thread to end, at most a second.
  func stop()
}
