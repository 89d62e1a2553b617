// What is done to a recording before a filter sees it. Pure: the seed is an argument.

internal import Foundation
package import LinearAlgebra
package import SensorTypes

/// One row as a filter is fed with it.
package struct Row: Equatable, Sendable {
  /// When the rate is said to have been true.
  package var rateTime: Timestamp
  /// When force and field are said to have been measured.
  package var time: Timestamp
  /// When the truth is said to be true: the estimate is asked for at that time.
  package var truthTime: Timestamp
  /// rad/s; `nil` without a gyro.
  package var rate: Vector3?
  /// Where rate and force lie beyond the sensors' ranges.
  package var clipped = InertialClipping()
  /// m/s^2.
  package var force: Vector3
  /// microtesla; `nil` without a magnetometer.
  package var field: Vector3?
  /// Sensor to earth; `nil` where there is none.
  package var truth: Quaternion?
  /// Whether the row counts in the error.
  package var counts: Bool
}

/// What the options of `broad` do to a recording; in this order: start, rate, drop, jitter, gyro bias.
package struct Preparation: Equatable, Sendable {
  /// Rate of the recording, Hz. Default 2000/7, BROAD's.
  package var fileRate = 2000.0 / 7
  /// Rate to decimate to, Hz: every n-th row is taken, n being the nearest whole number. `nil`: all.
  package var rate: Double?
  /// Whether the rows between are averaged in, instead of left out.
  package var averages = false
  /// Percent of the rows left out at random.
  package var drop = 0.0
  /// A row's times are off by up to this to either side, evenly spread, milliseconds.
  package var jitter = 0.0
  /// Seconds of motion cut off; `nil` leaves the rest before it, too.
  package var start: Double?
  /// Length of a constant bias that is added to the gyro, deg/s; how long it is within this range, and its direction, are
  /// each recording's own by chance. `nil`: none.
  package var gyroBias: ClosedRange<Double>?
  package var hasGyro = true
  package var hasMagnetometer = true
  /// Of what is dropped and of the jitter; each recording makes its own sequence of it, by its name.
  package var seed: UInt64 = 1

  package init() {}

  /// Rows of the recording for one row fed.
  package var stride: Int {
    guard let rate else { return 1 }
    return max(1, Int((fileRate / rate).rounded()))
  }

  /// The rows that a filter is fed with.
  ///
  /// - Throws: `RecordingError` where nothing that counts is left.
  package func rows(of recording: Recording) throws -> [Row] {
    let records = recording.records
    let (gyro, accelerometer) = (recording.gyroRange, recording.accelerometerRange)
    var first = 0
    if let start {
      guard let motion = records.firstIndex(where: \.isMoving) else {
        throw RecordingError("\(recording.name): no row with movement flag 1")
      }
      // Far beyond the end is the end: no overflow of an integer.
      first = motion + Int(min(start * fileRate, Double(records.count)))
    }
    var random = SeededGenerator(seed: seed, name: recording.name)
    var rows: [Row] = []
    rows.reserveCapacity(records.count / stride)
    // The last row of each group of n: what a slower sensor would have said by then.
    var last = first + stride - 1
    while last < records.count {
      defer { last += stride }
      if drop > 0, random.uniform() < drop / 100 { continue }
      let group = (averages ? last - stride + 1 : last)...last
      var row = row(records, group, slip: jitter > 0 ? random.uniform() * 2 - 1 : 0)
      for record in records[group] {
        row.clipped.angularRate.formUnion(gyro.clipped(record.rate))
        row.clipped.acceleration.formUnion(accelerometer.clipped(record.force))
      }
      rows.append(row)
    }
    keepOrder(&rows)
    add(bias(of: recording.name), to: &rows)
    guard rows.contains(where: \.counts) else {
      throw RecordingError("\(recording.name): no row that counts is left")
    }
    return rows
  }

  private func row(_ records: [Record], _ group: ClosedRange<Int>, slip: Double) -> Row {
    let last = records[group.upperBound]
    let count = Double(group.count)
    // Means belong to the middle of the group. A rate is the mean over the interval that ends with its
    // row, so half a period of the recording earlier than the row.
    let middle = Double(group.lowerBound + group.upperBound) / 2
    let late = slip * jitter / 2 * 1e-3
    func time(_ row: Double) -> Timestamp { Timestamp(seconds: row / fileRate + late) }
    func mean(_ value: KeyPath<Record, Vector3>) -> Vector3 {
      group.reduce(Vector3.zero) { $0 + records[$1][keyPath: value] } / count
    }
    return Row(
      rateTime: time(middle - 0.5), time: time(middle),
      truthTime: time(Double(group.upperBound)),
      rate: hasGyro ? mean(\.rate) : nil, force: mean(\.force),
      field: hasMagnetometer ? mean(\.field) : nil, truth: last.truth,
      counts: last.isMoving && last.truth != nil)
  }

  /// A bias in a direction that is as likely as any other, rad/s.
  private func bias(of name: String) -> Vector3 {
    guard let range = gyroBias else { return .zero }
    var random = SeededGenerator(seed: seed &+ 1, name: name)
    let length = range.lowerBound + (range.upperBound - range.lowerBound) * random.uniform()
    let (height, angle) = (2 * random.uniform() - 1, 2 * Double.pi * random.uniform())
    let around = (1 - height * height).squareRoot()
    return Vector3(around * cos(angle), around * sin(angle), height) * (length * .pi / 180)
  }

  private func add(_ bias: Vector3, to rows: inout [Row]) {
    guard bias != .zero else { return }
    for index in rows.indices { rows[index].rate = rows[index].rate.map { $0 + bias } }
  }

  /// A clock never runs backwards: a time that jitter has put before its predecessor's comes a
  /// microsecond after it.
  private func keepOrder(_ rows: inout [Row]) {
    guard jitter > 0, rows.count > 1 else { return }
    for index in 1..<rows.count {
      let before = rows[index - 1]
      rows[index].rateTime = max(rows[index].rateTime, before.rateTime.advanced(bySeconds: 1e-6))
      rows[index].time = max(rows[index].time, before.time.advanced(bySeconds: 1e-6))
      rows[index].truthTime = max(
        rows[index].truthTime, before.truthTime.advanced(bySeconds: 1e-6))
    }
  }
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
struct SeededGenerator {
  private var state: UInt64

  /// A sequence of its own for each name (FNV-1a of its bytes), so that a trial meets the same one in
  /// whichever company it is run.
  init(seed: UInt64, name: String) {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    state = hash ^ (seed &* 0x9E37_79B9_7F4A_7C15)
  }

  /// From 0 up to, but not, 1.
  mutating func uniform() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((z ^ (z >> 31)) >> 11) * 0x1p-53
  }
}
