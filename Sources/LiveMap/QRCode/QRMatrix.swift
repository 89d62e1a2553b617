/// The modules of a QR code: function patterns, and the codewords between them.
struct QRMatrix {
  private let layout: QRLayout
  private let size: Int
  /// Row by row; dark is `true`.
  private(set) var modules: [Bool]
  // The modules that masks do not change.
  private var isFunction: [Bool]

  init(layout: QRLayout, codewords: [UInt8]) {
    self.layout = layout
    size = layout.size
    modules = [Bool](repeating: false, count: size * size)
    isFunction = modules
    drawTiming()
    for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { drawFinder(row, column) }
    for (row, column) in layout.alignmentCentres { drawAlignment(row, column) }
    drawFormat(mask: 0)
    drawVersion()
    drawCodewords(codewords)
  }

  /// Returns a copy under a mask pattern.
  func masked(by mask: Int) -> QRMatrix {
    var result = self
    for row in 0..<size {
      for column in 0..<size where !isFunction[row * size + column] {
        if Self.flips(mask, row, column) { result.modules[row * size + column].toggle() }
      }
    }
    result.drawFormat(mask: mask)
    return result
  }

  private static func flips(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
    switch mask {
    case 0: (row + column) % 2 == 0
    case 1: row % 2 == 0
    case 2: column % 3 == 0
    case 3: (row + column) % 3 == 0
    case 4: (row / 2 + column / 3) % 2 == 0
    case 5: row * column % 2 + row * column % 3 == 0
    case 6: (row * column % 2 + row * column % 3) % 2 == 0
    default: ((row + column) % 2 + row * column % 3) % 2 == 0
    }
  }

  // MARK: Patterns

  private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
    guard (0..<size).contains(row), (0..<size).contains(column) else { return }
    modules[row * size + column] = isDark
    isFunction[row * size + column] = true
  }

  private mutating func drawTiming() {
    for place in 0..<size {
      set(6, place, place % 2 == 0)
      set(place, 6, place % 2 == 0)
    }
  }

  // Draws the light separator around the pattern as well.
  private mutating func drawFinder(_ row: Int, _ column: Int) {
    for down in -4...4 {
      for across in -4...4 {
        let ring = max(abs(down), abs(across))
        set(row + down, column + across, ring != 2 && ring != 4)
      }
    }
  }

  private mutating func drawAlignment(_ row: Int, _ column: Int) {
    for down in -2...2 {
      for across in -2...2 { set(row + down, column + across, max(abs(down), abs(across)) != 1) }
    }
  }

  private mutating func drawFormat(mask: Int) {
    let bits = layout.formatBits(mask: mask)
    func bit(_ index: Int) -> Bool { bits >> UInt32(index) & 1 == 1 }
    // Around the first finder, past the timing patterns.
    for (index, place) in [0, 1, 2, 3, 4, 5, 7, 8].enumerated() { set(place, 8, bit(index)) }
    for (index, place) in [7, 5, 4, 3, 2, 1, 0].enumerated() { set(8, place, bit(index + 8)) }
    // Split between the two others.
    for index in 0..<8 { set(8, size - 1 - index, bit(index)) }
    for index in 8..<15 { set(size - 15 + index, 8, bit(index)) }
    set(size - 8, 8, true)
  }

  private mutating func drawVersion() {
    guard let bits = layout.versionBits else { return }
    for index in 0..<18 {
      let (along, across) = (index / 3, size - 11 + index % 3)
      let isDark = bits >> UInt32(index) & 1 == 1
      set(along, across, isDark)
      set(across, along, isDark)
    }
  }

  // In columns two modules wide from the right, upwards and downwards in turn; the vertical timing pattern is skipped.
  private mutating func drawCodewords(_ codewords: [UInt8]) {
    var index = 0
    var isUpwards = true
    for right in [Int](stride(from: size - 1, to: 6, by: -2)) + [5, 3, 1] {
      for step in 0..<size {
        let row = isUpwards ? size - 1 - step : step
        for column in [right, right - 1] where !isFunction[row * size + column] {
          guard index < codewords.count * 8 else { continue }
          modules[row * size + column] = codewords[index / 8] >> UInt8(7 - index % 8) & 1 == 1
          index += 1
        }
      }
      isUpwards.toggle()
    }
  }

  // MARK: Penalty

  /// The penalty for what makes a code hard to read (ISO/IEC 18004, 7.8.3): long runs, blocks, patterns like a finder's, and
  /// an uneven share of dark modules.
  var penalty: Int {
    var total = 0
    for place in 0..<size {
      total += Self.penalty(of: (0..<size).map { modules[place * size + $0] })
      total += Self.penalty(of: (0..<size).map { modules[$0 * size + place] })
    }
    for row in 1..<size {
      for column in 1..<size {
        let corner = row * size + column
        let isDark = modules[corner]
        if modules[corner - 1] == isDark, modules[corner - size] == isDark,
          modules[corner - size - 1] == isDark
        {
          total += 3
        }
      }
    }
    let dark = modules.count { $0 }
    return total + abs(dark * 20 - modules.count * 10) / modules.count * 10
  }

  private static func penalty(of line: [Bool]) -> Int {
    // The lengths of runs, light and dark in turn: the first one is light, and may be empty.
    var runs = [0]
    for place in line.indices {
      if line[place] == (runs.count % 2 == 0) { runs[runs.count - 1] += 1 } else { runs.append(1) }
    }
    var total = runs.filter { $0 >= 5 }.reduce(0) { $0 + $1 - 2 }
    // The quiet zone around the code is light. It counts for finder patterns only.
    if runs.count % 2 == 0 { runs.append(0) }
    runs[0] += line.count
    runs[runs.count - 1] += line.count
    // 1:1:3:1:1, with four light modules before it or behind it.
    for start in stride(from: 1, to: runs.count - 5, by: 2) {
      let unit = runs[start]
      guard Array(runs[start..<(start + 5)]) == [unit, unit, 3 * unit, unit, unit] else { continue }
      if runs[start - 1] >= 4 * unit { total += 40 }
      if runs[start + 5] >= 4 * unit { total += 40 }
    }
    return total
  }
}
