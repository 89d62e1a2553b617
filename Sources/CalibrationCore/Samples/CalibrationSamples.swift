// The samples that a calibration was made of, as they are kept beside its record: text in, text out.

import LinearAlgebra
public import SensorTypes
import TextForms

/// What a calibration was made of, thinned, so that a report can draw it later.
///
/// Stored as CSV with the header `t,mx,my,mz,ax,ay,az`: seconds since the first one, the raw field in
/// microtesla, and the specific force in m/s^2 (empty without an accelerometer), both in the magnetometer's
/// own frame. Lines before the header that begin with `#` say where they are from and are not read.
public struct CalibrationSamples: Sendable, Hashable {
  /// The most that are kept.
  public static let limit = 1_000
  /// The first line of the encoded text.
  public static let header = "t,mx,my,mz,ax,ay,az"

  /// In order of time; the first is at second 0.
  public let samples: [CalibrationSample]

  /// Keeps at most `limit` of what a fit was given, outliers among them.
  ///
  /// Where there are more, each cell of the sphere keeps the same number as far as it has that many, taken
  /// evenly from all it has: a board that lay still for a minute fills one cell, not the file.
  ///
  /// - Parameters:
  ///   - samples: All of them, in order of time. What no chip says (not finite, or a field beyond 9,999
  ///     microtesla) is left out; a force like that is left empty.
  ///   - calibration: What the fit found; it says in which direction each sample's field lay.
  public init(keeping samples: [CalibrationSample], of calibration: AppliedCalibration) {
    let start = samples.first?.time ?? Timestamp(nanoseconds: 0)
    let possible = samples.compactMap { Self.storable($0, start: start) }
    guard possible.count > Self.limit else {
      self.samples = possible
      return
    }
    // One list more for a field without direction.
    var places = [[Int]](repeating: [], count: SphereCells.count + 1)
    for (place, sample) in possible.enumerated() {
      let cell = SphereCells.index(of: calibration.correct(sample.field))
      places[cell ?? SphereCells.count].append(place)
    }
    let shares = Self.shares(of: places.map(\.count), limit: Self.limit)
    var kept: [Int] = []
    for (cell, share) in zip(places, shares) where share > 0 {
      for k in 0..<share { kept.append(cell[(2 * k + 1) * cell.count / (2 * share)]) }
    }
    self.samples = kept.sorted().map { possible[$0] }
  }

  /// Deals `limit` out to cells, round by round, so that nobody gets two more than another one that has
  /// some left.
  static func shares(of counts: [Int], limit: Int) -> [Int] {
    var shares = [Int](repeating: 0, count: counts.count)
    var left = limit
    var isDone = false
    while left > 0, !isDone {
      isDone = true
      for cell in counts.indices where shares[cell] < counts[cell] && left > 0 {
        shares[cell] += 1
        left -= 1
        isDone = false
      }
    }
    return shares
  }

  private static func storable(_ sample: CalibrationSample, start: Timestamp) -> CalibrationSample?
  {
    let seconds = sample.time.seconds(since: start)
    guard isStorable(sample.field, below: 9_999), (0..<99_999_999).contains(seconds) else {
      return nil
    }
    let force = sample.force.flatMap { isStorable($0, below: 99) ? $0 : nil }
    return CalibrationSample(
      time: Timestamp(seconds: seconds), field: sample.field, force: force)
  }

  private static func isStorable(_ v: Vector3, below limit: Double) -> Bool {
    v.isFinite && max(abs(v.x), abs(v.y), abs(v.z)) < limit
  }
}

extension CalibrationSamples {
  /// Reads stored text; throws for what is no such file, with the line that says so.
  public init(csv: [UInt8]) throws(InvalidRecord) {
    var lines = csv.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)[...]
    var number = 1
    while lines.first?.first == UInt8(ascii: "#") {
      lines.removeFirst()
      number += 1
    }
    guard let first = lines.popFirst(), Self.isHeader(first)
    else { throw .init(description: "no samples: the first line is not '\(Self.header)'") }
    guard lines.count <= Self.limit else {
      throw .init(description: "\(lines.count) samples, more than the \(Self.limit) that are kept")
    }
    var samples: [CalibrationSample] = []
    samples.reserveCapacity(lines.count)
    for line in lines {
      number += 1
      guard let sample = Self.sample(of: line), sample.time >= samples.last?.time ?? sample.time
      else { throw .init(description: "line \(number) is no sample") }
      samples.append(sample)
    }
    self.samples = samples
  }

  /// Whether a line is the header of stored samples.
  package static func isHeader(_ line: some Sequence<UInt8>) -> Bool {
    String(decoding: line.filter { $0 != 0x0D && $0 != 0x20 }, as: UTF8.self) == header
  }

  /// Reads a line behind the header; `nil` for what is no sample.
  package static func sample(of line: some Collection<UInt8>) -> CalibrationSample? {
    let words = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self).filter { $0 != "\r" && $0 != " " }
    }
    guard words.count == 7 else { return nil }
    let values = words.map { Double($0) ?? .nan }
    let field = Vector3(values[1], values[2], values[3])
    guard isStorable(field, below: 10_000), (0...1e8).contains(values[0]) else { return nil }
    let time = Timestamp(seconds: values[0])
    if words[4...].allSatisfy(\.isEmpty) { return CalibrationSample(time: time, field: field) }
    let force = Vector3(values[4], values[5], values[6])
    guard isStorable(force, below: 100) else { return nil }
    return CalibrationSample(time: time, field: field, force: force)
  }

  /// The samples as text: at most 64 bytes a line, so that a file is always below 64 KiB.
  public func encoded() -> [UInt8] {
    var text = Self.header + "\n"
    for sample in samples {
      let seconds = sample.time.seconds
      let field = sample.field
      text += Self.fixed(seconds, thousandths: seconds < 9_999)
      text += Self.triple(field)
      text += sample.force.map(Self.triple) ?? ",,,"
      text += "\n"
    }
    return Array(text.utf8)
  }

  private static func triple(_ v: Vector3) -> String {
    "," + fixed(v.x) + "," + fixed(v.y) + "," + fixed(v.z)
  }

  private static func fixed(_ value: Double, thousandths: Bool = true) -> String {
    DecimalText.short(value, thousandths ? 3 : 0)
  }
}
