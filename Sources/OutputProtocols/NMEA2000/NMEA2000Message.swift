// Messages of NMEA 2000, and how they become frames.

/// What the identifier of a frame says: ISO 11783-3.
package struct NMEA2000Header: Sendable, Hashable {
  /// 0 to 7; 0 goes first.
  package var priority: UInt8
  /// The parameter group number, 18 bits. Its low byte is zero where the frame has a destination.
  package var pgn: UInt32
  /// The address that it is for; 255 for all.
  package var destination: UInt8
  /// The address that it comes from; 254 for a node without one.
  package var source: UInt8

  /// Makes a header. A destination is kept only where the parameter group has one.
  package init(
    priority: UInt8, pgn: UInt32, destination: UInt8 = NMEA2000Address.all, source: UInt8
  ) {
    self.priority = min(priority, 7)
    self.pgn = pgn & (Self.isAddressed(pgn) ? 0x3_FF00 : 0x3_FFFF)
    self.destination = Self.isAddressed(pgn) ? destination : NMEA2000Address.all
    self.source = source
  }

  /// Reads an identifier of 29 bits.
  package init(identifier: UInt32) {
    let group = identifier >> 8 & 0x3_FFFF
    let isAddressed = Self.isAddressed(group)
    self.init(
      priority: UInt8(identifier >> 26 & 7), pgn: isAddressed ? group & 0x3_FF00 : group,
      destination: isAddressed ? UInt8(group & 0xFF) : NMEA2000Address.all,
      source: UInt8(identifier & 0xFF))
  }

  /// The identifier, 29 bits.
  package var identifier: UInt32 {
    let group = Self.isAddressed(pgn) ? pgn | UInt32(destination) : pgn
    return UInt32(priority) << 26 | group << 8 | UInt32(source)
  }

  /// Whether messages of a parameter group are for one address: its second byte is below 240 (PDU1).
  package static func isAddressed(_ pgn: UInt32) -> Bool { pgn >> 8 & 0xFF < 240 }
}

/// The addresses with a meaning of their own.
package enum NMEA2000Address {
  /// The addresses that a node may claim.
  package static let claimable: ClosedRange<UInt8> = 0...251
  /// The address of a node that has none.
  package static let none: UInt8 = 254
  /// The destination of what is for all.
  package static let all: UInt8 = 255
}

/// The parameter groups that are known here.
package enum NMEA2000PGN {
  package static let acknowledgement: UInt32 = 59_392
  package static let request: UInt32 = 59_904
  package static let transportData: UInt32 = 60_160
  package static let transportManagement: UInt32 = 60_416
  package static let addressClaim: UInt32 = 60_928
  package static let commandedAddress: UInt32 = 65_240
  package static let groupFunction: UInt32 = 126_208
  package static let pgnList: UInt32 = 126_464
  package static let systemTime: UInt32 = 126_992
  package static let heartbeat: UInt32 = 126_993
  package static let productInformation: UInt32 = 126_996
  package static let configurationInformation: UInt32 = 126_998
  package static let heading: UInt32 = 127_250
  package static let rateOfTurn: UInt32 = 127_251
  package static let heave: UInt32 = 127_252
  package static let attitude: UInt32 = 127_257
  package static let variation: UInt32 = 127_258
  package static let position: UInt32 = 129_025
  package static let courseAndSpeed: UInt32 = 129_026
  package static let gnssPosition: UInt32 = 129_029
  package static let timeAndDate: UInt32 = 129_033
  package static let dilutions: UInt32 = 129_539
  package static let satellites: UInt32 = 129_540
  package static let environmentObsolete: UInt32 = 130_310
  package static let environment: UInt32 = 130_311
  package static let pressure: UInt32 = 130_314
  package static let temperature: UInt32 = 130_316

  /// Those whose messages always go as fast packets.
  package static let fast: Set<UInt32> = [
    groupFunction, pgnList, productInformation, configurationInformation, gnssPosition, satellites,
  ]
}

/// A message of a parameter group, before it has a source address.
package struct NMEA2000Message: Sendable, Hashable {
  /// The largest payload of a fast packet: 6 bytes in the first frame and 7 in each of 31 more.
  package static let largestFast = 223

  package var priority: UInt8
  package var pgn: UInt32
  package var destination = NMEA2000Address.all
  package var payload: [UInt8]

  /// Returns the frames of the message, or none if its payload is too long for its parameter group.
  ///
  /// - Parameter sequence: The sequence counter of fast packets, 0 to 7: each packet of a parameter group has the next one.
  package func frames(from source: UInt8, sequence: UInt8) -> [CANFrame] {
    let identifier = NMEA2000Header(
      priority: priority, pgn: pgn, destination: destination, source: source
    ).identifier
    guard NMEA2000PGN.fast.contains(pgn) else {
      return CANFrame(identifier: identifier, bytes: payload).map { [$0] } ?? []
    }
    guard !payload.isEmpty, payload.count <= Self.largestFast else { return [] }
    var frames: [CANFrame] = []
    var rest = payload[...]
    var index: UInt8 = 0
    while !rest.isEmpty {
      var bytes = [sequence << 5 | index]
      if index == 0 { bytes.append(UInt8(payload.count)) }
      bytes += rest.prefix(CANFrame.capacity - bytes.count)
      rest = rest.dropFirst(index == 0 ? 6 : 7)
      while bytes.count < CANFrame.capacity { bytes.append(0xFF) }
      guard let frame = CANFrame(identifier: identifier, bytes: bytes) else { return [] }
      frames.append(frame)
      index += 1
    }
    return frames
  }
}
