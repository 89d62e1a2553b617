// MCAP files and CDR messages, byte by byte against those of the libraries that robots use.

import LinearAlgebra
import SensorTypes
import Testing

@testable import OutputProtocols

struct MCAPWriterTests {
  @Test("a file is the one that mcap's own records make")
  func file() throws {
    var writer = MCAPWriter(profile: "", library: "test 1")
    let newSchema = writer.addSchema(name: "a.B", encoding: "jsonschema", text: "{}")
    let schema = try #require(newSchema)
    let newOne = writer.addChannel(
      topic: "/one", encoding: "json", schema: schema, metadata: [("key", "value")])
    let one = try #require(newOne)
    let newTwo = writer.addChannel(topic: "/two", encoding: "json", schema: schema)
    let two = try #require(newTwo)
    writer.write(Array("{\"a\":1}".utf8), channel: one, logTime: 100, publishTime: 100)
    writer.write(Array("{}".utf8), channel: two, logTime: 90, publishTime: 90)
    #expect(writer.openBytes > 0)
    writer.endChunk()
    #expect(writer.openBytes == 0)
    // Taken in parts, as a file grows.
    var bytes = writer.takeOutput()
    writer.write(Array("{}".utf8), channel: one, logTime: 200, publishTime: 200)
    writer.finish()
    bytes += writer.takeOutput()
    #expect(bytes == MCAPVectors.file)
    #expect(writer.takeOutput().isEmpty)
  }

  @Test("the checksum is that of the catalogue")
  func checksum() {
    var checksum = MCAPChecksum()
    checksum.add(Array("12345".utf8))
    checksum.add(Array("6789".utf8))
    #expect(checksum.value == 0xCBF4_3926)
  }

  @Test("what does not fit is refused and counted, and nothing follows the end")
  func limits() throws {
    var writer = MCAPWriter(profile: "", library: "")
    #expect(writer.addChannel(topic: "/a", encoding: "json", schema: 1) == nil)
    let newChannel = writer.addChannel(topic: "/a", encoding: "json", schema: 0)
    let channel = try #require(newChannel)
    let long = [UInt8](repeating: 0, count: MCAPWriter.longestMessage + 1)
    #expect(writer.write(long, channel: channel, logTime: 0, publishTime: 0) == .refused)
    #expect(writer.write([], channel: 7, logTime: 0, publishTime: 0) == .refused)
    #expect(writer.write([], channel: channel, logTime: .max, publishTime: 0) == .taken)
    writer.finish()
    let length = writer.takeOutput().count
    writer.finish()
    #expect(writer.write([], channel: channel, logTime: 0, publishTime: 0) == .refused)
    #expect(writer.addChannel(topic: "/b", encoding: "json", schema: 0) == nil)
    #expect(writer.takeOutput().isEmpty && length > 0 && writer.refused == 3)
  }

  @Test("a chunk ends when it is large enough, whole, with a bounded memory")
  func chunks() throws {
    var writer = MCAPWriter(profile: "", library: "", chunkSize: 1)
    let newChannel = writer.addChannel(topic: "/a", encoding: "json", schema: 0)
    let channel = try #require(newChannel)
    let before = writer.takeOutput().count
    for time in 0..<8 {
      writer.write(
        [UInt8](repeating: 1, count: 200), channel: channel, logTime: UInt64(time),
        publishTime: 0)
    }
    // Messages of 231 bytes: the fifth makes a chunk of 1,155, as 1,024 is the least limit.
    let output = writer.takeOutput()
    #expect(before > 0 && output.first == MCAPOperation.chunk.rawValue)
    #expect(writer.openBytes == 3 * 231)
    var channels = 1
    while writer.addChannel(topic: "/\(channels)", encoding: "json", schema: 0) != nil {
      channels += 1
    }
    #expect(channels == MCAPWriter.mostChannels)
  }

  @Test("messages of ROS are those of rosbags")
  func messages() {
    let one = UInt64(1_732_600_000_000_000_000)
    let imu = ROSImu(
      header: ROSHeader(nanoseconds: one + 123_456_789, frame: "imu_link"),
      orientation: Quaternion(w: 0.9, x: 0.1, y: -0.2, z: 0.3),
      orientationCovariance: (1...9).map(Double.init), angularVelocity: Vector3(0.5, -0.25, 2),
      linearAcceleration: Vector3(1, 2, 9.75))
    #expect(imu.bytes == MCAPVectors.imu)
    let field = ROSMagneticField(
      header: ROSHeader(nanoseconds: one + 5, frame: "imu_link"),
      field: Vector3(2e-5, -1e-6, -4.5e-5))
    #expect(field.bytes == MCAPVectors.field)
    let fix = ROSNavSatFix(
      header: ROSHeader(nanoseconds: one + 1_000_000_000, frame: "gnss_link"),
      status: .groundAugmented, service: 9, latitude: 48.123456789, longitude: -11.5,
      altitude: 512.25, covariance: [0.5, 0, 0, 0, 0.5, 0, 0, 0, 2.25],
      covarianceType: .diagonalKnown)
    #expect(fix.bytes == MCAPVectors.fix)
    let pressure = ROSScalar(header: ROSHeader(nanoseconds: 0, frame: "b"), value: 101_325.25)
    #expect(pressure.bytes == MCAPVectors.pressure)
    let log = ROSLog(
      header: ROSHeader(nanoseconds: one + 7, frame: ""), level: .warning, name: "heading",
      message: "no heading")
    #expect(log.bytes == MCAPVectors.log)
  }
}
