// What serve.yaml says of an output of NMEA 2000.

import BoardFile
import Glibc
package import OutputProtocols
package import SensorTypes

/// Who the node of an output is, and what it sends.
package struct NMEA2000Settings: Hashable, Sendable {
  package var options = NMEA2000Options()
  /// What is sent, with the seconds from one to the next.
  package var entries = NMEA2000Entry.standard
  /// Which of several like devices it is, 0 to 255.
  package var deviceInstance: UInt8 = 0
  /// The number that no other device of the bus has, 21 bits; `nil`: the machine's.
  package var uniqueNumber: UInt32?

  package init() {}

  /// What the messages need of the board.
  package var demand: Demand {
    entries.reduce(Demand()) { $0.merged(with: Self.demand(of: $1)) }
  }

  private static func demand(of entry: NMEA2000Entry) -> Demand {
    let motion = MotionDemand(attitude: true, field: true, interval: entry.interval)
    switch entry.pgn {
    case NMEA2000PGN.heading, NMEA2000PGN.variation: return Demand(heading: true)
    case NMEA2000PGN.rateOfTurn, NMEA2000PGN.attitude:
      return Demand(heading: true, motion: motion)
    case NMEA2000PGN.heave: return Demand(waves: true)
    case NMEA2000PGN.position, NMEA2000PGN.courseAndSpeed, NMEA2000PGN.gnssPosition,
      NMEA2000PGN.dilutions, NMEA2000PGN.systemTime, NMEA2000PGN.timeAndDate:
      return Demand(location: true, locationInterval: entry.interval)
    // The satellites alone do not make the receiver faster.
    case NMEA2000PGN.satellites:
      return Demand(location: true, locationInterval: max(1, entry.interval), satellites: true)
    default: return Demand(altitude: true)
    }
  }

  /// The node that the output is.
  ///
  /// The address that it asks for first follows from its number, so that it has the same one after each start.
  ///
  /// - Parameter delay: A random time in seconds, 0 to 0.153.
  func makeNode(machine: UInt32, software: String, delay: Double) -> NMEA2000Node {
    let number = uniqueNumber ?? machine
    var serial = String(number, radix: 16, uppercase: true)
    serial = String(repeating: "0", count: max(0, 6 - serial.count)) + serial
    return NMEA2000Node(
      name: NMEA2000Name(uniqueNumber: number, deviceInstance: deviceInstance),
      product: NMEA2000Product(
        model: "Lodestone", software: software, modelVersion: "", serialNumber: serial),
      preferred: UInt8(number % (UInt32(NMEA2000Address.claimable.upperBound) + 1)),
      transmits: entries.map(\.pgn), delay: delay)
  }
}

/// The number of a machine among those of a bus.
package enum MachineNumber {
  /// Where a machine has its identity: machine-id(5).
  private static let files = ["/etc/machine-id", "/var/lib/dbus/machine-id"]

  /// The number of this machine, 21 bits. It is the same after each start. Only a machine without an identity gets another one each time.
  package static var own: UInt32 {
    for path in files {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = read(file, &buffer, buffer.count)
      close(file)
      if let number = number(of: buffer.prefix(max(0, count))) { return number }
    }
    return UInt32.random(in: 1...0x1F_FFFF)
  }

  /// Returns the number of an identity of 32 hexadecimal digits, or `nil` for something else.
  ///
  /// It is a hash (FNV-1a of 64 bits, folded), since an identity is to be shown to nobody: 21 bits of it do not lead back.
  static func number(of identity: some Collection<UInt8>) -> UInt32? {
    let digits = identity.prefix(32)
    let isNumber = digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    guard digits.count == 32, isNumber, digits.contains(where: { $0 != 48 }) else { return nil }
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in Array("lodestone nmea2000 ".utf8) + digits {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return UInt32(truncatingIfNeeded: (hash ^ hash >> 21 ^ hash >> 42) & 0x1F_FFFF)
  }
}

extension NMEA2000Settings {
  /// The keys that only NMEA 2000 has.
  static let keys = ["pgns", "reference", "surroundings", "instance", "uniqueNumber"]

  static func parse(_ entry: YAMLMapping) throws(BoardFileError) -> NMEA2000Settings {
    var settings = NMEA2000Settings()
    if let word = try entry.string("reference") {
      let words: [String: NMEA2000Options.Reference] = ["magnetic": .magnetic, "true": .trueNorth]
      guard let reference = words[word] else {
        throw entry.error("reference", "'reference' is magnetic or true")
      }
      settings.options.reference = reference
    }
    if let word = try entry.string("surroundings") {
      guard let place = NMEA2000Options.Surroundings(rawValue: word) else {
        let words = NMEA2000Options.Surroundings.allCases.map(\.rawValue)
        throw entry.error(
          "surroundings", "'surroundings' is one of \(words.joined(separator: ", "))")
      }
      settings.options.place = place
    }
    // Several boards of a boat are told apart by it, and so are their barometers.
    let instance = UInt8(try entry.integer("instance", in: 0...252) ?? 0)
    (settings.deviceInstance, settings.options.instance) = (instance, instance)
    settings.uniqueNumber = try entry.integer("uniqueNumber", in: 0...0x1F_FFFF).map(UInt32.init)
    let known = NMEA2000Entry.all.map { String($0.pgn) }
    if let chosen = try entry.mapping("pgns", context: "the parameter groups", known: known) {
      settings.entries = []
      for var group in NMEA2000Entry.all where chosen.has(String(group.pgn)) {
        group.interval = try chosen.requiredNumber(
          String(group.pgn), in: 0.05...3_600, unit: "seconds from one to the next")
        settings.entries.append(group)
      }
      guard !settings.entries.isEmpty else {
        throw entry.error("pgns", "an output of nmea2000 needs a parameter group")
      }
    }
    return settings
  }
}
