// Samples from a text file: a line each, columns of numbers.

import LinearAlgebra
import SensorTypes

/// Reads samples from lines of numbers, whatever separates them.
///
/// The samples that are kept beside a record (`CalibrationSamples`) are known by their header, unless columns are
/// given. Of any other file a first line of words may say where the field is (`Columns.init(header:)`); without such a
/// one, or with columns given, it is in the columns that were named, by default the first three:
///
/// Commas, semicolons, tabs or spaces separate; with semicolons a comma is a decimal point. Empty lines and
/// lines that begin with `#` or `//` do not count, nor does a header. A line that lacks a number where one
/// is asked for is left out and counted.
public struct SampleTable: Sendable {
  /// Three columns, counted from 1.
  public struct Columns: Sendable, Hashable, CustomStringConvertible {
    /// The columns of x, y and z.
    public let x: Int, y: Int, z: Int

    /// The first three.
    public static let first = Columns(1, 2, 3)

    /// As they can be given: `2,3,4`.
    public var description: String { "\(x),\(y),\(z)" }

    init(_ x: Int, _ y: Int, _ z: Int) { (self.x, self.y, self.z) = (x, y, z) }

    /// Reads `2-4` or `2,3,4`; `nil` for anything that is not three different columns.
    public init?(_ text: String) {
      let range = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      if range.count == 2, let low = range[0], let high = range[1] {
        guard low >= 1, low <= Self.most, high == low + 2 else { return nil }
        self.init(low, low + 1, high)
        return
      }
      let list = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Int($0) }
      guard list.count == 3, text.split(separator: ",").count == 3, Set(list).count == 3,
        list.allSatisfy({ (1...Self.most).contains($0) })
      else { return nil }
      self.init(list[0], list[1], list[2])
    }

    /// The columns that the words of a header name as a field's: `mag_x`, `magx`, `mx`, `bx`, `x` and so on, the plainest
    /// last. `nil` where none of these stands there for each axis, once.
    init?(header words: [String]) {
      for prefix in ["magnetometer", "magneticfield", "magnetic", "mag", "m", "b", ""] {
        let found = ["x", "y", "z"].map { axis in
          words.indices.filter { words[$0] == prefix + axis }
        }
        guard found.allSatisfy({ $0.count == 1 && $0[0] < Self.most }) else { continue }
        self.init(found[0][0] + 1, found[1][0] + 1, found[2][0] + 1)
        return
      }
      return nil
    }

    /// No file has more.
    static let most = 10_000
  }

  /// How far apart lines are taken to be, seconds: a file does not say.
  public static let interval = 0.05
  /// Lines that are read; of a longer file the rest is left.
  public static let mostLines = 1_000_000

  /// Where the columns of the field come from.
  public enum Origin: Sendable, Hashable {
    /// They were given.
    case given
    /// The file's header names them.
    case header
    /// Nothing says where they are: the first three.
    case assumed
  }

  /// The field's columns.
  public private(set) var columns: Columns
  /// Where these come from.
  public private(set) var origin: Origin
  private let force: Columns?
  private var hasSeenLine = false
  /// Whether these are samples that were kept beside a record: microtesla and m/s^2, in the magnetometer's frame.
  public private(set) var isOwn = false
  /// What was read.
  public private(set) var samples: [CalibrationSample] = []
  /// Lines that lack a number, or hold one that is not finite.
  public private(set) var skipped = 0
  /// The first of them, from 1; `nil` where there is none.
  public private(set) var firstSkipped: Int?
  /// Lines so far.
  public private(set) var lines = 0

  /// Whether no more is read.
  public var isFull: Bool { lines >= Self.mostLines }

  /// Makes a reader.
  ///
  /// - Parameters:
  ///   - columns: The field's columns; without them they are where the file's header says, else the first three.
  ///   - force: An accelerometer's, where there are some.
  public init(columns: Columns? = nil, force: Columns? = nil) {
    self.columns = columns ?? .first
    self.force = force
    origin = columns == nil ? .assumed : .given
  }

  /// Takes a line without its end.
  public mutating func take(_ line: some StringProtocol) {
    guard !isFull else { return }
    lines += 1
    let bytes = line.utf8.drop {
      $0 == 0x20 || $0 == 0x09 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF
    }
    guard let first = bytes.first(where: { $0 != 0x0D }) else { return }
    guard first != UInt8(ascii: "#"), !bytes.starts(with: "//".utf8) else { return }
    let isFirst = !hasSeenLine
    hasSeenLine = true
    guard line.utf8.count < 65_536 else { return skip() }
    if isFirst, origin == .assumed, force == nil, CalibrationSamples.isHeader(bytes) {
      isOwn = true
      return
    }
    if isOwn {
      guard let sample = CalibrationSamples.sample(of: Array(bytes)),
        sample.time >= samples.last?.time ?? sample.time
      else { return skip() }
      samples.append(sample)
      return
    }
    let fields = Self.fields(Array(bytes))
    if let sample = sample(fields) {
      samples.append(sample)
    } else if !isFirst || fields.contains(where: { Self.number($0) != nil }) {
      // The first line may be a header: words alone.
      skip()
    } else if origin == .assumed, let named = Columns(header: Self.words(Array(bytes))) {
      (columns, origin) = (named, .header)
    }
  }

  private mutating func skip() {
    skipped += 1
    if firstSkipped == nil { firstSkipped = lines }
  }

  private func sample(_ fields: [[UInt8]]) -> CalibrationSample? {
    guard let vector = Self.vector(fields, columns) else { return nil }
    var felt: Vector3?
    if let force {
      guard let vector = Self.vector(fields, force) else { return nil }
      felt = vector
    }
    let time = Timestamp(nanoseconds: Int64(Double(samples.count) * Self.interval * 1e9))
    return CalibrationSample(time: time, field: vector, force: felt)
  }

  private static func vector(_ fields: [[UInt8]], _ columns: Columns) -> Vector3? {
    guard max(columns.x, columns.y, columns.z) <= fields.count,
      let x = number(fields[columns.x - 1]), let y = number(fields[columns.y - 1]),
      let z = number(fields[columns.z - 1])
    else { return nil }
    return Vector3(x, y, z)
  }

  /// Decimal numbers alone: `nan`, `inf` and hexadecimal are none here.
  private static func number(_ field: [UInt8]) -> Double? {
    let allowed: (UInt8) -> Bool = {
      (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
        || $0 == UInt8(ascii: "+") || $0 | 0x20 == UInt8(ascii: "e")
    }
    guard !field.isEmpty, field.count < 64, field.allSatisfy(allowed),
      let value = Double(String(decoding: field, as: UTF8.self)), value.isFinite
    else { return nil }
    return value
  }

  /// The words of a header in small letters, without units in brackets and whatever joins their parts.
  private static func words(_ line: [UInt8]) -> [String] {
    var depth = 0
    let plain = line.filter { byte in
      let opens = byte == UInt8(ascii: "(") || byte == UInt8(ascii: "[")
      let closes = byte == UInt8(ascii: ")") || byte == UInt8(ascii: "]")
      if opens { depth += 1 }
      defer { if closes { depth = max(0, depth - 1) } }
      return depth == 0 && !closes
    }
    return fields(plain).map { field in
      String(decoding: field.filter { !"_-. ".utf8.contains($0) }, as: UTF8.self).lowercased()
    }
  }

  private static func fields(_ line: [UInt8]) -> [[UInt8]] {
    let blank: (UInt8) -> Bool = {
      $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == UInt8(ascii: "\"")
    }
    for separator in [UInt8(ascii: ";"), UInt8(ascii: ","), 0x09] where line.contains(separator) {
      return line.split(separator: separator, omittingEmptySubsequences: false).map { field in
        let kept = field.filter { !blank($0) }
        return separator == UInt8(ascii: ";")
          ? kept.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 } : kept
      }
    }
    return line.split(whereSeparator: blank).map(Array.init)
  }
}
