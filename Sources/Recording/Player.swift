package import SensorBus
package import SensorTypes

/// Answers from a recording, a step at a time. What the drivers ask for and the recording does not hold is an error, and
/// ends the replay.
package final class Player: WorkerInput {
  private var lines: [TraceLine] = []
  private var position = 0
  private var opened = 0
  private var demand = Demand.everything
  private var isSet = false
  /// What the drivers asked for that the recording does not hold: another version, or a damaged file.
  private var divergence: String?

  package init() {}

  /// Takes the lines of the step that is played next.
  package func load(_ lines: [TraceLine]) {
    self.lines = lines
    position = 0
  }

  /// Says what is left over after a step; `nil` when everything was used.
  package func finish() -> String? {
    if divergence == nil, position < lines.count {
      divergence = "the recording holds \(lines.count - position) more transfers in this step"
    }
    return divergence
  }

  package func beginStep() {}
  package func endStep() {}
  package var trace: TraceBuffer { TraceBuffer() }

  package func requestFiles(waiting patience: Double) {}

  package func hasNewFiles() -> Bool {
    position < lines.count && lines[position].letter == TraceBuffer.contentLetter.asciiValue
  }

  package func newContent(of number: Int) -> RecordedContent? {
    guard position < lines.count, let content = lines[position].content(number) else { return nil }
    position += 1
    return content
  }

  package func demand(_ live: Demand) -> Demand {
    guard position < lines.count, let demand = lines[position].demand else { return self.demand }
    position += 1
    self.demand = demand
    return demand
  }

  package func now() -> Timestamp { Timestamp(nanoseconds: number("t")) }

  package func wallTime() -> Double {
    // Recordings of before it was asked who has set the clock have the time alone.
    isSet = position < lines.count && lines[position].number(1) == 1
    return Double(bitPattern: UInt64(bitPattern: number("u")))
  }

  package var isWallTimeSet: Bool { isSet }

  package func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
    PlayedDevice(self, try open(bus, address))
  }

  package func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice {
    PlayedKernelDevice(self, try open(bus, address))
  }

  package func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    PlayedStream(self, try open(port))
  }

  package func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    PlayedStream(self, try open(server.description))
  }

  package func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    PlayedLine(self, try open(name.place))
  }

  /// The number of what is opened; also of what a device that is open already opens in its turn.
  fileprivate func open(_ place: String, _ address: UInt8? = nil) throws(BusError) -> Int {
    let index = opened
    opened += 1
    let line = line("o", index)
    if let failure = line?.failure(1, bus: place, address: address) { throw failure }
    return index
  }

  fileprivate func line(_ letter: Character, _ index: Int) -> TraceLine? {
    guard let line = next(letter, index) else {
      _ = diverged("'\(letter) \(index)'")
      return nil
    }
    return line
  }

  /// The line of this letter and number, if it is the next one.
  fileprivate func next(_ letter: Character, _ index: Int) -> TraceLine? {
    guard position < lines.count, lines[position].letter == letter.asciiValue,
      lines[position].number(0) == Int64(index)
    else { return nil }
    defer { position += 1 }
    return lines[position]
  }

  private func number(_ letter: Character) -> Int64 {
    guard position < lines.count, lines[position].letter == letter.asciiValue,
      let number = lines[position].number(0)
    else {
      _ = diverged("'\(letter)'")
      return 0
    }
    position += 1
    return number
  }

  /// The line that says what came of something; throws why it failed. The place is in no recording: who asked adds it.
  fileprivate func answer(
    _ letter: Character, _ index: Int, _ what: String
  ) throws(BusError) -> TraceLine {
    guard let line = line(letter, index) else { throw diverged(what) }
    if let failure = line.failure(1, bus: "") { throw failure }
    return line
  }

  /// The same of a chip's register.
  fileprivate func transfer(
    _ letter: Character, _ index: Int, _ register: UInt8
  ) throws(BusError) -> TraceLine {
    guard let line = line(letter, index), line.number(1) == Int64(register) else {
      throw diverged("a transfer of register \(hexadecimal(register))")
    }
    return line
  }

  fileprivate func diverged(_ wanted: String) -> BusError {
    if divergence == nil {
      divergence =
        "damaged here, or recorded by another version: the drivers ask for \(wanted), and the recording "
        + "holds something else"
    }
    return BusError(.unsupported("this step of the recording"), bus: "replay")
  }
}

private final class PlayedDevice: RegisterDevice {
  private let player: Player
  private let index: Int
  private(set) var retries: UInt64 = 0

  init(_ player: Player, _ index: Int) { (self.player, self.index) = (player, index) }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    let line = try answer("r", register)
    guard let data = line.data(2), data.count == buffer.count else {
      throw player.diverged("a read of another length")
    }
    buffer.copyBytes(from: data)
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    guard try answer("w", register).data(2)?.elementsEqual(bytes) == true else {
      throw player.diverged("a write of other bytes")
    }
  }

  private func answer(_ letter: Character, _ register: UInt8) throws(BusError) -> TraceLine {
    let line = try player.transfer(letter, index, register)
    let failure = line.failure(2, bus: "")
    // Behind the bytes, or behind a failure's two words.
    retries &+= UInt64(clamping: line.number(failure == nil ? 3 : 4) ?? 0)
    if let failure { throw failure }
    return line
  }
}

private class PlayedSource: ByteSource {
  fileprivate let player: Player
  fileprivate let index: Int

  init(_ player: Player, _ index: Int) { (self.player, self.index) = (player, index) }

  final func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let line = try answer("i")
    guard let data = line.data(1), data.count <= buffer.count else {
      throw player.diverged("a read")
    }
    buffer.copyBytes(from: data)
    return data.count
  }

  fileprivate final func answer(_ letter: Character) throws(BusError) -> TraceLine {
    try player.answer(letter, index, "what arrives")
  }
}

private final class PlayedStream: PlayedSource, ByteStream {
  private var noted: String?
  var readiness: Readiness { .never }

  /// As it was: a line where it has changed.
  var note: String? {
    if let data = player.next(TraceBuffer.noteLetter, index)?.data(1) {
      noted = data.isEmpty ? nil : String(decoding: data, as: UTF8.self)
    }
    return noted
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    guard try answer("x").data(1)?.elementsEqual(bytes) == true else {
      throw player.diverged("a write of other bytes")
    }
  }

  func setBaudRate(_ rate: Int) throws(BusError) { _ = try answer("b") }
}

private final class PlayedLine: InterruptLine {
  private let player: Player
  private let index: Int

  init(_ player: Player, _ index: Int) { (self.player, self.index) = (player, index) }

  var readiness: Readiness { .never }

  func takeEdges() throws(BusError) -> LineEdges? {
    let line = try player.answer("e", index, "an edge")
    guard let newest = line.number(1) else { return nil }
    return LineEdges(
      newest: Timestamp(nanoseconds: newest), count: line.number(2).flatMap(Int.init(exactly:)) ?? 1
    )
  }

  func isHigh() throws(BusError) -> Bool {
    try player.answer("h", index, "a level").number(1) == 1
  }
}

private final class PlayedKernelDevice: KernelDevice {
  private let player: Player
  private let index: Int

  init(_ player: Player, _ index: Int) { (self.player, self.index) = (player, index) }

  func names(in folder: String) throws(BusError) -> [String] {
    try answer("a", TraceBuffer.name(ofFolder: folder)).split(separator: "\n").map(String.init)
  }

  func read(_ attribute: String) throws(BusError) -> String { try answer("a", attribute) }

  func write(_ attribute: String, _ value: String) throws(BusError) {
    guard try answer("v", attribute) == value else {
      throw player.diverged("\(attribute) to be set to something else")
    }
  }

  func buffer(of device: String) throws(BusError) -> any ByteSource {
    PlayedSource(player, try player.open(device))
  }

  func poll(_ attributes: [String], every seconds: Double) throws(BusError) -> any ByteSource {
    PlayedSource(player, try player.open(attributes.first ?? ""))
  }

  private func answer(_ letter: Character, _ attribute: String) throws(BusError) -> String {
    let what = "the attribute \(attribute)"
    guard let line = player.line(letter, index),
      line.data(1)?.elementsEqual(attribute.utf8) == true
    else { throw player.diverged(what) }
    if let failure = line.failure(2, bus: "") { throw failure }
    guard let data = line.data(2) else { throw player.diverged(what) }
    return String(decoding: data, as: UTF8.self)
  }
}
