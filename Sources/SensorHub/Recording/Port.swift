import SensorBus
import SensorTypes

/// Everything a worker learns from outside goes through its port: clocks, transfers, bytes, edges.
///
/// That is what makes a recording complete. A live port passes on to the provider (and writes the trace
/// when one is kept); a replaying port answers from the trace. The worker cannot tell them apart.
/// Confined to its worker's thread.
final class Port {
  enum Source {
    /// The files are those of this worker, which another thread looks at; `nil` if it uses none.
    case live(any BusProvider, files: StateFileMonitor? = nil)
    case replay(ReplayCursor)
  }

  /// How long the first step waits for the stored files, in seconds. A disk that takes longer brings them later.
  static let filePatience = 2.0

  let source: Source
  private let worker: Int
  private let records: Bool
  private let filePatience: Double
  private(set) var trace = TraceBuffer()
  /// What the board's clock showed when it was last looked at.
  private(set) var boardTime: Double?
  private var opened = 0
  /// Of a recording that says nothing of it, everything.
  private var demand = Demand.everything
  /// Bits that went over the wire since the last call of `takeBits`, for the bus load.
  private var bits = 0
  /// Transfers that were repeated because they were disturbed, so far.
  private(set) var retries: UInt64 = 0

  init(
    _ source: Source, worker: Int, records: Bool, filePatience: Double = Port.filePatience
  ) {
    self.source = source
    self.filePatience = filePatience
    self.worker = worker
    self.records = records
  }

  func beginStep() {
    guard records else { return }
    trace.removeAll()
    trace.begin("s", worker)
    trace.end()
  }

  func endStep() {
    record { $0.begin(".") }
  }

  func now() -> Timestamp {
    switch source {
    case .live(let provider, _):
      let now = provider.now()
      record {
        $0.begin("t")
        $0.number(now.nanoseconds)
      }
      return now
    case .replay(let cursor): return Timestamp(nanoseconds: cursor.number("t"))
    }
  }

  func wallTime() -> ClockReading {
    let reading = clockReading()
    boardTime = reading.seconds
    return reading
  }

  private func clockReading() -> ClockReading {
    switch source {
    case .live(let provider, _):
      let wall = provider.wallTime()
      let isSet = provider.isWallTimeSet
      record {
        $0.begin("u")
        $0.number(Int64(bitPattern: wall.bitPattern))
        if isSet { $0.number(1) }
      }
      return ClockReading(seconds: wall, isSet: isSet)
    case .replay(let cursor): return cursor.wallTime()
    }
  }

  /// Asks for a look at the stored files; what it brings is there at a later step. The first look is waited for, within
  /// limits.
  func requestFiles(isFirst: Bool) {
    guard case .live(_, let files?) = source else { return }
    files.request()
    if isFirst { files.waitForFirstLook(within: filePatience) }
  }

  /// Whether stored files may have new content.
  func hasNewFiles() -> Bool {
    switch source {
    case .live(_, let files): files?.takeNews() ?? false
    case .replay(let cursor): cursor.isAtContent
    }
  }

  /// The content of a stored file if it is new; `number` identifies the file.
  func newContent(of number: Int) -> StateFile.Content? {
    switch source {
    case .live(_, let files):
      guard let content = files?.take(number) else { return nil }
      record { $0.content(content, number) }
      return content
    case .replay(let cursor): return cursor.content(number)
    }
  }

  /// What all clients together ask for; recorded where it changes.
  func demand(_ live: Demand) -> Demand {
    switch source {
    case .live:
      if live != demand { record { $0.demand(live) } }
      demand = live
    case .replay(let cursor): demand = cursor.demand() ?? demand
    }
    return demand
  }

  func device(bus: String, address: UInt8) throws(BusError) -> PortDevice {
    let base = try open(bus: bus, address: address) { (provider) throws(BusError) in
      try provider.registerDevice(bus: bus, address: address)
    }
    return PortDevice(port: self, index: opened - 1, bus: bus, address: address, base: base)
  }

  func stream(path: String, baudRate: Int) throws(BusError) -> PortStream {
    let base = try open(bus: path) { (provider) throws(BusError) in
      try provider.byteStream(port: path, baudRate: baudRate)
    }
    return PortStream(port: self, index: opened - 1, path: path, base: base)
  }

  func kernelDevice(bus: String, address: UInt8) throws(BusError) -> PortKernelDevice {
    let base = try open(bus: bus, address: address) { (provider) throws(BusError) in
      try provider.kernelDevice(bus: bus, address: address)
    }
    return PortKernelDevice(
      port: self, index: opened - 1, place: "\(bus):\(hexadecimal(address))", base: base)
  }

  /// Something that a device which is open already opens in its turn.
  func source(
    _ path: String, _ open: () throws(BusError) -> (any ByteSource)?
  ) throws(BusError) -> PortSource {
    let base = try self.open(bus: path) { (_) throws(BusError) in try open() }
    return PortSource(port: self, index: opened - 1, path: path, base: base ?? nil)
  }

  func connection(to server: ServerAddress) throws(BusError) -> PortStream {
    let base = try open(bus: server.description) { (provider) throws(BusError) in
      try provider.connection(to: server)
    }
    return PortStream(port: self, index: opened - 1, path: server.description, base: base)
  }

  func line(_ name: InterruptLineName) throws(BusError) -> PortLine {
    let base = try open(bus: name.place) { (provider) throws(BusError) in
      try provider.interruptLine(name)
    }
    return PortLine(port: self, index: opened - 1, name: name, base: base)
  }

  /// Bits transferred since the last call.
  func takeBits() -> Int {
    defer { bits = 0 }
    return bits
  }

  private func open<Opened>(
    bus: String, address: UInt8? = nil, _ body: (any BusProvider) throws(BusError) -> Opened
  ) throws(BusError) -> Opened? {
    let index = opened
    opened += 1
    switch source {
    case .live(let provider, _):
      do {
        let base = try body(provider)
        record { $0.begin("o", index) }
        return base
      } catch {
        var error = error
        // The place is in no recording: what is said here is what a replay says.
        if let address { (error.bus, error.address) = (bus, address) }
        record {
          $0.begin("o", index)
          $0.failure(error)
        }
        throw error
      }
    case .replay(let cursor):
      let line = cursor.line("o", index)
      if let failure = line?.failure(1, bus: bus, address: address) { throw failure }
      return nil
    }
  }

  // An I2C transfer: 9 bits a byte, start, repeated start and stop.
  fileprivate func count(bytes: Int) { bits += bytes * 9 + 3 }

  fileprivate func count(retries: UInt64) { self.retries &+= retries }

  func record(_ body: (inout TraceBuffer) -> Void) {
    guard records else { return }
    body(&trace)
    trace.end()
  }
}

/// A chip as its driver sees it.
final class PortDevice: RegisterDevice {
  private let port: Port
  private let index: Int
  private let bus: String
  private let address: UInt8
  private let base: (any RegisterDevice)?
  /// The number of repeated transfers of `base` before the current one.
  private var retriesBefore: UInt64 = 0

  fileprivate init(
    port: Port, index: Int, bus: String, address: UInt8, base: (any RegisterDevice)?
  ) {
    self.port = port
    self.index = index
    self.bus = bus
    self.address = address
    self.base = base
  }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    port.count(bytes: 3 + buffer.count)
    switch port.source {
    case .live:
      do {
        try base?.read(register, into: buffer)
      } catch {
        let error = placed(error, register)
        record("r", register) { $0.failure(error) }
        throw error
      }
      record("r", register) { $0.hexadecimal(UnsafeRawBufferPointer(buffer)) }
    case .replay(let cursor):
      let line = try answer(cursor, "r", register)
      guard let data = line.data(2), data.count == buffer.count else {
        throw cursor.diverged("a read of another length")
      }
      buffer.copyBytes(from: data)
    }
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    port.count(bytes: 2 + bytes.count)
    switch port.source {
    case .live:
      do {
        try base?.write(register, from: bytes)
      } catch {
        let error = placed(error, register)
        record("w", register) { $0.failure(error) }
        throw error
      }
      record("w", register) { $0.hexadecimal(bytes) }
    case .replay(let cursor):
      let line = try answer(cursor, "w", register)
      guard let data = line.data(2), data.elementsEqual(bytes) else {
        throw cursor.diverged("a write of other bytes")
      }
    }
  }

  private func record(
    _ letter: Character, _ register: UInt8, _ result: (inout TraceBuffer) -> Void
  ) {
    let retries = (base?.retries ?? 0) &- retriesBefore
    retriesBefore &+= retries
    port.count(retries: retries)
    port.record { trace in
      trace.begin(letter, index)
      trace.number(Int64(register))
      result(&trace)
      if retries > 0 { trace.number(Int64(clamping: retries)) }
    }
  }

  private func answer(
    _ cursor: ReplayCursor, _ letter: Character, _ register: UInt8
  ) throws(BusError) -> TraceLine {
    guard let line = cursor.line(letter, index), line.number(1) == Int64(register) else {
      throw cursor.diverged("a transfer of register \(hexadecimal(register))")
    }
    let failure = line.failure(2, bus: bus, address: address, register: register)
    // Behind the bytes, or behind a failure's two words.
    let retries = line.number(failure == nil ? 3 : 4) ?? 0
    port.count(retries: UInt64(clamping: retries))
    if let failure { throw failure }
    return line
  }

  private func placed(_ error: BusError, _ register: UInt8) -> BusError {
    BusError(error.reason, bus: bus, address: address, register: register, errno: error.errno)
  }
}

/// Something that bytes arrive from, as its driver sees it.
class PortSource: ByteSource {
  fileprivate let port: Port
  fileprivate let index: Int
  private let path: String
  private let base: (any ByteSource)?

  fileprivate init(port: Port, index: Int, path: String, base: (any ByteSource)?) {
    self.port = port
    self.index = index
    self.path = path
    self.base = base
  }

  final func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    switch port.source {
    case .live:
      do {
        let count = try base?.read(into: buffer) ?? 0
        port.record {
          $0.begin("i", index)
          $0.hexadecimal(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return count
      } catch { throw failed("i", error) }
    case .replay(let cursor):
      let line = try answer(cursor, "i")
      guard let data = line.data(1), data.count <= buffer.count else {
        throw cursor.diverged("a read")
      }
      buffer.copyBytes(from: data)
      return data.count
    }
  }

  fileprivate final func failed(_ letter: Character, _ error: BusError) -> BusError {
    let error = BusError(error.reason, bus: path, errno: error.errno)
    port.record {
      $0.begin(letter, index)
      $0.failure(error)
    }
    return error
  }

  fileprivate final func answer(
    _ cursor: ReplayCursor, _ letter: Character
  ) throws(BusError) -> TraceLine {
    guard let line = cursor.line(letter, index) else { throw cursor.diverged("what arrives") }
    if let failure = line.failure(1, bus: path) { throw failure }
    return line
  }
}

/// A serial line or a connection as its driver sees it.
final class PortStream: PortSource, ByteStream {
  private let stream: (any ByteStream)?

  fileprivate init(port: Port, index: Int, path: String, base: (any ByteStream)?) {
    stream = base
    super.init(port: port, index: index, path: path, base: base)
  }

  var readiness: Readiness { stream?.readiness ?? .never }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    switch port.source {
    case .live:
      do { try stream?.write(bytes) } catch { throw failed("x", error) }
      port.record {
        $0.begin("x", index)
        $0.hexadecimal(bytes)
      }
    case .replay(let cursor):
      guard try answer(cursor, "x").data(1)?.elementsEqual(bytes) == true else {
        throw cursor.diverged("a write of other bytes")
      }
    }
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    switch port.source {
    case .live:
      do { try stream?.setBaudRate(rate) } catch { throw failed("b", error) }
      port.record {
        $0.begin("b", index)
        $0.number(Int64(rate))
      }
    case .replay(let cursor): _ = try answer(cursor, "b")
    }
  }
}

extension InterruptLineName {
  /// As in messages.
  fileprivate var place: String { "\(chip) line \(line)" }
}

/// An interrupt line as the scheduler sees it.
final class PortLine {
  private let port: Port
  private let index: Int
  private let name: InterruptLineName
  private let base: (any InterruptLine)?

  fileprivate init(
    port: Port, index: Int, name: InterruptLineName, base: (any InterruptLine)?
  ) {
    self.port = port
    self.index = index
    self.name = name
    self.base = base
  }

  var readiness: Readiness { base?.readiness ?? .never }

  func takeEdge() throws(BusError) -> Timestamp? { try takeEdges()?.newest }

  func takeEdges() throws(BusError) -> LineEdges? {
    switch port.source {
    case .live:
      do {
        let edges = try base?.takeEdges()
        port.record {
          $0.begin("e", index)
          if let edges { $0.number(edges.newest.nanoseconds) } else { $0.nothing() }
          if let edges, edges.count > 1 { $0.number(Int64(edges.count)) }
        }
        return edges
      } catch { throw failed("e", error) }
    case .replay(let cursor):
      let line = try answer(cursor, "e", "an edge")
      guard let newest = line.number(1) else { return nil }
      return LineEdges(
        newest: Timestamp(nanoseconds: newest),
        count: line.number(2).flatMap(Int.init(exactly:)) ?? 1)
    }
  }

  func isHigh() throws(BusError) -> Bool {
    switch port.source {
    case .live:
      do {
        let isHigh = try base?.isHigh() ?? false
        port.record {
          $0.begin("h", index)
          $0.number(isHigh ? 1 : 0)
        }
        return isHigh
      } catch { throw failed("h", error) }
    case .replay(let cursor): return try answer(cursor, "h", "a level").number(1) == 1
    }
  }

  private func failed(_ letter: Character, _ error: BusError) -> BusError {
    let error = BusError(error.reason, bus: name.place, errno: error.errno)
    port.record {
      $0.begin(letter, index)
      $0.failure(error)
    }
    return error
  }

  private func answer(
    _ cursor: ReplayCursor, _ letter: Character, _ what: String
  ) throws(BusError) -> TraceLine {
    guard let line = cursor.line(letter, index) else { throw cursor.diverged(what) }
    if let failure = line.failure(1, bus: name.place) { throw failure }
    return line
  }
}

/// The lines of the step that is being replayed, in order.
final class ReplayCursor {
  private var lines: [TraceLine] = []
  private var position = 0
  /// What the drivers asked for that the recording does not hold: another version, or a damaged file.
  private(set) var divergence: String?

  func load(_ lines: [TraceLine]) {
    self.lines = lines
    position = 0
  }

  /// Says what is left over after a step; `nil` when everything was used.
  func finish() -> String? {
    if divergence == nil, position < lines.count {
      divergence = "the recording holds \(lines.count - position) more transfers in this step"
    }
    return divergence
  }

  func line(_ letter: Character, _ index: Int) -> TraceLine? {
    guard position < lines.count, lines[position].letter == letter.asciiValue,
      lines[position].number(0) == Int64(index)
    else {
      _ = diverged("'\(letter) \(index)'")
      return nil
    }
    defer { position += 1 }
    return lines[position]
  }

  func number(_ letter: Character) -> Int64 {
    guard position < lines.count, lines[position].letter == letter.asciiValue,
      let number = lines[position].number(0)
    else {
      _ = diverged("'\(letter)'")
      return 0
    }
    position += 1
    return number
  }

  /// The system's clock; recordings of before it was asked who has set it have the time alone.
  func wallTime() -> ClockReading {
    let isSet = position < lines.count && lines[position].number(1) == 1
    let bits = UInt64(bitPattern: number("u"))
    return ClockReading(seconds: Double(bitPattern: bits), isSet: isSet)
  }

  /// Whether a stored file's content comes next.
  var isAtContent: Bool {
    position < lines.count && lines[position].letter == TraceBuffer.letter.asciiValue
  }

  /// What was new of a stored file at this place of the recording; `nil` where nothing was.
  func content(_ index: Int) -> StateFile.Content? {
    guard position < lines.count, let content = lines[position].content(index) else { return nil }
    position += 1
    return content
  }

  /// What was asked for from this place of the recording on; `nil` where that did not change.
  func demand() -> Demand? {
    guard position < lines.count, lines[position].letter == TraceBuffer.demandLetter.asciiValue,
      let wishes = lines[position].number(0).flatMap(UInt16.init(exactly:))
    else { return nil }
    // Recordings of before there were intervals have one number.
    let milliseconds = lines[position].number(1).flatMap(UInt32.init(exactly:)) ?? 0
    let tenths = lines[position].number(2).flatMap(UInt16.init(exactly:)) ?? 0
    position += 1
    return Demand(wishes: wishes, milliseconds: milliseconds, motionTenths: tenths)
  }

  func diverged(_ wanted: String) -> BusError {
    if divergence == nil {
      divergence =
        "damaged here, or recorded by another version: the drivers ask for \(wanted), and the recording "
        + "holds something else"
    }
    return BusError(.unsupported("this step of the recording"), bus: "replay")
  }
}

extension TraceBuffer {
  /// The letter of what clients ask for.
  fileprivate static let demandLetter: Character = "d"
  /// The letter of a stored file, and its three kinds of content.
  fileprivate static let letter: Character = "k"
  fileprivate static let missing: Int64 = 0
  fileprivate static let whole: Int64 = 1
  fileprivate static let unreadable: Int64 = 2

  fileprivate mutating func demand(_ demand: Demand) {
    begin(Self.demandLetter, Int(demand.wishes))
    let tenths = demand.motionTenths
    if demand.milliseconds > 0 || tenths > 0 { number(Int64(demand.milliseconds)) }
    if tenths > 0 { number(Int64(tenths)) }
  }

  fileprivate mutating func content(_ content: StateFile.Content, _ index: Int) {
    begin(Self.letter, index)
    switch content {
    case .missing: number(Self.missing)
    case .bytes(let bytes):
      number(Self.whole)
      bytes.withUnsafeBytes { hexadecimal($0) }
    case .unreadable(let why):
      number(Self.unreadable)
      Array(why.utf8).withUnsafeBytes { hexadecimal($0) }
    }
  }
}

extension TraceLine {
  fileprivate func content(_ index: Int) -> StateFile.Content? {
    guard letter == TraceBuffer.letter.asciiValue, number(0) == Int64(index) else { return nil }
    switch number(1) {
    case TraceBuffer.missing: return .missing
    case TraceBuffer.whole: return data(2).map { .bytes($0) }
    case TraceBuffer.unreadable:
      return data(2).map { .unreadable(String(decoding: $0, as: UTF8.self)) }
    default: return nil
    }
  }
}
