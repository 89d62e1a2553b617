// The queue (FIFO) of ST's LSM6 chips: words with a tag in the later ones (LSM6DSOX: DS12814 9.44 to 9.47, AN5272), words of
// 16 bits in the earlier ones (LSM6DSL: DocID028475 9.37 to 9.42, AN5040).

/// What a chip of the family queues in continuous mode.
struct LSM6Queue: Sendable {
  private let isTagged: Bool
  /// Bytes that fit: 512 words of 7, or 4 KiB; 8 in the first chips.
  private let capacity: Int
  private var bytes: [UInt8] = []
  private var head = 0
  private var slot: UInt8 = 0
  /// RecordPhrases were overwritten since it was emptied.
  private var hasOverrun = false

  init(_ variant: LSM6Twin.Variant) {
    isTagged = variant == .third || variant == .industrial
    capacity = isTagged ? 512 * 7 : variant == .first ? 8192 : 4096
  }

  private var unit: Int { isTagged ? 7 : 2 }

  /// RecordPhrases that were not read.
  private var level: Int { (bytes.count - head) / unit }

  /// RecordPhrases that make the threshold.
  private func threshold(_ registers: [UInt8]) -> Int {
    isTagged
      ? Int(registers[0x07]) | Int(registers[0x08] & 0x01) << 8
      : Int(registers[0x06]) | Int(registers[0x07] & 0x0F) << 8
  }

  /// FIFO_MODE: continuous.
  static func isOn(_ registers: [UInt8]) -> Bool { registers[0x0A] & 0x07 == 0x06 }

  /// Whether the pin is to be up: INT1_CTRL INT1_FTH.
  func raises(_ registers: [UInt8]) -> Bool {
    registers[0x0D] & 0x08 != 0 && Self.isOn(registers) && level >= max(1, threshold(registers))
  }

  /// How many more conversions of both sensors make the threshold; `nil` where none does.
  func conversionsToThreshold(_ registers: [UInt8]) -> Int64? {
    guard registers[0x0D] & 0x08 != 0, Self.isOn(registers) else { return nil }
    let words = isTagged ? 2 : 6
    let missing = max(1, threshold(registers)) - level
    return missing > 0 ? Int64((missing + words - 1) / words) : nil
  }

  /// Bypass mode empties it.
  mutating func empty() { self.bytes.removeAll(); (head, slot, hasOverrun) = (0, 0, false) }

  /// The conversions of one moment, the gyro's first.
  mutating func push(rate: SIMD3<Int16>?, force: SIMD3<Int16>?) {
    slot = (slot + 1) & 3
    for (tag, value) in [(UInt8(1), rate), (2, force)] {
      guard let value else { continue }
      if isTagged {
        let head = tag << 3 | slot << 1
        // TAG_PARITY makes the number of ones even.
        bytes.append(head | UInt8(head.nonzeroBitCount & 1))
      }
      for axis in 0..<3 {
        let word = UInt16(bitPattern: value[axis])
        bytes += [UInt8(word & 0xFF), UInt8(word >> 8)]
      }
    }
    while bytes.count - head > capacity {
      head += isTagged ? 7 : 12
      hasOverrun = true
    }
    // What was read, or overwritten, is let go of now and then.
    if head > 65_536 {
      bytes.removeFirst(head)
      head = 0
    }
  }

  /// FIFO_STATUS1 and 2.
  func status(_ index: Int, _ registers: [UInt8]) -> UInt8 {
    guard index > 0 else { return UInt8(level & 0xFF) }
    let isFull = level >= capacity / unit
    return UInt8(level >> 8) | (level >= threshold(registers) ? 0x80 : 0)
      | (hasOverrun ? 0x40 : 0) | (isFull ? 0x20 : 0)
      | (!isTagged && level == 0 ? 0x10 : 0)
  }

  /// A byte of the oldest word; the last one lets go of it. An empty queue gives zeros.
  mutating func byte(_ index: Int) -> UInt8 {
    guard level > 0 else { return 0 }
    let byte = bytes[head + index]
    if index == unit - 1 { head += unit }
    return byte
  }

  /// The register that follows: the pointer stays among the outputs.
  func nextRegister(after register: UInt8) -> UInt8? {
    switch (isTagged, register) {
    case (true, 0x7E): 0x78
    case (false, 0x3F): 0x3E
    default: nil
    }
  }

  /// Which byte of a word a register gives.
  func index(_ register: UInt8) -> Int? {
    switch (isTagged, register) {
    case (true, 0x78...0x7E): Int(register) - 0x78
    case (false, 0x3E...0x3F): Int(register) - 0x3E
    default: nil
    }
  }
}
