/// Unpacks deflate (RFC 1951), slowly.
struct Inflation {
  private let bytes: [UInt8]
  private var bit = 0
  private var result: [UInt8] = []

  init?(_ bytes: some Collection<UInt8>) {
    guard !bytes.isEmpty else { return nil }
    self.bytes = Array(bytes)
  }

  /// A prefix code: how many codes of each length there are, and what they stand for in order.
  private struct Code {
    var counts = [Int](repeating: 0, count: 16)
    var symbols: [Int] = []

    init(_ lengths: [Int]) {
      for length in lengths { counts[length] += 1 }
      counts[0] = 0
      symbols = (1...15).flatMap { length in lengths.indices.filter { lengths[$0] == length } }
    }
  }

  private mutating func take(_ count: Int) -> Int {
    var value = 0
    for place in 0..<count where bit < bytes.count * 8 {
      value |= Int(bytes[bit >> 3] >> UInt8(bit & 7) & 1) << place
      bit += 1
    }
    return value
  }

  private mutating func symbol(_ code: Code) -> Int? {
    var (value, first, index) = (0, 0, 0)
    for length in 1...15 {
      value |= take(1)
      let count = code.counts[length]
      if value - first < count { return code.symbols[index + value - first] }
      index += count
      first = (first + count) << 1
      value <<= 1
    }
    return nil
  }

  mutating func run() -> [UInt8]? {
    while bit < bytes.count * 8 {
      let isLast = take(1) == 1
      switch take(2) {
      case 0:
        bit = (bit + 7) & ~7
        let count = take(16)
        bit += 16
        guard bit / 8 + count <= bytes.count else { return nil }
        result += bytes[bit / 8..<bit / 8 + count]
        bit += count * 8
      case 1:
        let lengths =
          [Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112)
          + [Int](repeating: 7, count: 24) + [Int](repeating: 8, count: 8)
        guard unpack(Code(lengths), Code([Int](repeating: 5, count: 30))) else { return nil }
      case 2:
        guard let (letters, distances) = codes(), unpack(letters, distances) else { return nil }
      default: return nil
      }
      if isLast { return result }
    }
    return nil
  }

  private mutating func codes() -> (Code, Code)? {
    let (letters, distances, count) = (take(5) + 257, take(5) + 1, take(4) + 4)
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    var lengths = [Int](repeating: 0, count: 19)
    for place in order.prefix(count) { lengths[place] = take(3) }
    let code = Code(lengths)
    var all: [Int] = []
    while all.count < letters + distances {
      guard let symbol = symbol(code) else { return nil }
      switch symbol {
      case 16: all += [Int](repeating: all.last ?? 0, count: take(2) + 3)
      case 17: all += [Int](repeating: 0, count: take(3) + 3)
      case 18: all += [Int](repeating: 0, count: take(7) + 11)
      default: all.append(symbol)
      }
    }
    guard all.count == letters + distances else { return nil }
    return (Code(Array(all[..<letters])), Code(Array(all[letters...])))
  }

  private mutating func unpack(_ letters: Code, _ distances: Code) -> Bool {
    while let symbol = symbol(letters) {
      if symbol == 256 { return true }
      if symbol < 256 {
        result.append(UInt8(symbol))
        continue
      }
      let length = Self.run(symbol - 257, base: 3, shift: 2)
      let count = symbol == 285 ? 258 : length.base + take(length.extra)
      guard let kind = self.symbol(distances) else { return false }
      let step = Self.run(kind, base: 1, shift: 1)
      let distance = step.base + take(step.extra)
      guard distance <= result.count else { return false }
      for _ in 0..<count { result.append(result[result.count - distance]) }
    }
    return false
  }

  // Lengths and distances grow alike: after the first ones twice as far with each 2^shift kinds.
  private static func run(_ kind: Int, base: Int, shift: Int) -> (base: Int, extra: Int) {
    let group = 1 << shift
    guard kind >= 2 * group else { return (base + kind, 0) }
    let extra = kind / group - 1
    return (base + (group + kind % group) << extra, extra)
  }
}
