package import SensorBus
package import SensorTypes

/// Everything that a worker learns from outside: clocks, transfers, bytes and edges, stored files, and what clients ask
/// for. That nothing comes another way is what makes a recording complete.
///
/// There are three: `LiveInput` passes on to the board, `Recorder` passes on to another input and writes down what came of
/// it, `Player` answers from a recording. A worker cannot tell them apart. Each is confined to its worker's thread.
package protocol WorkerInput: BusAccess {
  func beginStep()
  func endStep()
  /// What was written down of the step; empty where nothing is recorded.
  var trace: TraceBuffer { get }
  /// Asks for a look at the stored files; what it brings is there at a later step.
  ///
  /// - Parameter patience: How long the look is waited for, seconds; 0: not at all.
  func requestFiles(waiting patience: Double)
  /// Whether stored files may have new content.
  func hasNewFiles() -> Bool
  /// The content of a stored file if it is new; `number` identifies the file.
  func newContent(of number: Int) -> RecordedContent?
  /// What all clients together ask for.
  ///
  /// - Parameter live: What they ask for now.
  func demand(_ live: Demand) -> Demand
}

/// What a stored file held, as a recording keeps it.
package enum RecordedContent: Equatable, Sendable {
  case missing
  case bytes([UInt8])
  /// It cannot be read; why.
  case unreadable(String)
}

/// The stored files that a worker uses, looked at on another thread.
package protocol StoredFileSource: Sendable {
  /// Asks for a look.
  func request()
  /// Waits until the files have been looked at once, but no longer than this many seconds.
  func waitForFirstLook(within seconds: Double)
  /// Returns whether there is content to take, and forgets that there was.
  func takeNews() -> Bool
  /// Takes the newest content of a file; `nil` if it has not changed since it was last taken.
  func take(_ number: Int) -> RecordedContent?
}

/// What comes from the board itself.
package final class LiveInput: WorkerInput {
  private let provider: any BusAccess
  private let files: (any StoredFileSource)?

  /// - Parameter files: The files of this worker; `nil` if it uses none.
  package init(_ provider: any BusAccess, files: (any StoredFileSource)? = nil) {
    self.provider = provider
    self.files = files
  }

  package func beginStep() {}
  package func endStep() {}
  package var trace: TraceBuffer { TraceBuffer() }

  package func requestFiles(waiting patience: Double) {
    files?.request()
    if patience > 0 { files?.waitForFirstLook(within: patience) }
  }

  package func hasNewFiles() -> Bool { files?.takeNews() ?? false }
  package func newContent(of number: Int) -> RecordedContent? { files?.take(number) }
  package func demand(_ live: Demand) -> Demand { live }

  package func now() -> Timestamp { provider.now() }
  package func wallTime() -> Double { provider.wallTime() }
  package var isWallTimeSet: Bool { provider.isWallTimeSet }

  package func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
    try provider.registerDevice(bus: bus, address: address)
  }

  package func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice {
    try provider.kernelDevice(bus: bus, address: address)
  }

  package func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    try provider.byteStream(port: port, baudRate: baudRate)
  }

  package func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    try provider.connection(to: server)
  }

  package func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    try provider.interruptLine(name)
  }
}
