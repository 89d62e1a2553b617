import SensorTypes

/// Puts together the satellites of one round of messages, each once, with its strongest signal.
///
/// A bounded list; no allocation once it has grown.
struct SkyAssembler: Sendable {
  /// More than all that are up at one place.
  private static let most = 128

  /// The last whole round.
  private(set) var satellites: [GNSSSatellite] = []
  private var building: [GNSSSatellite] = []
  private var used: [UInt16] = []
  private var groups: [UInt16] = []
  private var isUsedOver = false
  private var isFinished = false

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
    if satellite.isUsed { use(satellite.system, satellite.number) }
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

  /// The solution rests on a satellite, whether it was named yet or not.
  mutating func use(_ system: GNSSSystem, _ number: Int) {
    if isUsedOver {
      // Another epoch's, whose list may come with a later one.
      isUsedOver = false
      used.removeAll(keepingCapacity: true)
    }
    let key = Self.key(system, number)
    if used.count < Self.most, !used.contains(key) { used.append(key) }
  }

  /// Ends the round, if one has begun.
  mutating func finish() {
    isUsedOver = true
    guard !groups.isEmpty else { return }
    for index in building.indices {
      building[index].isUsed = used.contains(
        Self.key(building[index].system, building[index].number))
    }
    swap(&satellites, &building)
    building.removeAll(keepingCapacity: true)
    groups.removeAll(keepingCapacity: true)
    isFinished = true
  }

  private static func key(_ system: GNSSSystem, _ number: Int) -> UInt16 {
    UInt16(system.rawValue) << 9 | UInt16(truncatingIfNeeded: number & 0x1FF)
  }

  /// Whether a round has ended since the last call.
  mutating func takeFinished() -> Bool {
    defer { isFinished = false }
    return isFinished
  }
}
