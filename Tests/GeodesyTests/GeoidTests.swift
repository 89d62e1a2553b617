import CTestSupport
import Foundation
import Geodesy
import Testing

@Suite("Geoid")
struct GeoidTests {
  @Test("NGA's test points for EGM96")
  func testPoints() {
    // From NGA's program F477, which sums the harmonics at the point itself (degrees, metres).
    let points: [(Double, Double, Double)] = [
      (1, 1, 16.7417), (45.565906, 6.066653, 49.8336), (-13.542795, -43.267415, -13.9763),
      (12.579898, 54.035084, -36.7707), (-10.683891, 142.528842, 71.8971),
      (65.592987, -163.198089, 6.3925),
    ]
    for (latitude, longitude, expected) in points {
      let error = Geoid.egm96.undulation(latitude: latitude, longitude: longitude) - expected
      #expect(abs(error) < 0.05)
      print("EGM96 at \(latitude) \(longitude): \(expected) m, error \(error)")
    }
  }

  @Test("points of NGA's grid, the worst of it among them")
  func nodes() {
    var errors = Errors()
    for node in GridNode.some {
      errors.add(
        Geoid.egm96.undulation(latitude: node.latitude, longitude: node.longitude)
          - node.undulation, weight: 1)
    }
    #expect(errors.worst < 0.13)
    print("EGM96 at \(errors.count) nodes: \(errors)")
  }

  @Test(
    "the whole grid of 15 minutes",
    .enabled(if: Grid.isThere, Grid.absence))
  func wholeGrid() throws {
    let grid = try #require(Grid())
    for node in GridNode.some {
      #expect(
        (grid.value(node.latitude, node.longitude) - node.undulation).magnitude < 6e-5)
    }
    var errors = Errors()
    // 7 and 1440 share no factor: a seventh of the nodes, of every row and column.
    #if DEBUG
      let step = 7
    #else
      let step = 1
    #endif
    for index in stride(from: 0, to: Grid.rows * Grid.columns, by: step) {
      let latitude = Double(index / Grid.columns) / 4 - 90
      let longitude = Double(index % Grid.columns) / 4 - 180
      errors.add(
        Geoid.egm96.undulation(latitude: latitude, longitude: longitude)
          - grid.value(latitude, longitude), weight: cos(latitude * degree))
    }
    #expect(errors.rms < 0.01)
    #expect(errors.worst < 0.13)
    print("EGM96 at \(errors.count) nodes: \(errors)")
  }

  @Test(
    "between the grid's nodes",
    .enabled(if: Grid.isThere, Grid.absence))
  func betweenNodes() throws {
    let grid = try #require(Grid())
    var random = Uniform(seed: 96)
    var (bilinear, bicubic, between) = (Errors(), Errors(), Errors())
    for _ in 0..<20_000 {
      let point = random.position()
      let value = Geoid.egm96.undulation(latitude: point.latitude, longitude: point.longitude)
      let (linear, cubic) = (grid.bilinear(at: point), grid.bicubic(at: point))
      bilinear.add(value - linear, weight: 1)
      bicubic.add(value - cubic, weight: 1)
      between.add(linear - cubic, weight: 1)
    }
    // Between bilinear and bicubic there is as much: the grid is coarse for what lies in it.
    #expect(bilinear.worst < 0.8)
    #expect(bicubic.worst < 0.15)
    #expect(bicubic.rms < 0.015)
    print("EGM96 against the grid, bilinear: \(bilinear)")
    print("EGM96 against the grid, bicubic: \(bicubic)")
    print("the grid, bilinear against bicubic: \(between)")
  }

  @Test("a pole has one answer, and no edge around it")
  func poles() {
    let geoid = Geoid.egm96
    // The grid's own rows at the poles.
    for (pole, expected) in [(90.0, 13.6062), (-90, -29.5338)] {
      let value = geoid.undulation(latitude: pole, longitude: 0)
      #expect(abs(value - expected) < 0.03, "\(value)")
      for longitude in stride(from: -180.0, through: 180, by: 7.5) {
        #expect(geoid.undulation(latitude: pole, longitude: longitude) == value)
        let near = geoid.undulation(latitude: pole * (1 - 1e-12), longitude: longitude)
        #expect(abs(near - value) < 0.03, "\(longitude) \(near - value)")
      }
    }
  }

  @Test("the date line is no edge, and longitudes are taken modulo 360")
  func dateLine() {
    let geoid = Geoid.egm96
    for latitude in stride(from: -89.9, through: 89.9, by: 3.1) {
      let value = geoid.undulation(latitude: latitude, longitude: 180)
      #expect(geoid.undulation(latitude: latitude, longitude: -180) == value)
      #expect(geoid.undulation(latitude: latitude, longitude: 540) == value)
      for side in [-180 + 1e-9, 180 - 1e-9, 180 + 1e-9] {
        #expect(abs(geoid.undulation(latitude: latitude, longitude: side) - value) < 1e-6)
      }
      #expect(
        geoid.undulation(latitude: latitude, longitude: 12.5)
          == geoid.undulation(latitude: latitude, longitude: 12.5 - 3600))
    }
  }

  @Test("what is no place has no undulation")
  func hostile() {
    let geoid = Geoid.egm96
    let bad: [(Double, Double)] = [
      (90.000_000_000_001, 0), (-91, 0), (.greatestFiniteMagnitude, 0),
      (.nan, 0), (0, .nan), (.infinity, 0), (0, -Double.infinity),
    ]
    for (latitude, longitude) in bad {
      #expect(geoid.undulation(latitude: latitude, longitude: longitude).isNaN)
    }
    for longitude in [1e300, -1e300, 180.0.nextUp, (-180.0).nextDown, 1e-300] {
      for latitude in [-90, (-90.0).nextUp, -1e-300, 0, 90.0.nextDown, 90] {
        let value = geoid.undulation(latitude: latitude, longitude: longitude)
        #expect(value > -107.1 && value < 85.5, "\(latitude) \(longitude) \(value)")
      }
    }
  }

  @Test("nothing is allocated, not even at first")
  func cost() {
    var random = Uniform(seed: 2)
    let points = (0..<10_000).map { _ in random.position() }
    let clock = ContinuousClock()
    var sum = 0.0
    // No closure: what it captures Swift 6.0.3 puts on the heap.
    let before = test_allocations()
    let start = clock.now
    sum += Geoid.egm96.undulation(latitude: 52.5, longitude: 13.4)
    let between = clock.now
    for index in 0..<points.count {
      let point = points[index]
      sum += Geoid.egm96.undulation(latitude: point.latitude, longitude: point.longitude)
    }
    let end = clock.now
    #expect(test_allocations() - before == 0)
    #expect(sum.isFinite)
    let (first, taken) = (start.duration(to: between), between.duration(to: end))
    print("EGM96: the first place \(first), then \(taken / points.count)")
  }
}

/// Errors as they come, metres.
private struct Errors: CustomStringConvertible {
  private var all: [Double] = []
  private var squares = 0.0
  private var weights = 0.0

  mutating func add(_ error: Double, weight: Double) {
    all.append(abs(error))
    squares += weight * error * error
    weights += weight
  }

  var count: Int { all.count }
  var worst: Double { all.max() ?? .nan }
  /// By area, where weights are.
  var rms: Double { (squares / weights).squareRoot() }

  var description: String {
    let sorted = all.sorted()
    func shown(_ value: Double) -> String { String(format: "%.4f", value) }
    return "worst \(shown(worst)), 99.9 % below \(shown(sorted[sorted.count * 999 / 1000])), "
      + "rms \(shown(rms)) m"
  }
}

/// NGA's grid, as Debian's proj-data has it: a head of 40 bytes, then big-endian floats from the south-west.
private struct Grid {
  static let path = "/usr/share/proj/egm96_15.gtx"
  static let (rows, columns) = (721, 1440)
  static let absence = Comment(rawValue: "skipped: no \(path) (Debian: proj-data)")
  static var isThere: Bool { FileManager.default.isReadableFile(atPath: path) }

  private let values: [Float]

  init?() {
    guard let data = FileManager.default.contents(atPath: Self.path),
      data.count == 40 + 4 * Self.rows * Self.columns
    else { return nil }
    values = data.withUnsafeBytes { bytes in
      (0..<Self.rows * Self.columns).map {
        let word = bytes.loadUnaligned(fromByteOffset: 40 + 4 * $0, as: UInt32.self)
        return Float(bitPattern: UInt32(bigEndian: word))
      }
    }
  }

  private func node(_ row: Int, _ column: Int) -> Double {
    // Beyond a pole the other side's meridian goes on.
    let isBeyond = row < 0 || row >= Self.rows
    let r = row < 0 ? -row : isBeyond ? 2 * (Self.rows - 1) - row : row
    let c = (column + (isBeyond ? 720 : 0) + Self.columns) % Self.columns
    return Double(values[r * Self.columns + c])
  }

  func value(_ latitude: Double, _ longitude: Double) -> Double {
    node(Int((latitude + 90) * 4), Int((longitude + 180) * 4))
  }

  private func interpolated(at point: Position, _ weights: (Double) -> [Double]) -> Double {
    let (y, x) = ((point.latitude + 90) * 4, (point.longitude + 180) * 4)
    let (row, column) = (Int(y), Int(x))
    let (up, right) = (weights(y - Double(row)), weights(x - Double(column)))
    var sum = 0.0
    for i in 0..<4 {
      for k in 0..<4 { sum += up[i] * right[k] * node(row + i - 1, column + k - 1) }
    }
    return sum
  }

  func bilinear(at point: Position) -> Double {
    interpolated(at: point) { [0, 1 - $0, $0, 0] }
  }

  /// R. G. Keys's cubic convolution (1981), a = -1/2.
  func bicubic(at point: Position) -> Double {
    interpolated(at: point) { t in
      [
        ((2 - t) * t - 1) * t / 2, ((3 * t - 5) * t * t + 2) / 2, ((4 - 3 * t) * t + 1) * t / 2,
        (t - 1) * t * t / 2,
      ]
    }
  }
}
