import SensorTypes

/// Puts together the satellites of one round of messages, each once, with its strongest signal.
///
/// A bounded list; no allocation once it has grown.
struct SkyAssembler: Sendable {
  /// The number of rounds after which a receiver that has not said which satellites it uses does not say it.
  private static let patience = 5
  /// More than all that are up at one place.
  private static let most = 128

  /// The last whole round.
  private(set) var satellites: [GNSSSatellite] = []
  private var building: [GNSSSatellite] = []
  private var used: [UsedSatellite] = []
  /// The systems of which the receiver has said what it uses, a bit each.
  private var reported: UInt8 = 0
  private var groups: [UInt16] = []
  private var isUsedOver = false
  /// How many rounds have ended since the receiver said which satellites it uses.
  private var roundsWithoutUse = Self.patience
  private var isFinished = false
  /// Whether a message was lost since the last round ended.
  private var isDamaged = false

  init() {
    satellites.reserveCapacity(Self.most)
    building.reserveCapacity(Self.most)
    used.reserveCapacity(Self.most)
    groups.reserveCapacity(16)
  }

  /// A list begins: of a talker, and of one of its signals. One that was there already begins a new round.
  mutating func begin(group: UInt16) {
    if groups.contains(group) { finish() }
    if groups.count < 16 { groups.append(group) }
  }

  /// A satellite of the round; named twice it is one.
  mutating func add(_ satellite: GNSSSatellite) {
    if let isUsed = satellite.isUsed {
      reportUse(of: satellite.system.bit)
      if isUsed { use(satellite.system, satellite.number, isNamed: false) }
    }
    guard
      let known = building.firstIndex(where: {
        $0.system == satellite.system && $0.number == satellite.number
      })
    else {
      if building.count < Self.most { building.append(satellite) }
      return
    }
    building[known].elevation = satellite.elevation ?? building[known].elevation
    building[known].azimuth = satellite.azimuth ?? building[known].azimuth
    if let strength = satellite.carrierToNoise {
      building[known].carrierToNoise = max(strength, building[known].carrierToNoise ?? strength)
    }
  }

  /// The receiver says which satellites of some systems it uses, if only that there are none. It says nothing of the others.
  mutating func reportUse(of systems: UInt8) {
    roundsWithoutUse = 0
    if isUsedOver {
      // Another epoch's, whose list may come with a later one.
      isUsedOver = false
      used.removeAll(keepingCapacity: true)
      reported = 0
    }
    reported |= systems
  }

  /// The position rests on a satellite, whether the list has it yet or not. Who says it of GPS says it of SBAS as well.
  ///
  /// - Parameter isNamed: Whether it is certain whose it is, so that it is one of the sky if no list has it.
  mutating func use(_ system: GNSSSystem, _ number: Int, isNamed: Bool) {
    reported |= system == .gps ? system.bit | GNSSSystem.sbas.bit : system.bit
    let satellite = UsedSatellite(system: system, number: number, isNamed: isNamed)
    let isKnown = used.contains { $0.system == system && $0.number == number }
    if used.count < Self.most, !isKnown { used.append(satellite) }
  }

  /// Takes that a message was lost, which may have been a list of satellites in use.
  mutating func noteDamage() { isDamaged = true }

  /// Ends the round, if one has begun.
  mutating func finish() {
    isUsedOver = true
    let wasDamaged = isDamaged
    isDamaged = false
    guard !groups.isEmpty else { return }
    let (isUseKnown, hasUse) = (roundsWithoutUse < Self.patience, roundsWithoutUse == 0)
    roundsWithoutUse = min(roundsWithoutUse + 1, Self.patience)
    for index in building.indices {
      let (system, number) = (building[index].system, building[index].number)
      let isUsed = used.contains { $0.system == system && $0.number == number }
      building[index].isUsed = isUseKnown && reported & system.bit != 0 ? isUsed : nil
    }
    if hasUse { addUnlisted() }
    // With a list lost nobody knows how many are used.
    if wasDamaged, building.contains(where: { $0.isUsed == nil }) {
      for index in building.indices { building[index].isUsed = nil }
    }
    swap(&satellites, &building)
    building.removeAll(keepingCapacity: true)
    groups.removeAll(keepingCapacity: true)
    isFinished = true
  }

  /// Adds the satellites that are used and in no list: some receivers list one constellation less than they use.
  private mutating func addUnlisted() {
    for one in used where one.isNamed && building.count < Self.most {
      let isListed = building.contains { $0.system == one.system && $0.number == one.number }
      guard !isListed else { continue }
      var satellite = GNSSSatellite(one.system, one.number)
      satellite.isUsed = true
      building.append(satellite)
    }
  }

  private struct UsedSatellite {
    let system: GNSSSystem
    let number: Int
    let isNamed: Bool
  }

  /// Whether a round has ended since the last call.
  mutating func takeFinished() -> Bool {
    defer { isFinished = false }
    return isFinished
  }
}

extension GNSSSystem {
  /// Its bit in a set of systems.
  var bit: UInt8 { 1 << rawValue }
}
