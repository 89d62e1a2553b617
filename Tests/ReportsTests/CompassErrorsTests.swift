import CalibrationCore
import CommandTestSupport
import LinearAlgebra
@testable import Reports
import SensorTypes
import Testing

struct CompassErrorsTests {
  static func plain(
    _ offset: Vector3, error: Double? = nil, covariance: Matrix3 = Matrix3(diagonal: .zero),
    matrix: Matrix3 = .identity
  ) -> CalibrationRecord {
    CalibrationRecord(
      chip: "LIS3MDL", busPosition: "/dev/i2c-1:0x1e", board: "b", date: "", method: "sphere",
      samples: 1, coverage: 1, residual: 0.1, field: 50, matrix: matrix, offset: offset,
      offsetCovariance: covariance, headingError: error)
  }

  static func errors(_ record: CalibrationRecord, mount: Mount = .aligned) -> CompassErrors {
    CompassErrors(record: record, toBody: mount.matrix, sampleDip: .pi / 3, modelDip: nil)
  }

  // The horizontal field is 50 cos 60 = 25 µT. Iron of 5 µT to the right (body x): headed north it turns the
  // needle to the right by atan(5/25), so that the board seems to point left of north; headed east it lies
  // along the field and changes no direction.
  @Test func hardIronByHand() {
    let errors = Self.errors(Self.plain(Vector3(5, 0, 0)))
    let angle = atan(5.0 / 25) * 180 / .pi
    #expect(abs(errors.error(of: nil, at: 0) + angle) < 1e-9)
    #expect(abs(errors.error(of: nil, at: 180) - angle) < 1e-9)
    #expect(abs(errors.error(of: nil, at: 90)) < 1e-9)
    #expect(abs(errors.error(of: nil, at: 270)) < 1e-9)
    for heading in CompassErrors.headings {
      #expect(abs(errors.error(of: errors.record.applied, at: heading)) < 1e-9)
    }
  }

  // The same iron in a chip that sits turned: body right is the chip's -y.
  @Test func theMountTurnsTheIron() throws {
    let mount = try #require(Mount(x: .minusY, y: .plusX, z: .plusZ))
    let turned = Self.errors(Self.plain(Vector3(0, -5, 0)), mount: mount)
    let straight = Self.errors(Self.plain(Vector3(5, 0, 0)))
    for heading in CompassErrors.headings {
      let difference =
        turned.error(of: nil, at: heading) - straight.error(of: nil, at: heading)
      #expect(abs(difference) < 1e-9)
    }
  }

  // Iron stronger than the horizontal field: one direction of the needle for all headings; nobody's error
  // goes beyond half a turn.
  @Test func strongIronIsNoHeadingAtAll() {
    let errors = Self.errors(Self.plain(Vector3(0, 80, 0)))
    #expect(errors.worst(of: nil) > 170 && errors.worst(of: nil) <= 180)
  }

  // By throwing the dice: offsets drawn from the covariance, headings computed by the corrected field.
  @Test(arguments: [0.0, 40, 130, 275])
  func uncertaintyIsWhatChanceGives(heading: Double) {
    let sigma = Vector3(0.2, 0.5, 0.3)
    let matrix = ReportFixture.distortion
    let record = Self.plain(
      Vector3(10, -20, 30), covariance: Matrix3(diagonal: sigma * sigma), matrix: matrix)
    let errors = Self.errors(record)
    var numbers = SeededNumbers(7)
    var squares = 0.0
    let throwing = 20_000
    for _ in 0..<throwing {
      var off = record
      off.offset += sigma * Vector3(numbers.normal(), numbers.normal(), numbers.normal())
      let error = errors.error(of: off.applied, at: heading)
      squares += error * error
    }
    let found = (squares / Double(throwing)).squareRoot()
    let said = errors.uncertainty(at: heading) / 1.96
    // Sampling: 1 / sqrt(2 * 20,000) = 0.5 %; four of those.
    #expect(abs(found / said - 1) < 0.02)
  }

  // What a record predicts is what the page says, whichever of the two is larger.
  @Test(arguments: [0.1, 0.4, 3])
  func theRecordsOwnPredictionIsKept(error: Double) {
    let covariance = Matrix3(diagonal: Vector3(0.04, 0.09, 0.01))
    let record = Self.plain(.zero, error: error, covariance: covariance)
    #expect(abs(Self.errors(record).remaining - error) < 1e-9)
    #expect(Self.errors(Self.plain(.zero)).remaining == 0)
  }

  @Test func theDipIsSaidToBeFromSomewhere() throws {
    let record = ReportFixture.record()
    let chip = ReportFixture.good()
    let kept = try #require(chip.samples.kept)
    let set = SampleSet(kept, of: record)
    // The fixture's own dip; outliers and noise move the middle one of a thousand by little.
    #expect(abs((set.dip ?? 0) - ReportFixture.dip) < 0.2 * .pi / 180)
    let none = CompassErrors(record: record, toBody: .identity, sampleDip: nil, modelDip: nil)
    #expect(none.source == .assumed && abs(none.dip - 65 * .pi / 180) < 1e-12)
    let model = CompassErrors(record: record, toBody: .identity, sampleDip: nil, modelDip: -40)
    #expect(model.source == .model && model.dip < 0)
    let pole = CompassErrors(record: record, toBody: .identity, sampleDip: nil, modelDip: 90)
    #expect(pole.worst(of: nil).isFinite && pole.remaining.isFinite)
  }

  @Test func ticksAreRoundNumbers() {
    #expect(
      Tick.round(in: -61.0...61, about: 4).map(\.label) == ["\u{2212}50", "0", "50"])
    #expect(
      Tick.round(in: -0.72...0.72, about: 5).map(\.label) == ["\u{2212}0.5", "0.0", "0.5"])
    #expect(Tick.round(in: 0...0, about: 5).isEmpty)
    #expect(Figures.number(-0.04, 1) == "0.0")
    #expect(Figures.date("2026-11-21T17:29:00Z") == "2026-11-21 17:29 UTC")
    #expect(Figures.date("soon") == "soon")
    #expect(Figures.date("1970-01-01T00:00:00Z") == "–" && Figures.date("") == "–")
  }
}
