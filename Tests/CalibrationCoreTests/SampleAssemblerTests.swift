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
}
