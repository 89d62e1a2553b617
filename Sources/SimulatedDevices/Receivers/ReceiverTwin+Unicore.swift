// Unicore UM982, written from the Unicore Reference Commands Manual For N4 High Precision Products (R1.13) and, for the answers to
// commands, which the manual does not have, from published captures of UM980 and UM982 (firmware R4.10).

/// Finds lines of up to 120 printable characters in what the host sends.
struct LineParser: Sendable {
  private static let longest = 120

  private var bytes: [UInt8] = []
  private var isTooLong = false

  init() { bytes.reserveCapacity(Self.longest) }

  /// The last line.
  private(set) var text = ""

  /// Takes one byte; `true` when it ends a line that is not empty.
  mutating func take(_ byte: UInt8) -> Bool {
    if byte == 13 || byte == 10 {
      text = String(decoding: bytes, as: UTF8.self)
      defer {
        bytes.removeAll(keepingCapacity: true)
        isTooLong = false
      }
      return !bytes.isEmpty && !isTooLong
    }
    if byte < 32 || byte > 126 {
      bytes.removeAll(keepingCapacity: true)
    } else if bytes.count == Self.longest {
      isTooLong = true
    } else {
      bytes.append(byte)
    }
    return false
  }
}

extension ReceiverTwin {
  /// From a command to its answer.
  private static let thinking: Int64 = 40_000_000

  /// Answers a line: as it was, with its result. What does not begin with a letter is none of its commands.
  mutating func answerLine() {
    let echo = line.text
    let words = echo.uppercased().split(separator: " ").map(String.init)
    guard let name = words.first, name.first?.isLetter ?? false else { return }
    let isKnown = obey(name, Array(words.dropFirst()))
    let result = isKnown ? "OK" : "PARSING FAILD NO MATCHING FUNC  \(name)"
    builder.writeResult(of: echo, result)
    queueReply(after: Self.thinking)
    guard isKnown, name == "VERSIONA" else { return }
    let solution = solution(at: now)
    builder.beginLog("VERSIONA", solution.time)
    builder.append(
      text: "\"UM982\",\"R4.10Build15434\",\"HRPT00-S10C-P\",\"2310415000012-LR23A2225208904\","
        + "\"ff2740966a10124c\",\"2024/08/08\"")
    builder.endLog()
    queueReply(after: Self.thinking)
  }

  private static let sentences: [String: SimulatedSentence] = [
    "GPRMC": .rmc, "GPGGA": .gga, "GPGSA": .gsa, "GPGST": .gst, "GPGLL": .gll, "GPVTG": .vtg,
    "GPZDA": .zda,
  ]
  /// Logs that this twin takes and does not send.
  private static let silent: Set<String> = ["GPGSV", "GPGNS", "GPTHS", "GPHPR", "KSXT", "BESTNAVA"]
  /// The second words of `MODE ROVER`, by the twin's numbers, from 1 on.
  private static let modes = ["SURVEY", "UAV", "AUTOMOTIVE"]

  private mutating func obey(_ name: String, _ words: [String]) -> Bool {
    switch name {
    case "VERSIONA": return words.isEmpty
    case "UNLOG":
      if let log = words.first { return setPeriod(of: log, 0) }
      configuration.periods = SIMD8(repeating: 0)
      configuration.headingPeriod = 0
      return true
    case "MODE":
      if words.first == "BASE" { return setBase(Array(words.dropFirst())) }
      guard words.first == "ROVER" else { return words.isEmpty }
      var next = configuration
      next.baseMode = BaseMode()
      if words.count > 1 {
        guard let mode = Self.modes.firstIndex(of: words[1]) else { return false }
        next.dynamicModel = mode + 1
      }
      adopt(next)
      return true
    default:
      guard words.count == 1, let seconds = Double(words[0]), (0.05...3_600).contains(seconds)
      else {
        return false
      }
      return setPeriod(of: name, Int((seconds * 1_000).rounded()))
    }
  }

  private mutating func setPeriod(of log: String, _ milliseconds: Int) -> Bool {
    var next = configuration
    if let sentence = Self.sentences[log] {
      next.periods[sentence.rawValue] = Int32(milliseconds)
    } else if log == "UNIHEADINGA" {
      next.headingPeriod = milliseconds
    } else {
      return Self.silent.contains(log)
    }
    // It computes as often as the quickest of its logs needs it.
    let all = next.periods.indices.map { Int(next.periods[$0]) } + [next.headingPeriod]
    let common = all.reduce(0, Self.divisor)
    next.measurementPeriod = common > 0 ? common : 1_000
    adopt(next)
    return true
  }

  private static func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }

  /// Whether a sentence comes with this epoch: by its rate, or, of Unicore's and Quectel's, at whole multiples of its period.
  func isDue(_ sentence: SimulatedSentence, _ s: ReceiverSolution) -> Bool {
    let rate = configuration.sentenceRates[sentence.rawValue]
    return switch model {
    case .unicore: isDue(Int(configuration.periods[sentence.rawValue]), s)
    case .quectel: isDue(Int(rate) * configuration.measurementPeriod, s)
    default: isDue(rate)
    }
  }

  func isDue(_ period: Int, _ s: ReceiverSolution) -> Bool {
    let minutes = 60 * s.time.hour + s.time.minute
    return period > 0 && (1_000 * (60 * minutes + s.time.second) + s.time.millisecond) % period == 0
  }

  /// The heading by two antennas; without them, or without a fix, the word that there is none.
  mutating func sendLogs(_ s: ReceiverSolution, at time: Int64) {
    guard isDue(configuration.headingPeriod, s) else { return }
    builder.writeHeading(s, line: antennas.map { $0 + headingError })
    queue(at: time)
  }
}

extension MessageBuilder {
  /// The answer to a line. The `$` is summed up as well.
  mutating func writeResult(of echo: String, _ result: String) {
    beginNMEA("command,")
    append(text: "\(echo),response: \(result)")
    let sum = bytes.reduce(0, ^)
    append("*")
    append(hexadecimal: UInt32(sum), digits: 2, "0123456789ABCDEF")
    append("\r\n")
  }

  /// A log with its header: how idle the processor is, GPS time, week and milliseconds, leap seconds, delay.
  mutating func beginLog(_ name: StaticString, _ time: CivilTime) {
    removeAll()
    append("#")
    append(name)
    append(text: ",78,GPS,FINE,\(time.gpsWeek),\(time.timeOfWeek),0,0,18,11;")
  }

  /// CRC-32 of what is between `#` and `*`, by the table of its polynomial, and the end of the line.
  mutating func endLog() {
    var crc: UInt32 = 0
    for byte in bytes.dropFirst() {
      crc = Self.crcTable[Int((crc ^ UInt32(byte)) & 0xFF)] ^ crc >> 8
    }
    append("*")
    append(hexadecimal: crc, digits: 8, "0123456789abcdef")
    append("\r\n")
  }

  private static let crcTable = (0..<256).map { index -> UInt32 in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value % 2 == 1 ? 0xEDB8_8320 ^ value / 2 : value / 2
    }
  }

  private mutating func append(hexadecimal number: UInt32, digits: Int, _ alphabet: StaticString) {
    for place in stride(from: digits - 1, through: 0, by: -1) {
      let digit = Int(number >> UInt32(4 * place) & 15)
      append(text: String(UnicodeScalar(alphabet.utf8Start[digit])))
    }
  }

  /// UNIHEADINGA of antennas a meter apart (manual, UNIHEADING).
  mutating func writeHeading(_ s: ReceiverSolution, line: Double?) {
    beginLog("UNIHEADINGA", s.time)
    if let line, s.hasFix {
      append("SOL_COMPUTED,NARROW_INT")
      field(1, decimals: 4)
      field(s.heading(ofLine: line), decimals: 4)
      field(0, decimals: 4)
      field(0, decimals: 4)
      field(s.headingAccuracy, decimals: 4)
      field(s.headingAccuracy * 1.3, decimals: 4)
      append(",\"999\",27,21,21,15,3,01,3,f3")
    } else {
      append("INSUFFICIENT_OBS,NONE")
      for _ in 0..<6 { field(0, decimals: 4) }
      append(",\"\",0,0,0,0,0,00,0,0")
    }
    endLog()
  }
}
