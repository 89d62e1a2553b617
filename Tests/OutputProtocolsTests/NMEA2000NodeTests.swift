// A node of NMEA 2000: its address, its answers, and what strangers do to it. Vectors: Tests/peers/nmea2000-vectors.py.

import SensorTypes
import Testing

@testable import OutputProtocols

@Suite struct NMEA2000NodeTests {
  private static let start = Timestamp(seconds: 100)
  private static let name = NMEA2000Name(
    uniqueNumber: 123_456, deviceInstance: 5, systemInstance: 1)

  private static func at(_ seconds: Double) -> Timestamp { start.advanced(bySeconds: seconds) }

  private static func node(_ preferred: UInt8 = 35, unique: UInt32 = 123_456) -> NMEA2000Node {
    var product = NMEA2000Product(
      model: "Lodestone", software: "1.2.3", modelVersion: "board", serialNumber: "0042")
    product.loadEquivalency = 1
    return NMEA2000Node(
      name: NMEA2000Name(uniqueNumber: unique, deviceInstance: 5, systemInstance: 1),
      product: product,
      configuration: NMEA2000Configuration(installation: "Mast", manufacturer: "Lodestone"),
      preferred: preferred, transmits: [127_250, 129_029], delay: 0.1)
  }

  /// A node that has its address since 0.5 s.
  private static func claimed(_ preferred: UInt8 = 35) -> NMEA2000Node {
    var node = node(preferred)
    _ = node.start(at: start)
    _ = node.tick(at: at(0.25))
    _ = node.tick(at: at(0.5))
    return node
  }

  private static func frame(
    _ pgn: UInt32, from source: UInt8, to destination: UInt8 = 255, _ bytes: [UInt8]
  ) -> CANFrame {
    let header = NMEA2000Header(priority: 6, pgn: pgn, destination: destination, source: source)
    let word = bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return CANFrame(header: header, word: word, count: bytes.count)
  }

  private static func claim(_ name: UInt64, from source: UInt8) -> CANFrame {
    frame(60_928, from: source, (0..<8).map { UInt8(truncatingIfNeeded: name >> (8 * $0)) })
  }

  private static func request(
    _ pgn: UInt32, from source: UInt8 = 12, to destination: UInt8 = 35
  ) -> CANFrame {
    frame(59_904, from: source, to: destination, NMEA2000Node.bytes(of: pgn))
  }

  private static func text(_ frames: [CANFrame]) -> [String] {
    frames.map { String($0.identifier, radix: 16) + "#" + VesselState.hex($0.bytes) }
  }

  // MARK: Frames

  @Test(
    "identifiers, as canboat composes them",
    arguments: [
      (2, 127_250, 20, 255, 0x09F1_1214), (6, 59_904, 81, 255, 0x18EA_FF51),
      (6, 59_392, 14, 12, 0x18E8_0C0E), (6, 60_928, 254, 255, 0x18EE_FFFE),
      (3, 129_029, 35, 255, 0x0DF8_0523),
    ] as [(UInt8, UInt32, UInt8, UInt8, UInt32)])
  func identifiers(
    _ priority: UInt8, _ pgn: UInt32, _ source: UInt8, _ destination: UInt8, _ identifier: UInt32
  ) {
    let header = NMEA2000Header(
      priority: priority, pgn: pgn, destination: destination, source: source)
    #expect(header.identifier == identifier)
    #expect(NMEA2000Header(identifier: identifier) == header)
  }

  @Test("a frame has at most 8 bytes and 29 bits")
  func limits() {
    #expect(CANFrame(identifier: 0x2000_0000, bytes: []) == nil)
    #expect(CANFrame(identifier: 1, bytes: [UInt8](repeating: 0, count: 9)) == nil)
    let frame = CANFrame(identifier: 1, bytes: [1, 2, 3])
    #expect(frame?.bytes == [1, 2, 3] && frame?.byte(3) == nil && frame?.byte(-1) == nil)
    #expect(frame?.number(at: 1, size: 2) == 0x0302 && frame?.number(at: 2, size: 2) == nil)
  }

  @Test("a fast packet, as canboat splits it")
  func fastPacket() {
    let payload: [UInt8] = [
      0x00, 0x32, 0x51, 0x88, 0xC7, 0xDB, 0x15, 0x00, 0x7A, 0x5B, 0x64, 0x9D, 0x56, 0x61, 0x07,
      0x00,
      0x0A, 0x0A, 0x5D, 0x86, 0x24, 0x3F, 0xFF, 0xD0, 0x99, 0xA6, 0x03, 0x00, 0x00, 0x00, 0x00,
      0x44,
      0xFC, 0x11, 0x46, 0x00, 0x82, 0x00, 0xDA, 0x11, 0x00, 0x00, 0x01, 0x2F, 0x41, 0x96, 0x00,
    ]
    let message = NMEA2000Message(priority: 3, pgn: 129_029, payload: payload)
    let frames = message.frames(from: 35, sequence: 5)
    #expect(
      Self.text(frames) == [
        "df80523#a02f00325188c7db", "df80523#a115007a5b649d56", "df80523#a26107000a0a5d86",
        "df80523#a3243fffd099a603", "df80523#a40000000044fc11", "df80523#a546008200da1100",
        "df80523#a600012f419600ff",
      ])
    var assembler = FastPacketAssembler()
    let header = NMEA2000Header(identifier: 0x0DF8_0523)
    let whole = frames.compactMap { assembler.take($0, header, at: Self.start) }
    #expect(whole == [payload])
    for count in [0, 224] {
      let long = NMEA2000Message(
        priority: 3, pgn: 129_029, payload: [UInt8](repeating: 1, count: count))
      #expect(long.frames(from: 35, sequence: 0).isEmpty)
    }
    let longest = NMEA2000Message(
      priority: 3, pgn: 129_029, payload: [UInt8](repeating: 1, count: 223))
    #expect(longest.frames(from: 35, sequence: 0).count == 32)
  }

  @Test("packets with a gap, a repeat, a wrong size or a late frame are dropped")
  func brokenPackets() {
    let header = NMEA2000Header(priority: 3, pgn: 126_208, destination: 35, source: 9)
    func frame(_ bytes: [UInt8]) -> CANFrame {
      Self.frame(126_208, from: 9, to: 35, bytes + [UInt8](repeating: 7, count: 8 - bytes.count))
    }
    func take(_ frames: [(CANFrame, Double)]) -> String {
      var assembler = FastPacketAssembler()
      let whole = frames.compactMap { assembler.take($0.0, header, at: Self.at($0.1)) }
      return "\(whole.map(\.count)) \(assembler.dropped) \(assembler.count)"
    }
    #expect(take([(frame([0, 20]), 0), (frame([1]), 0), (frame([2]), 0)]) == "[20] 0 0")
    #expect(take([(frame([0, 20]), 0), (frame([2]), 0)]) == "[] 1 0")
    #expect(take([(frame([0, 20]), 0), (frame([1]), 0), (frame([1]), 0)]) == "[] 1 0")
    #expect(take([(frame([0, 20]), 0), (frame([0x21]), 0)]) == "[] 1 0")
    #expect(take([(frame([0, 20]), 0), (frame([1]), 0.8)]) == "[] 1 0")
    #expect(take([(frame([0, 0]), 0), (frame([0, 224]), 0), (frame([1]), 0)]) == "[] 0 0")
    #expect(take([(frame([0, 20]), 0), (frame([0x20, 20]), 0)]) == "[] 1 1")
    var assembler = FastPacketAssembler()
    for source in UInt8(0)..<200 {
      let header = NMEA2000Header(priority: 3, pgn: 126_208, destination: 35, source: source)
      _ = assembler.take(frame([0, 223]), header, at: Self.start)
    }
    #expect(assembler.count == FastPacketAssembler.limit && assembler.dropped == 192)
  }

  // MARK: Addresses

  @Test("on a quiet bus the preferred address is claimed, and then a heartbeat goes out")
  func claims() {
    #expect(Self.name.value == 0xC178_8C05_FFC1_E240)
    var node = Self.node()
    #expect(node.tick(at: Self.start).isEmpty && node.deadline == nil)
    #expect(Self.text(node.start(at: Self.start)) == ["18eafffe#00ee00"])
    #expect(node.deadline == Self.at(0.25) && node.tick(at: Self.at(0.2)).isEmpty)
    #expect(Self.text(node.tick(at: Self.at(0.25))) == ["18eeff23#40e2c1ff058c78c1"])
    let heading = NMEA2000Message(priority: 2, pgn: 127_250, payload: [1])
    #expect(node.frames(for: heading).isEmpty && node.address == nil)
    #expect(Self.text(node.tick(at: Self.at(0.5))) == ["1df01123#60ea00ccffffffff"])
    #expect(node.address == 35 && node.deadline == Self.at(60.5))
    #expect(Self.text(node.frames(for: heading)) == ["9f11223#01"])
    node.hasFault = true
    #expect(Self.text(node.tick(at: Self.at(61))) == ["1df01123#60ea01dcffffffff"])
  }

  @Test("an address is defended against a higher NAME and left to a lower one")
  func contention() {
    var node = Self.claimed()
    let kept = node.receive(Self.claim(Self.name.value + 1, from: 35), at: Self.at(1))
    #expect(Self.text(kept.frames) == ["18eeff23#40e2c1ff058c78c1"])
    #expect(node.address == 35 && node.counters.defences == 1)
    let own = node.receive(Self.claim(Self.name.value, from: 35), at: Self.at(1))
    #expect(own.frames.isEmpty && node.counters.duplicateNames == 1)
    _ = node.receive(Self.claim(1, from: 36), at: Self.at(1))
    let lost = node.receive(Self.claim(2, from: 35), at: Self.at(1.1))
    #expect(Self.text(lost.frames) == ["18eeff25#40e2c1ff058c78c1"], "36 is taken")
    #expect(node.address == nil && node.counters.addressesLost == 1)
    #expect(node.tick(at: Self.at(1.34)).isEmpty)
    #expect(node.tick(at: Self.at(1.36)).count == 1 && node.address == 37)
  }

  @Test("of two nodes that want one address the lower NAME has it")
  func twoNodes() {
    var nodes = [Self.node(10, unique: 7), Self.node(10, unique: 3)]
    var onBus = nodes.indices.flatMap { place in
      nodes[place].start(at: Self.start).map { (place, $0) }
    }
    for step in 1...100 {
      let now = Self.at(Double(step) / 100)
      for _ in 0..<20 where !onBus.isEmpty {
        let (sender, frame) = onBus.removeFirst()
        for place in nodes.indices where place != sender {
          onBus += nodes[place].receive(frame, at: now).frames.map { (place, $0) }
        }
      }
      for place in nodes.indices { onBus += nodes[place].tick(at: now).map { (place, $0) } }
    }
    #expect(onBus.isEmpty && nodes[1].address == 10 && nodes[0].address == 11)
  }

  @Test("without a free address the node says so from 254 after its delay, and tries again")
  func cannotClaim() {
    var node = Self.node()
    _ = node.start(at: Self.start)
    for address in UInt8(0)...251 {
      _ = node.receive(Self.claim(UInt64(address) + 1, from: address), at: Self.at(0.1))
    }
    #expect(node.tick(at: Self.at(0.25)).isEmpty && node.counters.cannotClaim == 1)
    #expect(node.deadline == Self.at(0.35))
    #expect(Self.text(node.tick(at: Self.at(0.35))) == ["18eefffe#40e2c1ff058c78c1"])
    #expect(node.receive(Self.request(60_928, to: 255), at: Self.at(1)).frames.isEmpty)
    #expect(Self.text(node.tick(at: Self.at(1.1))) == ["18eefffe#40e2c1ff058c78c1"])
    #expect(node.receive(Self.request(126_996, to: 255), at: Self.at(2)) == .init())
    #expect(Self.text(node.tick(at: Self.at(61))) == ["18eafffe#00ee00"])
    _ = node.tick(at: Self.at(61.3))
    _ = node.tick(at: Self.at(61.6))
    #expect(node.address == 35)
  }

  @Test("a node that uses the address without a claim is told whose it is")
  func intruder() {
    var node = Self.claimed()
    let heading = Self.frame(127_250, from: 35, [0, 0, 0, 0, 0, 0, 0, 0])
    #expect(node.receive(heading, at: Self.at(1)).frames.count == 1)
    for _ in 0..<1_000 { _ = node.receive(heading, at: Self.at(1.1)) }
    #expect(node.counters.intruders == 1_001 && node.counters.limited > 940)
  }

  // MARK: Requests

  @Test("product information, configuration, lists and the claim are told to whoever asks")
  func answers() {
    var node = Self.claimed()
    func ask(_ pgn: UInt32, to destination: UInt8 = 35) -> [String] {
      Self.text(node.receive(Self.request(pgn, to: destination), at: Self.at(1)).frames)
    }
    let product = ask(126_996, to: 255)
    #expect(product.count == 20 && product[0] == "19f01423#00863408ffff4c6f")
    #expect(product[1] == "19f01423#01646573746f6e65" && product[9] == "19f01423#09ffffffffffff62")
    #expect(
      product[14] == "19f01423#0effffff30303432" && product[19] == "19f01423#13ff01ffffffffff")
    #expect(
      ask(126_998) == [
        "19f01623#001306014d617374", "19f01623#0102010b014c6f64", "19f01623#026573746f6e65ff",
      ])
    let lists = ask(126_464)
    #expect(lists[0].hasPrefix("19ee0c23#001f00") && lists[5].hasPrefix("19ee0c23#201301"))
    #expect(ask(60_928) == ["18eeff23#40e2c1ff058c78c1"])
    #expect(ask(130_306) == ["18e80c23#01ffffffff02fd01"])
    #expect(ask(126_993) == ["18e80c23#01ffffffff11f001"])
    #expect(ask(130_306, to: 255).isEmpty && ask(126_996, to: 34).isEmpty)
    let own = node.receive(Self.request(127_250), at: Self.at(1))
    #expect(own == NMEA2000Node.Reaction(requested: [127_250]))
    // The next packet has the next sequence.
    #expect(ask(126_996)[0] == "19f01423#20863408ffff4c6f")
  }

  @Test("a flood of requests has a bounded number of answers")
  func flood() {
    var node = Self.claimed()
    var frames = 0
    for step in 0..<20_000 {
      let now = Self.at(1 + Double(step) / 2_000)
      frames += node.receive(Self.request(126_996), at: now).frames.count
    }
    #expect(frames / 20 <= 111 && frames / 20 >= 100)
    #expect(node.counters.limited >= 19_880)
  }

  @Test("group functions are granted or refused in their own words")
  func groupFunctions() {
    var node = Self.claimed()
    func ask(_ payload: [UInt8]) -> NMEA2000Node.Reaction {
      let message = NMEA2000Message(
        priority: 3, pgn: 126_208, destination: 35, payload: payload)
      return message.frames(from: 12, sequence: 1).map { node.receive($0, at: Self.at(1)) }.last
        ?? .init()
    }
    let never: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    #expect(ask([0, 0x12, 0xF1, 0x01] + never + [0]).requested == [127_250])
    let faster = ask([0, 0x12, 0xF1, 0x01, 50, 0, 0, 0, 0xFF, 0xFF, 0])
    #expect(Self.text(faster.frames) == ["ded0c23#00060212f1011000"])
    let unknown = ask([0, 0x02, 0xFD, 0x01] + never + [0])
    #expect(Self.text(unknown.frames) == ["ded0c23#20060202fd010100"])
    let command = ask([1, 0x12, 0xF1, 0x01, 0xF8, 1, 1, 0])
    #expect(Self.text(command.frames) == ["ded0c23#40060212f1010300"])
    #expect(ask([2, 0x12, 0xF1, 0x01, 0, 0]) == .init(), "an acknowledgement is not acknowledged")
  }

  // MARK: Commanded address

  private static func command(_ name: UInt64, _ address: UInt8, from source: UInt8) -> [CANFrame] {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: name >> (8 * $0)) }
    return [
      frame(60_416, from: source, [32, 9, 0, 2, 0xFF, 0xD8, 0xFE, 0]),
      frame(60_160, from: source, [1] + bytes[0..<7]),
      frame(60_160, from: source, [2, bytes[7], address, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
    ]
  }

  @Test("a commanded address is claimed by the node with that NAME alone")
  func commanded() {
    var node = Self.claimed()
    let frames = Self.command(Self.name.value, 77, from: 3).flatMap {
      node.receive($0, at: Self.at(1)).frames
    }
    #expect(Self.text(frames) == ["18eeff4d#40e2c1ff058c78c1"])
    _ = node.tick(at: Self.at(1.3))
    #expect(node.address == 77 && node.counters.commands == 1)
    for (name, address) in [
      (Self.name.value + 1, UInt8(78)), (Self.name.value, 254), (Self.name.value, 77),
    ] {
      for frame in Self.command(name, address, from: 3) {
        #expect(node.receive(frame, at: Self.at(2)).frames.isEmpty)
      }
    }
    let other = Self.command(Self.name.value, 80, from: 3)
    // A packet is missing, one comes twice, or one comes too late.
    for (order, times) in [
      ([0, 2], [3.0, 3]), ([0, 1, 1, 2], [3, 3, 3, 3]), ([0, 1, 2], [3, 3, 4]),
    ] {
      for (place, time) in zip(order, times) { _ = node.receive(other[place], at: Self.at(time)) }
    }
    // The right bytes by the wrong number.
    for (place, number) in [(0, 32), (1, 2), (2, 2)] as [(Int, UInt8)] {
      let bytes = [number] + other[place].bytes.dropFirst()
      let group: UInt32 = place == 0 ? 60_416 : 60_160
      #expect(node.receive(Self.frame(group, from: 3, bytes), at: Self.at(4.5)).frames.isEmpty)
    }
    #expect(node.address == 77)
    let connection = Self.frame(60_416, from: 3, to: 77, [16, 9, 0, 2, 0xFF, 0xD8, 0xFE, 0])
    #expect(
      Self.text(node.receive(connection, at: Self.at(5)).frames) == ["18ec034d#ff02ffffffd8fe00"])
  }

  // MARK: Strangers

  @Test("random frames of a bus gone mad leave a node that answers little and works again")
  func strangers() {
    var node = Self.claimed()
    var seed: UInt64 = 0x9E37_79B9_7F4A_7C15
    func draw() -> UInt64 {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return seed >> 24
    }
    let groups: [UInt32] = [
      59_904, 60_928, 60_416, 60_160, 126_208, 59_392, 127_250, 65_240, 0x3_FFFF,
    ]
    var sent = 0
    for step in 0..<40_000 {
      let now = Self.at(1 + Double(step) / 2_000)
      let bytes = (0..<Int(draw() % 9)).map { _ in UInt8(truncatingIfNeeded: draw()) }
      let group = groups[Int(draw() % UInt64(groups.count))]
      let destination: UInt8 =
        draw() % 2 == 0 ? 255 : node.address ?? UInt8(truncatingIfNeeded: draw())
      let frame = Self.frame(
        group, from: UInt8(truncatingIfNeeded: draw()), to: destination, bytes)
      sent += node.receive(frame, at: now).frames.count + node.tick(at: now).count
    }
    // 20 s: at most 50 claims and ten answers of 21 frames a second, and what both allow at once.
    #expect(sent < 21 * 260)
    let quiet = Self.at(300)
    for step in 0..<400 { _ = node.tick(at: quiet.advanced(bySeconds: Double(step))) }
    #expect(node.address != nil)
  }
}
