// Messages of MAVLink 2 against pymavlink. Vectors: Tests/peers/mavlink-vectors.py, PyPI's pymavlink 2.4.50. Its attitude is made of
// aeronautical angles, and not of this package's frames.

import LinearAlgebra
import SensorTypes
import Testing

@testable import OutputProtocols

@Suite struct MAVLinkTests {
  private static let clock = ClockReading(seconds: VesselState.utc, isSet: true)

  private static let whole = VesselState.state(
    VesselState.heading(4.7), VesselState.motion(heading: 4.7, rate: 0.125), VesselState.location(),
    VesselState.air)

  /// A frame with the sequence number 0.
  private func frame(
    _ kind: MAVLinkMessage.MessageKind, _ state: PublishedState, clock: ClockReading? = clock,
    at now: Timestamp = VesselState.now
  ) -> String {
    var encoder = MAVLinkEncoder()
    var framer = MAVLinkFramer(system: 1)
    let message = encoder.message(kind, of: state, clock: clock, at: now)
    return VesselState.hex(message.map { framer.frame($0) })
  }

  private static func bytes(_ text: String) -> [UInt8] {
    var (bytes, rest): ([UInt8], Substring) = ([], text[...])
    while rest.count >= 2 {
      bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  /// The payload of a frame with the zeros that were not sent, or an empty one for a frame with a wrong length.
  private static func payload(_ text: String, size: Int) -> [UInt8] {
    let bytes = bytes(text)
    guard bytes.count > 12, bytes[0] == 0xFD, bytes.count == Int(bytes[1]) + 12 else { return [] }
    let sent = bytes[10..<bytes.count - 2]
    return sent + [UInt8](repeating: 0, count: max(0, size - sent.count))
  }

  private static func float(_ payload: [UInt8], at place: Int) -> Float {
    guard place + 4 <= payload.count else { return .nan }
    return Float(
      bitPattern: payload[place..<place + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
  }

  /// The places where two frames differ: floats by more than 1 part in a million, all else by anything.
  private static func differences(
    _ ours: String, _ theirs: String, size: Int, floats: Range<Int>
  ) -> [Int] {
    let (ours, theirs) = (payload(ours, size: size), payload(theirs, size: size))
    guard ours.count == size, theirs.count == size else { return [-1] }
    var places = (0..<size).filter { !floats.contains($0) && ours[$0] != theirs[$0] }
    for place in stride(from: floats.lowerBound, to: floats.upperBound, by: 4) {
      let (a, b) = (float(ours, at: place), float(theirs, at: place))
      if a.isNaN, b.isNaN { continue }
      if !(abs(a - b) <= 1e-6 * max(1e-3, abs(b))) { places.append(place) }
    }
    return places
  }

  // MARK: Frames

  @Test("messages of integers, byte for byte")
  func exact() {
    #expect(
      frame(.heartbeat, Self.whole) == "fd0900000001bf000000000000001208000403aec6")
    #expect(
      frame(.scaledPressure, Self.whole)
        == "fd0e00000001bf1d0000404b4c0031507d440000c07f6608c87d")
    #expect(
      frame(.globalPosition, Self.whole) == "fd1c00000001bf210000404b4c0079a5b21f21afc3fcbe3c0000"
        + "000000000800c2fe190005680db8")
    let noHeading = VesselState.state(VesselState.location())
    #expect(
      frame(.globalPosition, noHeading) == "fd1c00000001bf210000404b4c0079a5b21f21afc3fcbe3c0000"
        + "000000000800c2fe1900ffff1613")
  }

  @Test("the sequence goes round at 256, and zeros at the end are not sent")
  func framing() {
    var framer = MAVLinkFramer(system: 0, component: 0)
    let message = MAVLinkMessage(kind: .heartbeat, payload: [UInt8](repeating: 0, count: 9))
    let frames = (0..<257).map { _ in framer.frame(message) }
    #expect(frames.map { $0[4] } == (0...255).map { UInt8($0) } + [0])
    #expect(frames.allSatisfy { $0.count == 13 && $0[1] == 1 && $0[5] == 1 && $0[6] == 1 })
    // The check value of CRC-16/MCRF4XX.
    var checksum = MAVLinkChecksum()
    for byte in "123456789".utf8 { checksum.add(byte) }
    #expect(checksum.value == 0x6F91)
  }

  // MARK: Attitude

  private static let attitude =
    "fd4800000001bf3d000020b14a83676106006ea42e3fb19248bd8a84ff3dee0138bf76754cbc7513fcbc6acdf63d"
    + "366b8d3800000000000000000000000062028c38000000000000000000000000139a2a3a67ef"

  @Test("the attitude is from forward, right, down to north, east, down")
  func attitude() {
    let ours = frame(.attitude, Self.whole)
    #expect(Self.differences(ours, Self.attitude, size: 72, floats: 8..<72).isEmpty)
  }

  @Test("an attitude whose north is not to be trusted is not told")
  func noAttitude() {
    let untrusted: [PublishedState] = [
      VesselState.state(), VesselState.state(VesselState.motion(heading: 1, rate: 0)),
      VesselState.state(VesselState.heading(1, accuracy: nil, reason: .uncalibrated)),
      VesselState.state(VesselState.heading(1, declination: nil)),
      VesselState.state(VesselState.heading(1, accuracy: 0.5)),
      VesselState.state(VesselState.heading(1, time: VesselState.now.advanced(bySeconds: -3))),
      VesselState.state(VesselState.heading(.nan)),
    ]
    for state in untrusted {
      #expect(frame(.attitude, state) == "none")
      #expect(frame(.odometry, state) == "none")
    }
  }

  @Test("without a gyro the rates are NaN, and without the tilt's accuracy the covariance")
  func noGyro() {
    let ours = Self.payload(
      frame(.attitude, VesselState.state(VesselState.heading(4.7))), size: 72)
    let theirs = Self.payload(Self.attitude, size: 72)
    for place in stride(from: 8, to: 24, by: 4) {
      #expect(abs(Self.float(ours, at: place) - Self.float(theirs, at: place)) < 1e-6)
    }
    for place in [24, 28, 32, 36] { #expect(Self.float(ours, at: place).isNaN) }
    #expect(abs(Self.float(ours, at: 68) - Self.float(theirs, at: 68)) < 1e-9)
  }

  // MARK: Positions

  private static let input =
    "fd4100000001bfe8000020b14a836761060044da2f0279a5b21f21afc3fccdcc78413333333fcdcc8c3f257baa3d"
    + "44734bc00000803ecdcccc3d0ad7a33c0ad7233d00008f0900051105687348"

  @Test("a receiver's fix with the heading as its yaw")
  func gpsInput() {
    let ours = frame(.gpsInput, Self.whole)
    #expect(Self.differences(ours, Self.input, size: 65, floats: 20..<56).isEmpty)
    let noHeading = Self.payload(
      frame(.gpsInput, VesselState.state(VesselState.location())), size: 65)
    #expect(noHeading.suffix(2) == [0, 0])
    for angle in [0.0524, 0.0524 + 2 * .pi, 0.0524 - 1e-6] {
      let north = VesselState.state(VesselState.heading(angle), VesselState.location())
      let payload = Self.payload(frame(.gpsInput, north), size: 65)
      #expect(payload.suffix(2) == [0xA0, 0x8C], "36000")
      let global = Self.payload(frame(.globalPosition, north), size: 28)
      #expect(global.suffix(2) == [0, 0])
    }
  }

  @Test("what a receiver does not say is ignored, and never zero")
  func ignored() {
    let bare = VesselState.state(
      VesselState.location {
        $0.mode = .twoDimensional
        ($0.hdop, $0.vdop, $0.speed, $0.course, $0.verticalSpeed) = (nil, nil, nil, nil, nil)
        ($0.speedAccuracy, $0.horizontalAccuracy, $0.satellitesUsed) = (nil, nil, nil)
        $0.utc = nil
      })
    let payload = Self.payload(frame(.gpsInput, bare), size: 65)
    #expect(payload[56] == 0xFF && payload[57] == 0, "all eight flags")
    #expect(Self.float(payload, at: 20).isNaN && Self.float(payload, at: 24) == 65_535)
    #expect(payload[60] == 0 && payload[61] == 2 && payload[62] == 255)
    #expect(frame(.globalPosition, bare) == "none", "it has no word for a height that is not known")
  }

  @Test("a dead-reckoned position is no receiver's fix")
  func carried() {
    for state in [
      VesselState.state(VesselState.location(isCarried: true)), VesselState.state(),
      VesselState.state(VesselState.location { $0.kind = .deadReckoning }),
      VesselState.state(VesselState.location { $0.isValid = false }),
      VesselState.state(VesselState.location { $0.latitude = 91 }),
    ] {
      let payload = Self.payload(frame(.gpsInput, state), size: 65)
      #expect(payload[61] == 1, "no fix")
      #expect(Array(payload[12..<20]) == [0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F])
      #expect(payload[56] == 0xFF)
      #expect(frame(.globalPosition, state) == "none")
    }
  }

  @Test("a coarse position is nothing that an autopilot can use")
  func coarse() {
    let state = VesselState.state(
      VesselState.heading(1), VesselState.motion(heading: 1, rate: 0),
      VesselState.location { ($0.horizontalAccuracy, $0.mode) = (5_000, .twoDimensional) })
    let payload = Self.payload(frame(.gpsInput, state), size: 65)
    #expect(payload[61] == 1 && payload[60] == 0 && payload[62] == 255)
    #expect(Array(payload[12..<20]) == [0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F])
    #expect(payload[56] == 0xFF && payload.suffix(2) == [0, 0], "no yaw")
    #expect(frame(.globalPosition, state) == "none")
  }

  @Test("an epoch is told once, and silence lasts no longer than a second")
  func epochs() {
    var encoder = MAVLinkEncoder()
    let sent = (0..<25).filter {
      let now = VesselState.now.advanced(bySeconds: Double($0) / 10)
      return encoder.message(.gpsInput, of: Self.whole, clock: nil, at: now) != nil
    }
    #expect(sent == [0, 10, 20])
  }

  // MARK: Odometry

  private static let odometry =
    "fde800000001bf4b010020b14a83676106000000000000000000000000006ea42e3fb19248bd8a84ff3dee0138bf"
    + "9011484023810f3ed56a1e3f76754cbc7513fcbc6acdf63d520d383900000000000000000000000000000000000000"
    + "00520d38390000000000000000000000000000000017b7d13a000000000000000000000000366b8d38000000000000"
    + "000062028c3800000000139a2a3a0000c07f000000000000000000000000000000000000000000000000000000000000"
    + "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    + "0000140c00056e39"

  @Test("odometry with its covariance")
  func odometry() {
    let ours = frame(.odometry, Self.whole)
    #expect(Self.differences(ours, Self.odometry, size: 233, floats: 8..<228).isEmpty)
  }

  @Test("odometry is told at the moments of positions, and not without a height or a speed")
  func incompleteOdometry() {
    func told(_ change: @escaping (inout GNSSFix) -> Void) -> Bool {
      frame(
        .odometry,
        VesselState.state(
          VesselState.heading(1), VesselState.motion(heading: 1, rate: 0),
          VesselState.location(change))) != "none"
    }
    #expect(told { _ in })
    #expect(!told { $0.mode = .twoDimensional })
    #expect(!told { $0.speed = nil })
    #expect(!told { $0.horizontalAccuracy = 5_000 })
    #expect(!told { $0.verticalSpeed = nil })
    #expect(!told { $0.pulseTime = VesselState.now.advanced(bySeconds: -0.5) })
    #expect(!told { ($0.course, $0.speed) = (nil, 3) })
    #expect(told { ($0.course, $0.speed) = (nil, 0.1) }, "at rest within its error")
  }

  @Test("the way from the origin in metres, against geodesics, and a new origin beyond its reach")
  func origin() throws {
    // GeodSolve of GeographicLib 2.1.2, WGS 84, from 53.18 N 5.42 E: 1000 m north, 1000 m east, 40 km north.
    let origin = MAVLinkOrigin(latitude: 53.18, longitude: 5.42)
    let north = try #require(origin.offset(latitude: 53.18898555426, longitude: 5.42))
    #expect(abs(north.north - 1_000) < 0.01 && north.east == 0)
    let east = try #require(origin.offset(latitude: 53.17999906111, longitude: 5.43495714538))
    #expect(abs(east.east - 1_000) < 0.01 && abs(east.north) < 0.2)
    let far = try #require(origin.offset(latitude: 53.53941154801, longitude: 5.42))
    #expect(abs(far.north - 40_000) < 1)
    #expect(origin.offset(latitude: 54.18, longitude: 5.42) == nil)
    let dateLine = MAVLinkOrigin(latitude: 0, longitude: 179.999)
    let over = try #require(dateLine.offset(latitude: 0, longitude: -179.999))
    #expect(abs(over.east - 222.639) < 0.001)
    var encoder = MAVLinkEncoder()
    func resets(_ latitude: Double) -> UInt8? {
      let state = VesselState.state(
        VesselState.heading(1), VesselState.motion(heading: 1, rate: 0),
        VesselState.location { $0.latitude = latitude })
      return encoder.message(.odometry, of: state, clock: nil, at: VesselState.now)?.payload[230]
    }
    #expect([53, 53.1, 55, 55.1].map(resets) == [0, 0, 1, 1])
  }

  // MARK: Schedule, time and state

  @Test("a heartbeat is due every second, an attitude ten times, a fix five times")
  func schedule() {
    var schedule = MAVLinkSchedule(MAVLinkEntry.standard)
    var counts: [MAVLinkMessage.MessageKind: Int] = [:]
    for step in 0..<1_000 {
      for entry in schedule.due(at: VesselState.now.advanced(bySeconds: Double(step) / 100)) {
        counts[entry.kind, default: 0] += 1
      }
    }
    #expect(
      counts == [
        .heartbeat: 10, .attitude: 100, .odometry: 100, .gpsInput: 50, .globalPosition: 50,
        .scaledPressure: 10,
      ])
  }

  @Test("while the clock is not set, times are those since the boot")
  func time() {
    for clock in [
      nil, ClockReading(seconds: 10, isSet: false), ClockReading(seconds: .nan, isSet: true),
    ] {
      let payload = Self.payload(frame(.attitude, Self.whole, clock: clock), size: 72)
      let time = payload.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      #expect(time == 5_000_000_000)
    }
    #expect(MAVLinkEncoder.milliseconds(Timestamp(seconds: 4_294_967.297)) == 1)
  }

  @Test("the heartbeat says how the board is")
  func systemStatus() {
    func status(_ state: PublishedState) -> UInt8 {
      Self.payload(frame(.heartbeat, state), size: 9)[7]
    }
    #expect(status(Self.whole) == 4)
    #expect(status(VesselState.state()) == 1)
    #expect(
      status(VesselState.state(VesselState.heading(1, accuracy: nil, reason: .uncalibrated))) == 2)
    let failed = SensorStatus(
      index: 0, chip: "LIS3MDL", position: "x", state: .failed("silent"), since: VesselState.now,
      counters: .init())
    #expect(status(VesselState.state(VesselState.heading(1), .sensor(failed))) == 5)
  }
}
