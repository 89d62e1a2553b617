package import SensorBus
package import SensorTypes
import Synchronization

/// Whether recorders write anything down.
package final class RecordingSwitch: Sendable {
  private let value = Atomic<Bool>(true)

  /// Makes a switch that is on.
  package init() {}

  package var isOn: Bool { value.load(ordering: .relaxed) }

  /// Stops the recording permanently.
  package func turnOff() { value.store(false, ordering: .relaxed) }
}

/// Passes everything on to another input and writes down what came of it.
package final class Recorder: WorkerInput {
  private let base: any WorkerInput
  private let worker: Int
  private let isOn: RecordingSwitch
  package private(set) var trace = TraceBuffer()
  private var opened = 0
  // Of a recording that says nothing of it, everything.
  private var demand = Demand.everything
  private var isSet = false

  /// - Parameters:
  ///   - worker: The number of the worker, which its steps begin with.
  ///   - isOn: Ends the recording while the worker goes on.
  package init(_ base: any WorkerInput, worker: Int, isOn: RecordingSwitch = RecordingSwitch()) {
    self.base = base
    self.worker = worker
    self.isOn = isOn
  }

  package func beginStep() {
    trace.removeAll()
    write { $0.begin("s", worker) }
    base.beginStep()
  }

  package func endStep() {
    base.endStep()
    write { $0.begin(".") }
  }

  package func requestFiles(waiting patience: Double) { base.requestFiles(waiting: patience) }
  package func hasNewFiles() -> Bool { base.hasNewFiles() }

  package func newContent(of number: Int) -> RecordedContent? {
    guard let content = base.newContent(of: number) else { return nil }
    write { $0.content(content, number) }
    return content
  }

  package func demand(_ live: Demand) -> Demand {
    let live = base.demand(live)
    if live != demand { write { $0.demand(live) } }
    demand = live
    return live
  }

  package func now() -> Timestamp {
    let now = base.now()
    write {
      $0.begin("t")
      $0.number(now.nanoseconds)
    }
    return now
  }

  package func wallTime() -> Double {
    let wall = base.wallTime()
    let isSet = base.isWallTimeSet
    self.isSet = isSet
    write {
      $0.begin("u")
      $0.number(Int64(bitPattern: wall.bitPattern))
      if isSet { $0.number(1) }
    }
    return wall
  }

  /// As it was when the time was looked at: one line holds both.
  package var isWallTimeSet: Bool { isSet }

  package func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
    let (index, device) = try open { () throws(BusError) in
      try base.registerDevice(bus: bus, address: address)
    }
    return RecordedDevice(self, index, device)
  }

  package func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice {
    let (index, device) = try open { () throws(BusError) in
      try base.kernelDevice(bus: bus, address: address)
    }
    return RecordedKernelDevice(self, index, device)
  }

  package func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    let (index, stream) = try open { () throws(BusError) in
      try base.byteStream(port: port, baudRate: baudRate)
    }
    return RecordedStream(self, index, stream)
  }

  package func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    let (index, stream) = try open { () throws(BusError) in try base.connection(to: server) }
    return RecordedStream(self, index, stream)
  }

  package func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    let (index, line) = try open { () throws(BusError) in try base.interruptLine(name) }
    return RecordedLine(self, index, line)
  }

  /// Opens something and numbers it; also what a device that is open already opens in its turn.
  fileprivate func open<Opened>(
    _ body: () throws(BusError) -> Opened
  ) throws(BusError) -> (index: Int, opened: Opened) {
    let index = opened
    opened += 1
    let result = try attempt("o", index, body) { _, _ in }
    return (index, result)
  }

  /// Does something and writes a line of it: its letter and number, then what `describe` adds, or why it failed.
  @inline(__always)
  fileprivate func attempt<Result>(
    _ letter: Character, _ index: Int, _ body: () throws(BusError) -> Result,
    describe: (inout TraceBuffer, Result) -> Void
  ) throws(BusError) -> Result {
    do {
      let result = try body()
      write {
        $0.begin(letter, index)
        describe(&$0, result)
      }
      return result
    } catch {
      write {
        $0.begin(letter, index)
        $0.failure(error)
      }
      throw error
    }
  }

  @inline(__always)
  fileprivate func write(_ body: (inout TraceBuffer) -> Void) {
    guard isOn.isOn else { return }
    body(&trace)
    trace.end()
  }
}

private final class RecordedDevice: RegisterDevice {
  private let recorder: Recorder
  private let index: Int
  private let base: any RegisterDevice
  /// The number of repeated transfers of `base` before the current one.
  private var retriesBefore: UInt64 = 0

  init(_ recorder: Recorder, _ index: Int, _ base: any RegisterDevice) {
    (self.recorder, self.index, self.base) = (recorder, index, base)
  }

  var retries: UInt64 { base.retries }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    do { try base.read(register, into: buffer) } catch {
      write("r", register) { $0.failure(error) }
      throw error
    }
    write("r", register) { $0.hexadecimal(UnsafeRawBufferPointer(buffer)) }
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    do { try base.write(register, from: bytes) } catch {
      write("w", register) { $0.failure(error) }
      throw error
    }
    write("w", register) { $0.hexadecimal(bytes) }
  }

  private func write(
    _ letter: Character, _ register: UInt8, _ result: (inout TraceBuffer) -> Void
  ) {
    let retries = base.retries &- retriesBefore
    retriesBefore &+= retries
    recorder.write { trace in
      trace.begin(letter, index)
      trace.number(Int64(register))
      result(&trace)
      if retries > 0 { trace.number(Int64(clamping: retries)) }
    }
  }
}

private class RecordedSource: ByteSource {
  fileprivate let recorder: Recorder
  fileprivate let index: Int
  private let base: any ByteSource

  init(_ recorder: Recorder, _ index: Int, _ base: any ByteSource) {
    (self.recorder, self.index, self.base) = (recorder, index, base)
  }

  final func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    try recorder.attempt("i", index) { () throws(BusError) in
      try base.read(into: buffer)
    } describe: {
      $0.hexadecimal(UnsafeRawBufferPointer(rebasing: buffer[..<$1]))
    }
  }
}

private final class RecordedStream: RecordedSource, ByteStream {
  private let stream: any ByteStream
  private var noted: String?

  init(_ recorder: Recorder, _ index: Int, _ stream: any ByteStream) {
    self.stream = stream
    super.init(recorder, index, stream)
  }

  var readiness: Readiness { stream.readiness }
  var ignored: UInt64 { stream.ignored }

  /// Written down where it has changed.
  var note: String? {
    let note = stream.note
    if note != noted {
      recorder.write {
        $0.begin(TraceBuffer.noteLetter, index)
        $0.text(note ?? "")
      }
    }
    noted = note
    return note
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    try recorder.attempt("x", index) { () throws(BusError) in
      try stream.write(bytes)
    } describe: { trace, _ in
      trace.hexadecimal(bytes)
    }
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    try recorder.attempt("b", index) { () throws(BusError) in
      try stream.setBaudRate(rate)
    } describe: { trace, _ in
      trace.number(Int64(rate))
    }
  }
}

private final class RecordedLine: InterruptLine {
  private let recorder: Recorder
  private let index: Int
  private let base: any InterruptLine

  init(_ recorder: Recorder, _ index: Int, _ base: any InterruptLine) {
    (self.recorder, self.index, self.base) = (recorder, index, base)
  }

  var readiness: Readiness { base.readiness }

  func takeEdges() throws(BusError) -> LineEdges? {
    try recorder.attempt("e", index) { () throws(BusError) in
      try base.takeEdges()
    } describe: { trace, edges in
      if let edges { trace.number(edges.newest.nanoseconds) } else { trace.nothing() }
      if let edges, edges.count > 1 { trace.number(Int64(edges.count)) }
    }
  }

  func isHigh() throws(BusError) -> Bool {
    try recorder.attempt("h", index) { () throws(BusError) in
      try base.isHigh()
    } describe: {
      $0.number($1 ? 1 : 0)
    }
  }
}

/// Attributes by name, frames as what arrives.
private final class RecordedKernelDevice: KernelDevice {
  private let recorder: Recorder
  private let index: Int
  private let base: any KernelDevice

  init(_ recorder: Recorder, _ index: Int, _ base: any KernelDevice) {
    (self.recorder, self.index, self.base) = (recorder, index, base)
  }

  func names(in folder: String) throws(BusError) -> [String] {
    let name = TraceBuffer.name(ofFolder: folder)
    return try attempt("a", name) { () throws(BusError) in
      try base.names(in: folder)
    } text: {
      $0.joined(separator: "\n")
    }
  }

  func read(_ attribute: String) throws(BusError) -> String {
    try attempt("a", attribute) { () throws(BusError) in
      try base.read(attribute)
    } text: {
      $0
    }
  }

  func write(_ attribute: String, _ value: String) throws(BusError) {
    try attempt("v", attribute) { () throws(BusError) in
      try base.write(attribute, value)
    } text: { _ in
      value
    }
  }

  func buffer(of device: String) throws(BusError) -> any ByteSource {
    let (index, source) = try recorder.open { () throws(BusError) in try base.buffer(of: device) }
    return RecordedSource(recorder, index, source)
  }

  func poll(_ attributes: [String], every seconds: Double) throws(BusError) -> any ByteSource {
    let (index, source) = try recorder.open { () throws(BusError) in
      try base.poll(attributes, every: seconds)
    }
    return RecordedSource(recorder, index, source)
  }

  private func attempt<Result>(
    _ letter: Character, _ attribute: String, _ body: () throws(BusError) -> Result,
    text: (Result) -> String
  ) throws(BusError) -> Result {
    func begin(_ trace: inout TraceBuffer) {
      trace.begin(letter, index)
      trace.text(attribute)
    }
    do {
      let result = try body()
      recorder.write {
        begin(&$0)
        $0.text(text(result))
      }
      return result
    } catch {
      recorder.write {
        begin(&$0)
        $0.failure(error)
      }
      throw error
    }
  }
}
