import FoundationEssentials
import GNSSProtocol
import SensorHub
import SensorTypes
package import TerminalUI

/// Reads logs of receivers (NMEA, UBX, mixed), and recordings, and hands what they say to a writer, as it comes: neither the log nor
/// what is made of it is held in memory.
package struct LogReader {
  /// Output that is gathered before it is written; what a pipe holds.
  private static let enough = 1 << 16

  private let window: Window?
  /// What else could have been read, where nothing was.
  private let hint: String
  private var writer: any LogWriter
  private var deadReckoning = DeadReckoningAccuracy()
  /// The talkers of other sources of positions in a log, which were not read for a while at least.
  private var ignored: Set<String> = []
  /// How many sentences and messages had a wrong checksum, of all logs together.
  private(set) var wrongChecksums: UInt64 = 0
  private var text: [UInt8] = []
  /// How many epochs there were, of all logs together.
  private(set) var epochs = 0
  /// How many of them had a place.
  package private(set) var places = 0
  /// Whether anything came out: until then nothing is written, no head of a document either.
  private(set) var hasOutput = false
  /// The name of the log that is read, as long as nothing came out of it.
  private var unopened: String?
  /// Whether a signal has ended the reading: what has come until then is whole all the same.
  private(set) var wasInterrupted = false

  /// - Parameters:
  ///   - writer: What makes text of what the logs say.
  ///   - window: When the logs were made; `nil` believes their dates, and their headers more.
  ///   - hint: What is said behind the error where there was nothing in a log.
  package init(_ writer: any LogWriter, window: Window? = nil, hint: String = "") {
    self.hint = hint
    self.writer = writer
    self.window = window
    text.reserveCapacity(2 * Self.enough)
  }

  /// Reads a log to its end. Returns false where nobody reads the output any more.
  mutating func read(_ file: String) throws -> Bool {
    // A folder says that it is one here, before anything is written.
    var input = try InputFile(file)
    wasInterrupted = !Self.waits(for: input)
    guard !wasInterrupted else { return true }
    _ = try input.beginning()
    return try read(&input)
  }

  /// Waits for the first bytes of an input. Returns false if a signal came before them.
  private static func waits(for input: InputFile) -> Bool {
    let stop = StopFlag()
    let interrupts = Interrupts { stop.set($0) }
    defer { withExtendedLifetime(interrupts) {} }
    while !input.isReady() {
      guard stop.signal == nil else { return false }
    }
    interrupts.deliver()
    return stop.signal == nil
  }

  /// Seconds since 1970-01-01 between which a log was made.
  package struct Window {
    let earliest: Double
    let latest: Double?

    /// Not before a day, nor after tomorrow by this machine's clock, unless that is before the day itself.
    package init(notBefore earliest: Double) {
      self.earliest = earliest
      let tomorrow = Date().timeIntervalSince1970 + 86_400
      latest = tomorrow < earliest ? nil : tomorrow
    }

    /// By the date that a log's own header says: `# Date: 2012-03-04`, as in the logs of gpsd's collection. Half of 1024
    /// weeks before that, for nearer is a header's slip, or a log's age; two days after it, for a header is written in
    /// its author's time.
    init?(header: [UInt8]) {
      for line in header.split(separator: UInt8(ascii: "\n")).prefix(50) {
        let words = String(decoding: line, as: UTF8.self).split { " :=\t".contains($0) }
        guard words.count >= 3, words[0] == "#", words[1].lowercased() == "date" else { continue }
        guard let day = LogReader.day(String(words[2].prefix(10))) else { return nil }
        (earliest, latest) = (day - 512 * 7 * 86_400, day + 2 * 86_400)
        return
      }
      return nil
    }
  }

  /// Seconds since 1970-01-01 of a day like 2026-11-21, of four, two and two digits; `nil` for what is none.
  package static func day(_ text: String) -> Double? {
    guard let day = try? Date(text, strategy: .iso8601.year().month().day()),
      day.formatted(.iso8601.year().month().day()) == text
    else { return nil }
    return day.timeIntervalSince1970
  }

  /// Reads a log that is open.
  package mutating func read(_ input: inout InputFile) throws -> Bool {
    // Nobody waits here for an epoch: each is as whole as the bytes make it.
    let window = try window ?? Window(header: input.beginning())
    var decoder = GNSSDecoder(
      endsByRule: false, earliest: window?.earliest, latest: window?.latest)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.enough, alignment: 1)
    defer { buffer.deallocate() }
    unopened = input.name
    // Whatever becomes of the input, what has come out of it is whole.
    defer { endLog() }
    let stop = StopFlag()
    let interrupts = Interrupts { stop.set($0) }
    defer { withExtendedLifetime(interrupts) {} }
    var size = 0
    while true {
      wasInterrupted = stop.signal != nil
      if wasInterrupted { break }
      guard input.isReady() else { continue }
      let count = try input.read(into: buffer)
      if count == 0 {
        interrupts.deliver()
        wasInterrupted = stop.signal != nil
        break
      }
      size += count
      var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      while !rest.isEmpty {
        // The decoder's buffer takes each piece whole: it is larger than whatever it may wait for.
        let piece = rest.prefix(max(1, decoder.room))
        decoder.append(UnsafeRawBufferPointer(rebasing: piece), at: Timestamp(nanoseconds: 0))
        guard drain(&decoder) else { return false }
        rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
      }
      // Whoever follows a receiver through a pipe waits for no more than it has said.
      guard flush() else { return false }
    }
    decoder.finish()
    guard drain(&decoder) else { return false }
    wrongChecksums &+= decoder.counters.badChecksums
    if !ignored.isEmpty {
      let talkers = ignored.sorted().joined(separator: ", ")
      Terminal.warn(
        "lodestone: \(input.name): several sources of positions; while another was followed, "
          + "\(talkers) was not read")
      ignored = []
    }
    if decoder.counters.packets == 0, !wasInterrupted {
      throw CommandError(
        "no NMEA or UBX message in \(size) bytes of \(input.path == "-" ? input.name : input.path)"
          + hint, kind: .data)
    }
    return true
  }

  /// Takes the positions of a table. Returns false where nobody reads the output any more.
  package mutating func read(_ table: inout PositionTable, named name: String) throws -> Bool {
    unopened = name
    defer { endLog() }
    while let fix = try table.next() {
      // A row without a place has something else to say: where the way is broken times tell.
      guard fix.latitude != nil else { continue }
      epochs += 1
      if fix.place != nil { places += 1 }
      open()
      writer.append(fix, to: &text)
      if text.count >= Self.enough, !flush() { return false }
    }
    return true
  }

  /// Takes the positions of JSON lines. Returns false where nobody reads the output any more.
  mutating func read(_ lines: inout PositionLines, named name: String) throws -> Bool {
    unopened = name
    defer { endLog() }
    while let line = try lines.next() {
      switch line {
      case .fix(let fix):
        epochs += 1
        if fix.place != nil { places += 1 }
        open()
        writer.append(fix, to: &text)
      case .interruption: if unopened == nil { writer.interrupt(&text) }
      }
      if text.count >= Self.enough, !flush() { return false }
    }
    return true
  }

  /// Takes the positions of a recording, as they come when it is replayed. Returns false where nobody reads the output
  /// any more.
  package mutating func replay(_ recorded: RecordedRun, named name: String) throws -> Bool {
    unopened = name
    defer { endLog() }
    var isRead = true
    try recorded.replay(isWanted: { isRead }) { observation in
      switch observation {
      // What the filter carries on is no position of the receiver's: there the line is broken.
      case .location(let location) where location.carried == nil:
        epochs += 1
        places += 1
        open()
        writer.append(location.fix, to: &text)
      case .location, .locationUnavailable: if unopened == nil { writer.interrupt(&text) }
      default: return
      }
      if isRead, text.count >= Self.enough { isRead = flush() }
    }
    return isRead
  }

  /// Writes what is left; nothing where nothing came out. Returns false where nobody reads the output any more.
  package mutating func finish() -> Bool {
    if hasOutput { writer.end(&text) }
    return flush()
  }

  /// Something comes out of the log: what stands ahead of it is due.
  private mutating func open() {
    guard let name = unopened else { return }
    if !hasOutput { writer.begin(&text) }
    hasOutput = true
    writer.beginLog(named: name, &text)
    unopened = nil
  }

  private mutating func endLog() {
    deadReckoning = DeadReckoningAccuracy()
    if unopened == nil { writer.endLog(&text) }
    unopened = nil
  }

  private mutating func drain(_ decoder: inout GNSSDecoder) -> Bool {
    while let event = decoder.nextReport() {
      switch event {
      case .epoch(var fix, _):
        epochs += 1
        // The accuracies of other kinds stay as the receiver reported them.
        deadReckoning.complete(&fix)
        if fix.place != nil { places += 1 }
        open()
        writer.append(fix, to: &text)
      case .answer, .restarted, .condition, .message: break
      case .ignored(let talkers): ignored.formUnion(talkers)
      case .sky, .heading, .identity:
        guard !writer.takesEpochsAlone else { break }
        open()
        append(event, of: decoder)
      }
      if text.count >= Self.enough, !flush() { return false }
    }
    return true
  }

  /// Hands on what is no epoch.
  private mutating func append(_ event: GNSSEvent, of decoder: GNSSDecoder) {
    switch event {
    case .sky: writer.append(decoder.satellites, to: &text)
    case .heading(let heading): writer.append(heading, to: &text)
    case .identity: writer.append(decoder.identity, to: &text)
    case .epoch, .answer, .restarted, .condition, .message, .ignored: break
    }
  }

  private mutating func flush() -> Bool {
    defer { text.removeAll(keepingCapacity: true) }
    return Terminal.write(text)
  }
}
