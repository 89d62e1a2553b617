// What a node does with the frames of others.

package import SensorTypes

extension NMEA2000Node {
  /// A commanded address on its way: it comes in two packets that are announced to all (BAM).
  struct CommandedAddress: Sendable {
    static let size = 9
    static let timeout = 0.75

    var source: UInt8
    var bytes: [UInt8] = []
    var next: UInt8 = 1
    var newest: Timestamp
  }

  /// Takes a frame of another node. The node's own frames, which SocketCAN gives back only where it is asked to, are none.
  package mutating func receive(_ frame: CANFrame, at now: Timestamp) -> Reaction {
    let header = NMEA2000Header(identifier: frame.identifier)
    if case .stopped = state { return Reaction() }
    if header.pgn == NMEA2000PGN.addressClaim {
      return Reaction(frames: claimed(frame, header.source, at: now))
    }
    guard header.destination == NMEA2000Address.all || header.destination == current else {
      return Reaction()
    }
    switch header.pgn {
    case NMEA2000PGN.request: return requested(frame, header, at: now)
    case NMEA2000PGN.transportManagement:
      return Reaction(frames: transportBegins(frame, header, at: now))
    case NMEA2000PGN.transportData:
      return Reaction(frames: transportGoesOn(frame, header, at: now))
    case NMEA2000PGN.groupFunction:
      guard header.destination != NMEA2000Address.all,
        let payload = assembler.take(frame, header, at: now)
      else { return Reaction() }
      return groupFunction(payload, header, at: now)
    default: return Reaction(frames: intruded(header.source, at: now))
    }
  }

  /// The address that is claimed, contested or not.
  private var current: UInt8? {
    switch state {
    case .claiming(let address, _), .claimed(let address): address
    default: nil
    }
  }

  // MARK: Addresses

  private mutating func claimed(
    _ frame: CANFrame, _ source: UInt8, at now: Timestamp
  ) -> [CANFrame] {
    guard let theirs = frame.number(at: 0, size: 8) else {
      counters.malformed += 1
      return []
    }
    // From 254 it says that it has no address.
    for place in others.indices where others[place] == theirs { others[place] = nil }
    guard NMEA2000Address.claimable.contains(source) else { return [] }
    guard theirs != name.value else {
      counters.duplicateNames += 1
      return []
    }
    guard source == current else {
      others[Int(source)] = theirs
      return []
    }
    guard theirs < name.value else {
      counters.defences += 1
      return defend(source, at: now)
    }
    counters.addressesLost += 1
    others[Int(source)] = theirs
    return claimFree(at: now)
  }

  private mutating func defend(_ address: UInt8, at now: Timestamp) -> [CANFrame] {
    guard claims.take(at: now) else {
      counters.limited += 1
      return []
    }
    return claimFrames(from: address)
  }

  /// Another node uses the address without a claim: it is told whose it is.
  private mutating func intruded(_ source: UInt8, at now: Timestamp) -> [CANFrame] {
    guard let address, source == address else { return [] }
    counters.intruders += 1
    return defend(address, at: now)
  }

  // MARK: Requests

  private mutating func requested(
    _ frame: CANFrame, _ header: NMEA2000Header, at now: Timestamp
  ) -> Reaction {
    guard let pgn = frame.number(at: 0, size: 3).map({ UInt32($0) }) else {
      counters.malformed += 1
      return Reaction()
    }
    if pgn == NMEA2000PGN.addressClaim {
      if let current { return Reaction(frames: defend(current, at: now)) }
      if case .withoutAddress(nil, let retry) = state {
        state = .withoutAddress(announce: now.advanced(bySeconds: delay), retry: retry)
      }
      return Reaction()
    }
    guard let address, NMEA2000Address.claimable.contains(header.source),
      header.source != address
    else { return Reaction() }
    let isAddressed = header.destination != NMEA2000Address.all
    let isOwn = transmits.contains(pgn)
    let isKnown = [
      NMEA2000PGN.productInformation, NMEA2000PGN.configurationInformation, NMEA2000PGN.pgnList,
    ].contains(pgn)
    // What is asked of all and not there is answered by nobody.
    guard isAddressed || isOwn || isKnown else { return Reaction() }
    guard answers.take(at: now) else {
      counters.limited += 1
      return Reaction()
    }
    counters.answers += 1
    switch pgn {
    case NMEA2000PGN.productInformation: return Reaction(frames: frames(for: product.message))
    case NMEA2000PGN.configurationInformation:
      return Reaction(frames: frames(for: configuration.message))
    case NMEA2000PGN.pgnList: return Reaction(frames: lists(for: header.source))
    case _ where isOwn: return Reaction(requested: [pgn])
    default: return Reaction(frames: refuse(pgn, to: header.source))
    }
  }

  /// What every node sends when it is asked, and what it understands.
  private static let answered = [
    NMEA2000PGN.acknowledgement, NMEA2000PGN.request, NMEA2000PGN.addressClaim,
    NMEA2000PGN.groupFunction, NMEA2000PGN.pgnList, NMEA2000PGN.heartbeat,
    NMEA2000PGN.productInformation, NMEA2000PGN.configurationInformation,
  ]
  private static let understood = [
    NMEA2000PGN.request, NMEA2000PGN.transportData, NMEA2000PGN.transportManagement,
    NMEA2000PGN.addressClaim, NMEA2000PGN.commandedAddress, NMEA2000PGN.groupFunction,
  ]

  private mutating func lists(for destination: UInt8) -> [CANFrame] {
    // 74 numbers of three bytes, and the function, fill a fast packet.
    let transmitted = (Self.answered + transmits).prefix(74)
    let lists: [(UInt8, ArraySlice<UInt32>)] = [(0, transmitted), (1, Self.understood[...])]
    return lists.flatMap { function, list in
      frames(
        for: NMEA2000Message(
          priority: 6, pgn: NMEA2000PGN.pgnList, destination: destination,
          payload: [function] + list.flatMap { Self.bytes(of: $0) }))
    }
  }

  /// ISO acknowledgement, negative.
  private mutating func refuse(_ pgn: UInt32, to destination: UInt8) -> [CANFrame] {
    frames(
      for: NMEA2000Message(
        priority: 6, pgn: NMEA2000PGN.acknowledgement, destination: destination,
        payload: [1, 0xFF, 0xFF, 0xFF, 0xFF] + Self.bytes(of: pgn)))
  }

  // MARK: Group functions

  /// A request with no conditions and no new interval is granted; every other request, command, read and write is refused in its own words.
  private mutating func groupFunction(
    _ payload: [UInt8], _ header: NMEA2000Header, at now: Timestamp
  ) -> Reaction {
    guard payload.count >= 4 else {
      counters.malformed += 1
      return Reaction()
    }
    // 2 acknowledges, 4 and 6 reply: none of them is answered.
    let function = payload[0]
    guard [0, 1, 3, 5].contains(function), let address, header.source != address,
      NMEA2000Address.claimable.contains(header.source)
    else { return Reaction() }
    guard answers.take(at: now) else {
      counters.limited += 1
      return Reaction()
    }
    counters.answers += 1
    let pgn = UInt32(payload[1]) | UInt32(payload[2]) << 8 | UInt32(payload[3]) << 16
    let isOwn = transmits.contains(pgn)
    let asksOnly =
      function == 0 && payload.count >= 11 && payload[10] == 0
      && payload[4..<8].allSatisfy { $0 == 0xFF }
    if isOwn, asksOnly { return Reaction(requested: [pgn]) }
    // The parameter group is not supported (1), or access to it is denied (3); an interval is not supported (1).
    let group: UInt8 = isOwn ? (function == 0 ? 0 : 3) : 1
    let interval: UInt8 = isOwn && function == 0 ? 1 : 0
    return Reaction(
      frames: frames(
        for: NMEA2000Message(
          priority: 3, pgn: NMEA2000PGN.groupFunction, destination: header.source,
          payload: [2] + payload[1..<4] + [group | interval << 4, 0])))
  }

  // MARK: Commanded address

  private mutating func transportBegins(
    _ frame: CANFrame, _ header: NMEA2000Header, at now: Timestamp
  ) -> [CANFrame] {
    guard let control = frame.byte(0), let size = frame.number(at: 1, size: 2),
      let packets = frame.byte(3), let pgn = frame.number(at: 5, size: 3).map({ UInt32($0) })
    else {
      counters.malformed += 1
      return []
    }
    let isForAll = header.destination == NMEA2000Address.all
    switch (control, isForAll) {
    case (32, true):
      if command?.source == header.source { command = nil }
      guard pgn == NMEA2000PGN.commandedAddress, Int(size) == CommandedAddress.size, packets == 2
      else { return [] }
      command = CommandedAddress(source: header.source, newest: now)
    case (16, false):
      // A connection is not accepted: abort, for want of resources (2).
      guard address != nil, answers.take(at: now) else { return [] }
      return frames(
        for: NMEA2000Message(
          priority: 6, pgn: NMEA2000PGN.transportManagement, destination: header.source,
          payload: [255, 2, 0xFF, 0xFF, 0xFF] + Self.bytes(of: pgn)))
    default: break
    }
    return []
  }

  private mutating func transportGoesOn(
    _ frame: CANFrame, _ header: NMEA2000Header, at now: Timestamp
  ) -> [CANFrame] {
    guard header.destination == NMEA2000Address.all, var command,
      command.source == header.source
    else { return [] }
    self.command = nil
    guard frame.count == CANFrame.capacity, frame.byte(0) == command.next,
      (0...CommandedAddress.timeout).contains(now.seconds(since: command.newest))
    else { return [] }
    command.bytes += frame.bytes.dropFirst()
    (command.next, command.newest) = (command.next + 1, now)
    guard command.bytes.count >= CommandedAddress.size else {
      self.command = command
      return []
    }
    let theirs = command.bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let wanted = command.bytes[8]
    guard theirs == name.value, NMEA2000Address.claimable.contains(wanted), let current,
      wanted != current
    else { return [] }
    counters.commands += 1
    return claim(wanted, at: now)
  }
}
