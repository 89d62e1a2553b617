import Recording
import SensorBus
import SensorTypes

/// A worker's way to everything outside: its input, with what went over the wires counted and the place of each error added.
/// Confined to its worker's thread.
final class WorkerPort {
  /// How long the first step waits for the stored files, in seconds. A disk that takes longer brings them later.
  static let filePatience = 2.0

  private let input: any WorkerInput
  private let filePatience: Double
  /// What the board's clock showed when it was last looked at.
  private(set) var boardTime: Double?
  /// Bits that went over the wire since the last call of `takeBits`, for the bus load.
  private var bits = 0
  /// Transfers that were repeated because they were disturbed, so far.
  private(set) var retries: UInt64 = 0

  init(_ input: any WorkerInput, filePatience: Double = WorkerPort.filePatience) {
    self.input = input
    self.filePatience = filePatience
  }

  /// What was written down of the step; empty where nothing is recorded.
  var trace: TraceBuffer { input.trace }

  func beginStep() { input.beginStep() }
  func endStep() { input.endStep() }
  func now() -> Timestamp { input.now() }

  func wallTime() -> ClockReading {
    let seconds = input.wallTime()
    boardTime = seconds
    return ClockReading(seconds: seconds, isSet: input.isWallTimeSet)
  }

  /// Asks for a look at the stored files; what it brings is there at a later step. The first look is waited for, within
  /// limits.
  func requestFiles(isFirst: Bool) { input.requestFiles(waiting: isFirst ? filePatience : 0) }

  /// Whether stored files may have new content.
  func hasNewFiles() -> Bool { input.hasNewFiles() }

  /// The content of a stored file if it is new; `number` identifies the file.
  func newContent(of number: Int) -> RecordedContent? { input.newContent(of: number) }

  /// What all clients together ask for.
  func demand(_ live: Demand) -> Demand { input.demand(live) }

  func device(bus: String, address: UInt8) throws(BusError) -> PortDevice {
    do {
      let base = try input.registerDevice(bus: bus, address: address)
      return PortDevice(port: self, bus: bus, address: address, base: base)
    } catch {
      // As a replay says it, whose recording holds no place.
      throw BusError(error.reason, bus: bus, address: address, errno: error.errno)
    }
  }

  func kernelDevice(bus: String, address: UInt8) throws(BusError) -> PortKernelDevice {
    do {
      let base = try input.kernelDevice(bus: bus, address: address)
      return PortKernelDevice(place: "\(bus):\(hexadecimal(address))", base: base)
    } catch {
      throw BusError(error.reason, bus: bus, address: address, errno: error.errno)
    }
  }

  func stream(path: String, baudRate: Int) throws(BusError) -> PortStream {
    PortStream(path: path, base: try input.byteStream(port: path, baudRate: baudRate))
  }

  func connection(to server: ServerAddress) throws(BusError) -> PortStream {
    PortStream(path: server.description, base: try input.connection(to: server))
  }

  func line(_ name: InterruptLineName) throws(BusError) -> PortLine {
    PortLine(place: name.place, base: try input.interruptLine(name))
  }

  /// Bits transferred since the last call.
  func takeBits() -> Int {
    defer { bits = 0 }
    return bits
  }

  // An I2C transfer: 9 bits a byte, start, repeated start and stop.
  fileprivate func count(bytes: Int) { bits += bytes * 9 + 3 }

  fileprivate func count(retries: UInt64) { self.retries &+= retries }
}

/// A chip as its driver sees it.
final class PortDevice: RegisterDevice {
  private let port: WorkerPort
  private let bus: String
  private let address: UInt8
  private let base: any RegisterDevice
  /// The number of repeated transfers of `base` before the current one.
  private var retriesBefore: UInt64 = 0

  fileprivate init(port: WorkerPort, bus: String, address: UInt8, base: any RegisterDevice) {
    (self.port, self.bus, self.address, self.base) = (port, bus, address, base)
  }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    port.count(bytes: 3 + buffer.count)
    defer { countRetries() }
    do { try base.read(register, into: buffer) } catch { throw placed(error, register) }
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    port.count(bytes: 2 + bytes.count)
    defer { countRetries() }
    do { try base.write(register, from: bytes) } catch { throw placed(error, register) }
  }

  private func countRetries() {
    let retries = base.retries &- retriesBefore
    retriesBefore &+= retries
    port.count(retries: retries)
  }

  private func placed(_ error: BusError, _ register: UInt8) -> BusError {
    BusError(error.reason, bus: bus, address: address, register: register, errno: error.errno)
  }
}

/// Something that bytes arrive from, as its driver sees it.
class PortSource: ByteSource {
  private let path: String
  private let base: any ByteSource

  init(path: String, base: any ByteSource) { (self.path, self.base) = (path, base) }

  final func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    do { return try base.read(into: buffer) } catch { throw placed(error) }
  }

  fileprivate final func placed(_ error: BusError) -> BusError {
    BusError(error.reason, bus: path, errno: error.errno)
  }
}

/// A serial line or a connection as its driver sees it.
final class PortStream: PortSource, ByteStream {
  private let stream: any ByteStream

  init(path: String, base: any ByteStream) {
    stream = base
    super.init(path: path, base: base)
  }

  var readiness: Readiness { stream.readiness }
  var note: String? { stream.note }
  var ignored: UInt64 { stream.ignored }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    do { try stream.write(bytes) } catch { throw placed(error) }
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    do { try stream.setBaudRate(rate) } catch { throw placed(error) }
  }
}

/// An interrupt line as the scheduler sees it.
final class PortLine: InterruptLine {
  private let place: String
  private let base: any InterruptLine

  fileprivate init(place: String, base: any InterruptLine) {
    (self.place, self.base) = (place, base)
  }

  var readiness: Readiness { base.readiness }

  func takeEdges() throws(BusError) -> LineEdges? {
    do { return try base.takeEdges() } catch { throw placed(error) }
  }

  func isHigh() throws(BusError) -> Bool {
    do { return try base.isHigh() } catch { throw placed(error) }
  }

  private func placed(_ error: BusError) -> BusError {
    BusError(error.reason, bus: place, errno: error.errno)
  }
}

/// A chip that the kernel owns, as its driver sees it.
final class PortKernelDevice: KernelDevice {
  private let place: String
  private let base: any KernelDevice

  fileprivate init(place: String, base: any KernelDevice) {
    (self.place, self.base) = (place, base)
  }

  func names(in folder: String) throws(BusError) -> [String] {
    do { return try base.names(in: folder) } catch { throw placed(error, folder + "/") }
  }

  func read(_ attribute: String) throws(BusError) -> String {
    do { return try base.read(attribute) } catch { throw placed(error, attribute) }
  }

  func write(_ attribute: String, _ value: String) throws(BusError) {
    do { try base.write(attribute, value) } catch { throw placed(error, attribute) }
  }

  func buffer(of device: String) throws(BusError) -> any ByteSource {
    PortSource(path: "\(place) \(device)", base: try base.buffer(of: device))
  }

  func poll(_ attributes: [String], every seconds: Double) throws(BusError) -> any ByteSource {
    let path = "\(place) \(attributes.first ?? "")"
    return PortSource(path: path, base: try base.poll(attributes, every: seconds))
  }

  private func placed(_ error: BusError, _ attribute: String) -> BusError {
    BusError(error.reason, bus: "\(place) \(attribute)", errno: error.errno)
  }
}
