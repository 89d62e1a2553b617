import LinearAlgebra
import SensorTypes
import Testing

@testable import CalibrationCore

struct CalibrationSamplesTests {
  static let plain = AppliedCalibration(
    matrix: .identity, offset: .zero, offsetCovariance: .identity, residual: 0)

  static func sample(
    _ seconds: Double, _ field: Vector3, force: Vector3? = nil
  ) -> CalibrationSample {
    CalibrationSample(time: Timestamp(seconds: seconds), field: field, force: force)
  }

  @Test func whatIsWrittenIsReadAgain() throws {
    let kept = CalibrationSamples(
      keeping: [
        Self.sample(100, Vector3(12.25, -3.5, 48.125), force: Vector3(0.5, -0.25, 9.75)),
        Self.sample(100.5, Vector3(-0.001, 0, 1234.5)),
      ], of: Self.plain)
    #expect(
      String(decoding: kept.encoded(), as: UTF8.self) == """
        t,mx,my,mz,ax,ay,az
        0,12.25,-3.5,48.125,0.5,-0.25,9.75
        0.5,-0.001,0,1234.5,,,

        """)
    #expect(try CalibrationSamples(csv: kept.encoded()) == kept)
    let foreign = Array("t, mx, my, mz, ax, ay, az\r\n1,2,3,4,,,\r\n".utf8)
    #expect(try CalibrationSamples(csv: foreign).samples.first?.field == Vector3(2, 3, 4))
  }

  @Test(arguments: [
    "", "t,x\n", "1,2,3,4,5,6,7\n", "t,mx,my,mz,ax,ay,az\n1,2,3\n",
    "t,mx,my,mz,ax,ay,az\n1,2,3,nan,,,\n", "t,mx,my,mz,ax,ay,az\n1,2,3,1e9,,,\n",
    "t,mx,my,mz,ax,ay,az\n-1,2,3,4,,,\n", "t,mx,my,mz,ax,ay,az\n1,2,3,4,5,,\n",
    "t,mx,my,mz,ax,ay,az\n2,2,3,4,,,\n1,2,3,4,,,\n",
  ])
  func damagedTextIsRefused(text: String) {
    #expect(throws: InvalidRecord.self) {
      try CalibrationSamples(csv: Array(text.utf8))
    }
  }

  @Test func aFileThatIsTooLongIsRefused() {
    let text = CalibrationSamples.header + "\n" + String(repeating: "1,2,3,4,,,\n", count: 1_001)
    #expect(throws: InvalidRecord.self) {
      try CalibrationSamples(csv: Array(text.utf8))
    }
  }

  @Test func whatNoChipSaysIsLeftOut() {
    let kept = CalibrationSamples(
      keeping: [
        Self.sample(0, Vector3(.nan, 0, 0)), Self.sample(1, Vector3(1e5, 0, 0)),
        Self.sample(2, Vector3(1, 2, 3), force: Vector3(.infinity, 0, 0)),
      ], of: Self.plain)
    #expect(kept.samples == [Self.sample(2, Vector3(1, 2, 3))])
  }

  // A board that lies still for most of the time and is turned for the rest: the still minutes must not
  // push the turning out.
  @Test func eachCellKeepsTheSame() {
    var all = (0..<20_000).map { Self.sample(Double($0) / 100, Vector3(0, 0, 50)) }
    for k in 0..<5_000 {
      let direction = SphereCells.center(of: k % SphereCells.count)
      all.append(Self.sample(200 + Double(k) / 100, 50 * direction))
    }
    let kept = CalibrationSamples(keeping: all, of: Self.plain)
    #expect(kept.samples.count == 1_000)
    var counts = [Int](repeating: 0, count: SphereCells.count)
    for sample in kept.samples {
      if let cell = SphereCells.index(of: sample.field) { counts[cell] += 1 }
    }
    #expect(counts.allSatisfy { $0 == 10 })
    #expect(zip(kept.samples, kept.samples.dropFirst()).allSatisfy { $0.time < $1.time })
    // The cell that has them takes its ten evenly: every 2,005th of 20,050.
    let still = kept.samples.filter { $0.time.seconds < 200 }.map(\.time.seconds)
    #expect(still.count == 10)
    #expect(zip(still, still.dropFirst()).allSatisfy { abs($1 - $0 - 20.05) < 0.011 })
  }

  @Test func sharesAreDealtFairly() {
    #expect(CalibrationSamples.shares(of: [5, 0, 1, 9], limit: 10) == [5, 0, 1, 4])
    #expect(CalibrationSamples.shares(of: [2, 1], limit: 10) == [2, 1])
    #expect(CalibrationSamples.shares(of: [], limit: 10) == [])
  }

  /// `StateFile.limit`: what a state file may hold.
  @Test func theLongestFileIsShortEnough() throws {
    let worst = (0..<1_000).map {
      Self.sample(
        Double($0) * 50_000 + 0.123, Vector3(repeating: -9_998.999),
        force: Vector3(repeating: -98.999))
    }
    let kept = CalibrationSamples(keeping: worst, of: Self.plain)
    #expect(kept.samples.count == 1_000)
    #expect(kept.encoded().count <= 65_535)
    #expect(try CalibrationSamples(csv: kept.encoded()).samples.count == 1_000)
  }
}
