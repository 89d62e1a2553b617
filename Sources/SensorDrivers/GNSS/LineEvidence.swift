// What comes on a receiver's line, whatever the decoders make of it: it explains why there are no positions.

import SensorBus
import SensorTypes

/// Counts of what has come since the receiver's last epoch.
///
/// It allocates nothing after it was made, and holds at most one sentence.
struct LineEvidence: Sendable {
  /// The longest sentence that is looked at, in bytes. Makers' own sentences are longer than the 82 of the standard.
  private static let longestSentence = 255
  /// The bytes of a greeting that are looked at.
  private static let greetingLength = 20
  /// The most sources (talker and sentence) whose times are compared.
  private static let mostSources = 16

  /// Bytes of any kind.
  private(set) var bytes: UInt64 = 0
  /// Whole sentences with the right check sum.
  private(set) var sentences = 0
  /// Sentences with a wrong check sum since the last whole one.
  private(set) var damaged = 0
  /// Sentences of positions with a time, and without one.
  private(set) var timed = 0
  private(set) var untimed = 0
  /// Sentences of positions in a row that repeat a time of the same source.
  private(set) var repetitions = 0

  private var greeting: [UInt8] = []
  private var sentence: [UInt8] = []
  private var isInSentence = false
  private var sources: [(source: UInt64, time: UInt64)] = []

  init() {
    greeting.reserveCapacity(Self.greetingLength)
    sentence.reserveCapacity(Self.longestSentence)
    sources.reserveCapacity(Self.mostSources)
  }

  /// Begins again. Whether the line has greeted is forgotten as well.
  mutating func restart() {
    (bytes, sentences, damaged, timed, untimed, repetitions) = (0, 0, 0, 0, 0, 0)
    isInSentence = false
    greeting.removeAll(keepingCapacity: true)
    sentence.removeAll(keepingCapacity: true)
    sources.removeAll(keepingCapacity: true)
  }

  mutating func append(_ content: UnsafeRawBufferPointer) {
    bytes &+= UInt64(content.count)
    if greeting.count < Self.greetingLength {
      greeting.append(contentsOf: content.prefix(Self.greetingLength - greeting.count))
    }
    for byte in content {
      switch byte {
      case UInt8(ascii: "$"), UInt8(ascii: "!"):
        isInSentence = true
        sentence.removeAll(keepingCapacity: true)
      case 10, 13:
        if isInSentence { take() }
        isInSentence = false
      case 32...126 where sentence.count < Self.longestSentence:
        if isInSentence { sentence.append(byte) }
      default: isInSentence = false
      }
    }
  }

  /// The service whose greeting this is, in place of sentences; `nil` for none that is known.
  var service: LineService? {
    func begins(_ text: String) -> Bool { greeting.starts(with: text.utf8) }
    if begins("SSH-") { return .ssh }
    if begins("{\"class\":\"VERSION\"") { return .gpsd }
    if begins("HTTP/") { return .http }
    // The first bytes of a frame of RTCM 3: its preamble and six zero bits.
    if greeting.count > 1, greeting[0] == 0xD3, greeting[1] & 0xFC == 0 { return .corrections }
    return nil
  }

  private mutating func take() {
    guard let star = sentence.lastIndex(of: UInt8(ascii: "*")), sentence.count >= star + 3,
      let high = Self.digit(sentence[star + 1]), let low = Self.digit(sentence[star + 2])
    else { return }
    var sum: UInt8 = 0
    for byte in sentence[..<star] { sum ^= byte }
    guard sum == high << 4 | low else {
      damaged += 1
      return
    }
    sentences += 1
    damaged = 0
    guard star >= 6, sentence[5] == UInt8(ascii: ",") else { return }
    var kind: UInt32 = 0
    for byte in sentence[2..<5] { kind = kind << 8 | UInt32(byte) }
    switch kind {
    case Self.kind("RMC"), Self.kind("GGA"), Self.kind("GNS"): takePosition(time: 1)
    case Self.kind("GLL"): takePosition(time: 5)
    default: break
    }
  }

  private mutating func takePosition(time place: Int) {
    var (field, time): (Int, UInt64) = (0, 0)
    var isEmpty = true
    for byte in sentence {
      if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "*") {
        field += 1
        if field > place { break }
      } else if field == place, (48...57).contains(byte) {
        isEmpty = false
        time = time &* 10 &+ UInt64(byte - 48)
      }
    }
    guard !isEmpty else {
      untimed += 1
      return
    }
    timed += 1
    var source: UInt64 = 0
    for byte in sentence[..<5] { source = source << 8 | UInt64(byte) }
    guard let index = sources.firstIndex(where: { $0.source == source }) else {
      if sources.count < Self.mostSources { sources.append((source, time)) }
      return
    }
    repetitions = sources[index].time == time ? repetitions + 1 : 0
    sources[index].time = time
  }

  private static func kind(_ name: StaticString) -> UInt32 {
    name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
  }
}

/// A service that is no receiver, known by how it begins.
package enum LineService: Sendable, Hashable {
  case gpsd
  case ssh
  case http
  /// A caster's stream of RTCM 3.
  case corrections
}

/// Why a receiver gives no epochs, as far as what it sends tells.
package enum SilenceCause: Sendable, Hashable {
  /// Nothing comes, or nothing comes any more.
  case nothing
  /// Bytes that are nothing which is understood.
  case garbage
  /// Too few bytes to say.
  case fragments
  /// Sentences whose check sums are wrong.
  case damaged
  /// The greeting of a service that is no receiver.
  case service(LineService)
  /// Positions come, of other talkers than the one that the board file names.
  case otherTalkers(wanted: String, heard: [String])
  /// Positions come, and repeat one time.
  case standstill
  /// Sentences of positions come without a time.
  case noTime
  /// Whole messages come, and none is of a position.
  case noPosition
}

extension SilenceCause {
  /// The cause in words, for any line; `nil` for causes whose words depend on the line.
  package var words: String? {
    switch self {
    case .nothing, .garbage, .fragments, .noPosition: nil
    case .damaged:
      "sentences come with wrong check sums: the line is disturbed, or something on the way changes them"
    case .service(.gpsd):
      "what answers is gpsd, which sends JSON: it is read with 'chip: gpsd'"
    case .service(.ssh): "what answers is an SSH server: check the port"
    case .service(.http): "what answers is a web server: check the port"
    case .service(.corrections):
      "what comes is a stream of corrections (RTCM 3): it belongs into 'corrections'"
    case .otherTalkers(let wanted, let heard):
      "no position comes from the talker \(wanted), but from \(heard.joined(separator: ", ")): 'talker' in the board file "
        + "chooses one; without it the first source with a fix is read, a receiver before another instrument"
    case .standstill:
      "its positions repeat one time, which stands still: the receiver has stopped, or a recording is repeated"
    case .noTime:
      "its positions have no time yet: it has not received a satellite since it was switched on; give it a view of the sky"
    }
  }
}

/// A stream that keeps account of what is read.
final class ObservedStream: ByteStream {
  /// Seconds without a byte after which nothing comes any more.
  private static let pause = 10.0
  /// Seconds that the rest of an epoch takes at most: what comes for longer is something else.
  private static let longestRest = 1.2

  private let stream: any ByteStream
  /// All bytes that were read.
  private(set) var count: UInt64 = 0
  private(set) var evidence = LineEvidence()
  /// The time of the reads, which whoever reads sets, and of the newest byte.
  var time = Timestamp(nanoseconds: 0)
  private var (oldest, newest): (Timestamp?, Timestamp?)

  init(_ stream: any ByteStream) { self.stream = stream }

  var readiness: Readiness { stream.readiness }
  var note: String? { stream.note }
  var ignored: UInt64 { stream.ignored }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let read = try stream.read(into: buffer)
    guard read > 0, read <= buffer.count else { return read }
    count &+= UInt64(read)
    oldest = oldest ?? time
    newest = time
    evidence.append(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
    return read
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) { try stream.write(bytes) }

  func setBaudRate(_ rate: Int) throws(BusError) {
    restart()
    try stream.setBaudRate(rate)
  }

  /// Whether nothing has come since the last epoch but its rest.
  var isQuiet: Bool {
    guard let oldest, let newest else { return true }
    return newest.seconds(since: oldest) < Self.longestRest
      || time.seconds(since: newest) > Self.pause
  }

  /// Begins the account again: an epoch has come.
  func restart() {
    evidence.restart()
    (oldest, newest) = (nil, nil)
  }
}
