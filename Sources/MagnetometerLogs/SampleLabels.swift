// Lines that name their numbers: `x=1.0 y=2.0 z=3.0`, `imu.compass = [1, 2, 3]`, JSON objects, `Raw:1,2,3`.

/// How a file names the numbers of each line.
///
/// A name ends with `=` or `:`; behind it stands a number, with a unit or without, or several numbers that commas or
/// blanks separate, in brackets or not. JSON's objects lead to names with dots (`mag.x`). Anything else in a line does
/// not count: a clock's time, a level of logging, words.
struct SampleLabels: Hashable {
  /// The names of a line's numbers, as a header has them.
  let names: [String]
  /// The names as the file has them.
  private let keys: [String]
  /// What a number of each column has to be divided by.
  private let divisors: [Double]
  /// The field's columns in a stream of a known program, counted from 1.
  let field: SampleTable.Columns?

  /// The most numbers that are read from a line.
  private static let most = 64
  /// The most bytes of a name; longer ones are text.
  private static let longestName = 80

  /// The number of lines that name at least three numbers.
  let named: Int
  /// The lines that do not.
  let others: [[UInt8]]

  /// Takes the names that most lines share; `nil` if no line names three numbers.
  init?(_ lines: [[UInt8]]) {
    var counts: [[String]: (count: Int, first: Int)] = [:]
    var others: [[UInt8]] = []
    for (place, line) in lines.enumerated() {
      let keys = Self.pairs(line).map(\.key)
      guard keys.count >= 3 else {
        others.append(line)
        continue
      }
      // Names that change with every line are not kept.
      guard counts[keys] != nil || counts.count < Self.most else { continue }
      counts[keys] = ((counts[keys]?.count ?? 0) + 1, counts[keys]?.first ?? place)
    }
    (named, self.others) = (lines.count - others.count, others)
    let best = counts.max { ($0.value.count, -$0.value.first) < ($1.value.count, -$1.value.first) }
    guard let keys = best?.key else { return nil }
    self.keys = keys
    // MotionCal's stream, as Adafruit's programs write it: 8192 counts a g, 16 counts a degree per second and 10 counts
    // a microtesla; "Uni:" in SI units and microtesla.
    let isCounts = keys == (0..<9).map { "Raw[\($0)]" }
    if isCounts || keys == (0..<9).map({ "Uni[\($0)]" }) {
      names =
        ["acc_x", "acc_y", "acc_z", "gyro_x", "gyro_y", "gyro_z"]
        + ["mag_x (uT)", "mag_y (uT)", "mag_z (uT)"]
      divisors = (0..<9).map { isCounts && $0 >= 6 ? 10 : 1 }
      field = SampleTable.Columns(7, 8, 9)
    } else {
      names = Self.units(Self.pairs(lines[best?.value.first ?? 0])).map(Self.told)
      divisors = []
      field = nil
    }
  }

  /// A line's numbers, separated by commas; empty where it has other names.
  func row(_ line: [UInt8]) -> [UInt8] {
    let pairs = Self.pairs(line)
    guard pairs.count == keys.count, zip(pairs, keys).allSatisfy({ $0.key == $1 }) else {
      return []
    }
    var row: [UInt8] = []
    for (place, pair) in pairs.enumerated() {
      if place > 0 { row.append(UInt8(ascii: ",")) }
      if !divisors.isEmpty, divisors[place] != 1,
        let value = SampleSeparator.blanks.number(line, pair.number)
      {
        row += "\(value / divisors[place])".utf8
      } else {
        row += line[pair.number]
      }
    }
    return row
  }

  // MARK: Names

  private struct Pair {
    var key: String
    var number: Range<Int>
    var unit: String
  }

  private static func units(_ pairs: [Pair]) -> [String] {
    pairs.map { $0.unit.isEmpty ? $0.key : "\($0.key) (\($0.unit))" }
  }

  /// The part of a name that says what the number is: `Got x` is `x`.
  private static func told(_ name: String) -> String {
    guard SampleName(name).meaning == .other,
      let last = name.split(separator: " ").last(where: { !$0.hasPrefix("(") }),
      SampleName(String(last)).meaning != .other
    else { return name }
    let unit = name.split(separator: " ").last { $0.hasPrefix("(") }
    return unit.map { "\(last) \($0)" } ?? String(last)
  }

  /// The numbers of a line with their names.
  private static func pairs(_ line: [UInt8]) -> [Pair] {
    var reader = Reader(line: line)
    return reader.pairs(most: most)
  }

  /// Goes through a line once.
  private struct Reader {
    let line: [UInt8]
    private var place = 0
    private var found: [Pair] = []
    /// Names of the objects that are open; the last is that of the numbers that follow.
    private var path: [String] = []

    init(line: [UInt8]) { self.line = line }

    private static func isLetter(_ byte: UInt8) -> Bool {
      (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F || byte >= 0x80
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
      isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
        || byte == UInt8(ascii: "-")
    }

    mutating func pairs(most: Int) -> [Pair] {
      var words: [String] = []
      while place < line.count, found.count < most {
        let byte = line[place]
        switch byte {
        case UInt8(ascii: "{"):
          place += 1
          words = []
        case UInt8(ascii: "}"):
          place += 1
          if !path.isEmpty { path.removeLast() }
          words = []
        case UInt8(ascii: "["):
          // Without a name a bracket holds a time or a level.
          skipBracket()
          words = []
        case UInt8(ascii: "="), UInt8(ascii: ":"):
          place += 1
          let key = words.joined(separator: " ")
          words = []
          if !key.isEmpty { value(key) }
        case UInt8(ascii: "\""):
          words.append(quoted())
        default:
          if SampleLabels.Reader.isLetter(byte) || (!words.isEmpty && Self.isPartOfName(byte)) {
            words.append(word())
          } else if Self.isPartOfName(byte) || byte == UInt8(ascii: "+") {
            // A number without a name, a date, or a clock's time with all that hangs on it.
            while place < line.count,
              Self.isPartOfName(line[place]) || line[place] == UInt8(ascii: ":")
                || line[place] == UInt8(ascii: "+")
            { place += 1 }
            words = []
          } else {
            place += 1
            if !SampleSeparator.isBlank(byte) { words = [] }
          }
        }
      }
      return found
    }

    private mutating func word() -> String {
      let start = place
      while place < line.count, Self.isPartOfName(line[place]) { place += 1 }
      return String(decoding: line[start..<place], as: UTF8.self)
    }

    private mutating func quoted() -> String {
      place += 1
      let start = place
      while place < line.count, line[place] != UInt8(ascii: "\"") { place += 1 }
      let text = String(decoding: line[start..<place], as: UTF8.self)
      place = min(line.count, place + 1)
      return text
    }

    private mutating func skipBracket() {
      while place < line.count, line[place] != UInt8(ascii: "]") { place += 1 }
      place = min(line.count, place + 1)
    }

    private mutating func skipBlanks() {
      while place < line.count, SampleSeparator.isBlank(line[place]) { place += 1 }
    }

    /// Reads what stands behind a name.
    private mutating func value(_ name: String) {
      guard name.utf8.count <= SampleLabels.longestName else { return }
      let key = (path + [name]).joined(separator: ".")
      skipBlanks()
      guard place < line.count else { return }
      switch line[place] {
      case UInt8(ascii: "{"):
        place += 1
        // No log is nested deeper.
        if path.count < 8 { path.append(name) }
      case UInt8(ascii: "["), UInt8(ascii: "("):
        place += 1
        list(key)
      case UInt8(ascii: "\""): _ = quoted()
      default: list(key)
      }
    }

    /// Numbers, each behind the one before; the name has one each, from 0, where there are several.
    private mutating func list(_ key: String) {
      let first = found.count
      while place < line.count, found.count < SampleLabels.most {
        let start = place
        skipBlanks()
        guard let number = number() else {
          place = start
          break
        }
        let unit = unit()
        found.append(Pair(key: key, number: number, unit: unit))
        let end = place
        skipBlanks()
        if place < line.count, line[place] == UInt8(ascii: ",") {
          place += 1
        } else {
          place = max(end, place)
        }
      }
      guard found.count - first > 1 else { return }
      for index in first..<found.count { found[index].key += "[\(index - first)]" }
    }

    private mutating func number() -> Range<Int>? {
      let start = place
      var end = place
      func peek(_ at: Int) -> UInt8 { at < line.count ? line[at] : 0 }
      if peek(end) == UInt8(ascii: "-") || peek(end) == UInt8(ascii: "+") { end += 1 }
      let digits = end
      while Self.isDigit(peek(end)) { end += 1 }
      if peek(end) == UInt8(ascii: ".") {
        end += 1
        while Self.isDigit(peek(end)) { end += 1 }
      }
      guard end > digits, Self.isDigit(peek(end - 1)) || end - digits > 1 else { return nil }
      if peek(end) == UInt8(ascii: "e") || peek(end) == UInt8(ascii: "E") {
        var exponent = end + 1
        if peek(exponent) == UInt8(ascii: "-") || peek(exponent) == UInt8(ascii: "+") {
          exponent += 1
        }
        if Self.isDigit(peek(exponent)) {
          while Self.isDigit(peek(exponent)) { exponent += 1 }
          end = exponent
        }
      }
      // A clock's time is no number.
      guard peek(end) != UInt8(ascii: ":") else { return nil }
      place = end
      return start..<end
    }

    /// What stands right behind a number.
    private mutating func unit() -> String {
      let start = place
      while place < line.count,
        Self.isLetter(line[place]) || line[place] == UInt8(ascii: "/")
          || line[place] == UInt8(ascii: "^")
          || (place > start && Self.isDigit(line[place]))
      { place += 1 }
      return String(decoding: line[start..<place], as: UTF8.self)
    }
  }
}
