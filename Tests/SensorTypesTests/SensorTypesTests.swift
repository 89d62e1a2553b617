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
    for x in Mount.Axis.allCases {
      for y in Mount.Axis.allCases {
        for z in Mount.Axis.allCases {
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
}
