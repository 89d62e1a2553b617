import LinearAlgebra
import SensorTypes
import Testing

struct SensorTypesTests {
  @Test("a mount names the sensor axes along body x, y, z")
  func mount() throws {
    let mount = try #require(Mount(x: .plusY, y: .minusX, z: .plusZ))
    #expect(mount.matrix * Vector3(1, 2, 3) == Vector3(2, -1, 3))
    #expect(!mount.isMirrored)
    #expect(try #require(Mount(x: .plusX, y: .plusY, z: .minusZ)).isMirrored)
    #expect(Mount(x: .plusX, y: .minusX, z: .plusZ) == nil)
    #expect(Mount.aligned.matrix == .identity)
  }

  @Test("there are 48 mounts, half of them mirrored")
  func mounts() {
    var count = (all: 0, mirrored: 0)
    for x in SignedAxis.allCases {
      for y in SignedAxis.allCases {
        for z in SignedAxis.allCases {
          guard let mount = Mount(x: x, y: y, z: z) else { continue }
          count.all += 1
          count.mirrored += mount.isMirrored ? 1 : 0
        }
      }
    }
    #expect(count.all == 48)
    #expect(count.mirrored == 24)
  }

  @Test("a calibration subtracts the offset, then applies the matrix")
  func calibration() {
    let calibration = AppliedCalibration(
      matrix: Matrix3(diagonal: Vector3(2, 1, 0.5)), offset: Vector3(10, -5, 4),
      offsetCovariance: .identity, residual: 0)
    #expect(calibration.correct(Vector3(11, -4, 6)) == Vector3(2, 1, 1))
  }

  @Test("timestamps count in both directions")
  func timestamps() {
    let a = Timestamp(seconds: 10)
    let b = a.advanced(bySeconds: -0.25)
    #expect(b.nanoseconds == 9_750_000_000)
    #expect(b.seconds(since: a) == -0.25)
    #expect(b < a)
  }

  @Test(
    "motion: a rhythm takes one sample an interval, whatever their own rate, and each of them once")
  func rhythm() {
    for (rate, interval) in [(208.0, 0.01), (104, 0.01), (100, 0.01), (208, 0.1), (12.5, 0.1)] {
      var rhythm = SampleRhythm()
      var taken: [Double] = []
      for index in 0..<Int(20 * rate) {
        let time = Timestamp(seconds: 100 + Double(index) / rate)
        if rhythm.accepts(time, interval: interval) { taken.append(time.seconds) }
        let isTakenAgain = rhythm.accepts(time, interval: interval)
        #expect(!isTakenAgain)
      }
      let expected = 20 * min(rate, 1 / interval)
      #expect(abs(Double(taken.count) - expected) <= 0.01 * expected + 1, "\(rate) \(interval)")
    }
    var every = SampleRhythm()
    let all = (0..<10).filter {
      every.accepts(Timestamp(seconds: Double($0)), interval: $0.isMultiple(of: 2) ? nil : .nan)
    }
    #expect(all.count == 10)
    // After a pause the rhythm begins anew, and does not make up for it.
    var rhythm = SampleRhythm()
    let times = [0, 0.1, 5, 5.05, 5.1, 5.15, 1, 1.1]
    let taken = times.filter { rhythm.accepts(Timestamp(seconds: $0), interval: 0.1) }
    #expect(taken == [0, 0.1, 5, 5.1, 1, 1.1])
  }
}
