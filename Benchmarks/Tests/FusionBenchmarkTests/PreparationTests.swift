// What the options do to rows.

import FusionBenchmark
import LinearAlgebra
import SensorTypes
import Testing

struct PreparationTests {
  /// The numbers of the rows fed.
  func numbers(_ rows: [Row]) -> [Double] { rows.map(\.force.x) }

  @Test("without options every row comes at its time, its rate half a period earlier")
  func plain() throws {
    let rows = try Preparation().rows(of: numbered(3))
    #expect(numbers(rows) == [0, 1, 2])
    #expect(rows.map(\.time.nanoseconds) == [0, 3_500_000, 7_000_000])
    #expect(rows.map(\.rateTime.nanoseconds) == [-1_750_000, 1_750_000, 5_250_000])
    #expect(rows.map(\.truthTime) == rows.map(\.time))
  }

  @Test("rows at the end of a sensor's range are marked, the top of a swing is not")
  func clips() throws {
    func recording(flat: Bool) throws -> [Row] {
      var recording = numbered(60)
      for index in recording.records.indices {
        let swing = 12 * sin(2 * .pi * Double(index) / 60)
        recording.records[index].rate = Vector3(0, flat ? max(-8, min(8, swing)) : swing, 0)
        let blow = 30 * sin(2 * .pi * Double(index) / 60)
        recording.records[index].force = Vector3(0, 0, flat ? min(19.6, blow) : blow)
      }
      return try Preparation().rows(of: recording)
    }
    let (flat, round) = try (recording(flat: true), recording(flat: false))
    #expect(round.allSatisfy { $0.clipped.isEmpty })
    for row in flat {
      #expect(row.clipped.angularRate == (abs(row.rate?.y ?? 0) > 7.99 ? .y : []))
      #expect(row.clipped.acceleration == (row.force.z > 19.59 ? .z : []))
    }
    #expect(flat.contains { !$0.clipped.angularRate.isEmpty && $0.clipped.acceleration.isEmpty })
  }

  @Test(
    "every n-th row, the last of each group, n being the nearest whole number",
    arguments: [(285.0, 1), (143, 2), (100, 3), (50, 6), (47, 6), (10, 29)])
  func picks(rate: Double, stride: Int) throws {
    var preparation = Preparation()
    preparation.rate = rate
    #expect(preparation.stride == stride)
    let rows = try preparation.rows(of: numbered(100))
    let expected = (0..<100).filter { $0 % stride == stride - 1 }.map(Double.init)
    #expect(numbers(rows) == expected)
    #expect(rows.map { Int($0.time.nanoseconds) } == expected.map { Int($0) * 3_500_000 })
  }

  @Test("averages stand in the middle of their group, truth at its end")
  func averages() throws {
    var preparation = Preparation()
    preparation.fileRate = 100
    preparation.rate = 25
    preparation.averages = true
    let rows = try preparation.rows(of: numbered(10))
    #expect(numbers(rows) == [1.5, 5.5])
    #expect(rows.map { $0.rate?.y } == [1.5, 5.5])
    #expect(rows.map(\.time.nanoseconds) == [15_000_000, 55_000_000])
    #expect(rows.map(\.rateTime.nanoseconds) == [10_000_000, 50_000_000])
    #expect(rows.map(\.truthTime.nanoseconds) == [30_000_000, 70_000_000])
  }

  @Test(
    "a start is counted from the first row that moves, whole rows, the rest before cut off too",
    arguments: [(0.0, 20.0), (0.05, 25), (0.0599, 25), (0.06, 26)])
  func starts(seconds: Double, first: Double) throws {
    var preparation = Preparation()
    preparation.fileRate = 100
    preparation.start = seconds
    let rows = try preparation.rows(of: numbered(40, rest: 20))
    #expect(numbers(rows).first == first)
    #expect(numbers(rows).last == 39)
  }

  @Test("a start beyond the end is refused, however far", arguments: [1.0, 1e300])
  func startsTooLate(seconds: Double) {
    var preparation = Preparation()
    preparation.start = seconds
    #expect(throws: RecordingError("numbered: no row that counts is left")) {
      try preparation.rows(of: numbered(40, rest: 20))
    }
  }

  @Test("drops are a share of the rows, the same for the same seed and name alone")
  func drops() throws {
    var preparation = Preparation()
    preparation.drop = 5
    let recording = numbered(20_000)
    let rows = try preparation.rows(of: recording)
    // Binomial: 1000 +- 31.
    #expect(abs(20_000 - rows.count - 1_000) < 125)
    #expect(rows.allSatisfy { Double($0.time.nanoseconds) == $0.force.x * 3_500_000 })
    #expect(try preparation.rows(of: recording) == rows)
    var other = recording
    other.name = "other"
    #expect(try preparation.rows(of: other) != rows)
    preparation.seed = 2
    #expect(try preparation.rows(of: recording) != rows)
  }

  @Test("jitter moves times within its bounds and in order, and nothing else")
  func jitters() throws {
    let plain = try Preparation().rows(of: numbered(20_000))
    var preparation = Preparation()
    preparation.jitter = 4
    let rows = try preparation.rows(of: numbered(20_000))
    #expect(try preparation.rows(of: numbered(20_000)) == rows)
    var (sum, squares) = (0.0, 0.0)
    for (row, still) in zip(rows, plain) {
      let slip = row.time.seconds(since: still.time) * 1e3
      #expect(abs(slip) <= 2.001)
      sum += slip
      squares += slip * slip
      // The estimate is asked for at the sample's own stamp.
      #expect(row.truthTime == row.time)
      #expect(row.force == still.force)
    }
    #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.time < $1.time })
    #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.rateTime < $1.rateTime })
    // Evenly spread over +-2: mean 0, mean square 4/3.
    #expect(abs(sum / 20_000) < 0.05)
    #expect(abs(squares / 20_000 - 4.0 / 3) < 0.05)
  }

  @Test("a sensor that is left out is missing, not zero")
  func withoutSensors() throws {
    var preparation = Preparation()
    preparation.hasGyro = false
    preparation.hasMagnetometer = false
    let rows = try preparation.rows(of: numbered(3))
    #expect(rows.allSatisfy { $0.rate == nil && $0.field == nil })
  }

  @Test("a gyro bias within its range, the same for every row and another for every recording")
  func gyroBias() throws {
    var preparation = Preparation()
    preparation.gyroBias = 1...6
    func bias(_ name: String) throws -> Vector3 {
      var recording = numbered(50)
      recording.name = name
      let rows = try preparation.rows(of: recording)
      let bare = try Preparation().rows(of: recording)
      let differences = zip(rows, bare).map { ($0.rate ?? .zero) - ($1.rate ?? .zero) }
      for difference in differences { #expect((difference - differences[0]).length < 1e-12) }
      return differences[0]
    }
    let all = try (0..<20).map { try bias("recording \($0)") }
    for bias in all { #expect((0.999 * .pi / 180...6.001 * .pi / 180).contains(bias.length)) }
    #expect(Set(all.map(\.x)).count == 20)
    #expect(try bias("recording 0") == all[0])
    preparation.hasGyro = false
    #expect(try preparation.rows(of: numbered(3)).allSatisfy { $0.rate == nil })
  }
}
