import CalibrationCore
import LinearAlgebra
import SensorTypes
import Testing

struct SampleAssemblerTests {
  private func at(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 0).advanced(bySeconds: seconds)
  }

  @Test func forcesComeInTheMagnetometersFrame() throws {
    // Magnetometer: body x is its y, body y its -x. Accelerometer: body x is its -x, body y its -y.
    let own = try #require(Mount(x: .plusY, y: .minusX, z: .plusZ))
    let other = try #require(Mount(x: .minusX, y: .minusY, z: .plusZ))
    var assembler = SampleAssembler(magnetometerMount: own)
    // In the body (-1, -2, 3): along the magnetometer's x lies -body y, along its y body x.
    assembler.take(force: Vector3(1, 2, 3), mount: other, at: at(0))
    let taken = assembler.take(field: Vector3(7, 8, 9), at: at(0.01))
    let sample = try #require(taken)
    #expect(sample.force == Vector3(2, -1, 3))
    #expect(sample.field == Vector3(7, 8, 9))
    #expect(sample.angularRate == nil)
  }

  @Test func aMirroredGyroTurnsTheOtherWay() throws {
    let mirrored = try #require(Mount(x: .minusX, y: .plusY, z: .plusZ))
    var assembler = SampleAssembler(magnetometerMount: .aligned)
    assembler.take(angularRate: Vector3(0, 0, 1), mount: mirrored, at: at(0))
    let taken = assembler.take(field: Vector3(1, 0, 0), at: at(0))
    let sample = try #require(taken)
    // A left-handed chip that reads +1 about z turns by -1 about the body's.
    #expect(sample.angularRate == Vector3(0, 0, -1))
  }

  @Test func meansAreOfWhatCameSinceTheLastField() {
    var assembler = SampleAssembler(magnetometerMount: .aligned)
    for k in 0..<4 { assembler.take(force: Vector3(Double(k), 0, 9), mount: .aligned, at: at(0)) }
    let first = assembler.take(field: .zero, at: at(0.1))
    #expect(first?.force == Vector3(1.5, 0, 9))
    // No force since: the last one still holds, until it is too old.
    let second = assembler.take(field: .zero, at: at(0.2))
    #expect(second?.force == Vector3(1.5, 0, 9))
    let third = assembler.take(field: .zero, at: at(0.3))
    #expect(third != nil && third?.force == nil)
    let broken = assembler.take(field: Vector3(.nan, 0, 0), at: at(0.4))
    #expect(broken == nil)
  }

  @Test func aGapOfTheFieldIsNotAveragedOver() throws {
    var assembler = SampleAssembler(magnetometerMount: .aligned)
    // Ten seconds on its side, a hundred a second, then it is laid flat a third of a second before the field.
    for k in 0..<1_000 {
      let t = 0.01 * Double(k)
      let (side, spin) = (Vector3(9.8, 0, 0), Vector3(0, 1, 0))
      assembler.take(force: t < 9.66 ? side : Vector3(0, 0, 9.8), mount: .aligned, at: at(t))
      assembler.take(angularRate: t < 9.66 ? spin : .zero, mount: .aligned, at: at(t))
    }
    let taken = assembler.take(field: Vector3(1, 0, 0), at: at(10))
    let sample = try #require(taken)
    let force = try #require(sample.force)
    // The newest quarter of a second, or what has come since the last one was full: at most 0.5 s, and it
    // always holds the newest.
    #expect(force.z > 4.9 && force.x < 4.9)
    #expect((sample.angularRate?.length ?? 1) < 0.5)
    // Rare forces: the newest alone.
    for k in 0..<20 {
      assembler.take(force: Vector3(Double(k), 0, 0), mount: .aligned, at: at(20 + 0.3 * Double(k)))
    }
    let rare = assembler.take(field: Vector3(1, 0, 0), at: at(25.7))
    #expect(rare?.force == Vector3(19, 0, 0))
  }
}
