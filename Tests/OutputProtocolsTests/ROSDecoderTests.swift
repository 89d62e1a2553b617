// Messages that rosbags has serialized, read by their definitions. Vectors and their values: Tests/peers/mcap-vectors.py.

import Testing

@testable import OutputProtocols

@Suite struct ROSDecoderTests {
  private static func decoded(_ message: [UInt8], _ schema: ROSSchema) throws -> DecodedMessage {
    try #require(ROSDefinition(schema.text).decode(message, name: "topic"))
  }

  @Test("an IMU, with covariances that are not known")
  func imu() throws {
    let imu = try Self.decoded(MCAPVectors.imu, .imu)
    #expect(imu["header"] == "{stamp 2024-11-26T05:46:40.123Z, frame_id 'imu_link'}")
    #expect(imu["orientation"] == "{x 0.1, y -0.2, z 0.3, w 0.9}")
    #expect(imu["orientation_covariance"] == "[1, 2, 3, 4, 5, 6, 7, 8, 9]")
    #expect(imu["angular_velocity"] == "{x 0.5, y -0.25, z 2}")
    #expect(imu["angular_velocity_covariance"] == "not known")
    #expect(imu["linear_acceleration"] == "{x 1, y 2, z 9.75}")
  }

  @Test("a field, a fix, a pressure and a log")
  func others() throws {
    let field = try Self.decoded(MCAPVectors.field, .magneticField)
    #expect(field["magnetic_field"] == "{x 2e-5, y -1e-6, z -4.5e-5}")
    let fix = try Self.decoded(MCAPVectors.fix, .navSatFix)
    #expect(fix["status"] == "{status STATUS_GBAS_FIX, service 9}")
    #expect(fix["latitude"] == "48.123456789" && fix["longitude"] == "-11.5")
    #expect(fix["altitude"] == "512.25")
    #expect(fix["position_covariance"] == "[0.5, 0, 0, 0, 0.5, 0, 0, 0, 2.25]")
    #expect(fix["position_covariance_type"] == "COVARIANCE_TYPE_DIAGONAL_KNOWN")
    let pressure = try Self.decoded(MCAPVectors.pressure, .fluidPressure)
    #expect(pressure["header"] == "{stamp not known, frame_id 'b'}")
    #expect(pressure["fluid_pressure"] == "101325.25" && pressure["variance"] == "not known")
    let log = try Self.decoded(MCAPVectors.log, .log)
    #expect(
      log.text
        == "topic: stamp 2024-11-26T05:46:40.000Z, level 30, name 'heading', msg 'no heading', file '', function '', "
        + "line 0")
  }

  @Test("what is not measured, and what is not known, looks like no number")
  func unknown() throws {
    let header = ROSHeader(nanoseconds: 0, frame: "imu_link")
    let imu = try Self.decoded(ROSImu(header: header).bytes, .imu)
    #expect(imu["orientation"] == "{x not known, y not known, z not known, w not known}")
    #expect(imu["orientation_covariance"] == "none: not measured")
    let azimuth = ROSAzimuth(header: header, heading: nil, accuracy: nil, reference: .geographic)
    let heading = try Self.decoded(azimuth.bytes, .azimuth)
    #expect(heading["azimuth"] == "not known" && heading["variance"] == "not known")
    #expect(heading["unit"] == "UNIT_RAD" && heading["reference"] == "REFERENCE_GEOGRAPHIC")
  }

  @Test("a message that is cut, and a definition that is none, give nothing")
  func hostile() {
    let definition = ROSDefinition(ROSSchema.imu.text)
    for count in 0..<MCAPVectors.imu.count {
      #expect(definition.decode(Array(MCAPVectors.imu.prefix(count)), name: "") == nil)
    }
    // A text of four thousand million bytes.
    let log: [UInt8] = [0, 1, 0, 0] + [UInt8](repeating: 0xFF, count: 16)
    #expect(ROSDefinition(ROSSchema.log.text).decode(log, name: "") == nil)
    for text in [
      "", "uint8", "Loop a\nMSG: x/Loop\nLoop a\n", "uint8[99999999] a\n", "uint8[] a\n",
    ] {
      #expect(ROSDefinition(text).decode(log, name: "") == nil, "\(text)")
    }
  }
}
