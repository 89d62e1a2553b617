// How the kernel packs a buffer's frames: scan_elements of the IIO ABI
// (Documentation/ABI/testing/sysfs-bus-iio; repeats: Documentation/driver-api/iio/buffers.rst).

/// The place and shape of one number in a frame, as `_type` says it:
/// `[be|le]:[s|u]bits/storagebits[Xrepeat][>>shift]`.
package struct ScanType: Sendable, Hashable {
  /// Whether the byte of most weight comes first.
  package var isBigEndian: Bool
  /// Whether the number is in two's complement.
  package var isSigned: Bool
  /// The bits that count, 1 to 64.
  package var bits: Int
  /// The bits that it takes: 8, 16, 32 or 64.
  package var storageBits: Int
  /// How many such numbers follow one another, 1 to 16.
  package var repeats: Int
  /// The bits below those that count.
  package var shift: Int

  /// Reads a `_type`; `nil` for anything else, and for numbers that do not fit into one another.
  package init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    func take(_ word: String) -> Bool {
      guard rest.starts(with: word.utf8) else { return false }
      rest = rest.dropFirst(word.utf8.count)
      return true
    }
    func number() -> Int? {
      let digits = rest.prefix(3).prefix { (48...57).contains($0) }
      rest = rest.dropFirst(digits.count)
      return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }
    isBigEndian = take("be:")
    guard isBigEndian || take("le:") else { return nil }
    isSigned = take("s")
    guard isSigned || take("u"), let bits = number(), take("/"), let storage = number() else {
      return nil
    }
    (self.bits, storageBits, repeats, shift) = (bits, storage, 1, 0)
    if take("X") {
      guard let count = number() else { return nil }
      repeats = count
    }
    if take(">>") {
      guard let count = number() else { return nil }
      shift = count
    }
    guard rest.isEmpty, [8, 16, 32, 64].contains(storageBits), (1...16).contains(repeats),
      bits >= 1, bits + shift <= storageBits
    else { return nil }
  }

  /// What all repeats take, which is also what they are aligned to.
  package var byteCount: Int { storageBits / 8 * repeats }

  /// The first number of the element that begins at `offset`; the bytes must reach that far.
  package func value(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int64 {
    let count = storageBits / 8
    var word: UInt64 = 0
    for index in 0..<count {
      word = word << 8 | UInt64(bytes[offset + (isBigEndian ? index : count - 1 - index)])
    }
    let unused = 64 - bits
    word = (word >> UInt64(shift)) << UInt64(unused)
    return isSigned ? Int64(bitPattern: word) >> unused : Int64(bitPattern: word >> unused)
  }
}

/// Where each of the enabled elements lies in a frame.
package struct ScanLayout: Sendable, Hashable {
  private var places: [(element: ScanElement, offset: Int)] = []
  /// The bytes of a frame.
  package private(set) var frameSize = 0

  /// Packs the elements in the order of their places, each aligned to what it takes itself, the frame to the
  /// largest; `nil` without elements, and for two at one place.
  package init?(_ elements: [ScanElement]) {
    var largest = 1
    var last = -1
    for element in elements.sorted(by: { $0.index < $1.index }) {
      guard element.index > last else { return nil }
      last = element.index
      let size = element.type.byteCount
      let offset = Self.aligned(frameSize, to: size)
      places.append((element, offset))
      frameSize = offset + size
      largest = max(largest, size)
    }
    guard !places.isEmpty else { return nil }
    frameSize = Self.aligned(frameSize, to: largest)
  }

  /// Where a channel lies, and its shape.
  package subscript(name: String) -> (offset: Int, type: ScanType)? {
    places.first { $0.element.name == name }.map { ($0.offset, $0.element.type) }
  }

  private static func aligned(_ offset: Int, to size: Int) -> Int {
    (offset + size - 1) / size * size
  }

  /// Alike in every element.
  package static func == (a: ScanLayout, b: ScanLayout) -> Bool {
    a.places.map(\.element) == b.places.map(\.element)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(places.map(\.element)) }
}

/// An element that is enabled.
package struct ScanElement: Sendable, Hashable {
  /// Its channel: `in_magn_x`.
  package var name: String
  /// Its place among the elements.
  package var index: Int
  package var type: ScanType

  package init(name: String, index: Int, type: ScanType) {
    (self.name, self.index, self.type) = (name, index, type)
  }
}
