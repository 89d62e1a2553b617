// What is up and what is used: GSA, GSV.

import SensorTypes

extension NMEADecoder {
  mutating func geometry(
    gsa fields: inout FieldReader, _ received: Timestamp, _ talker: TalkerSystem
  ) {
    fields.skip(1)
    let mode = fields.integer().flatMap { UInt8(exactly: $0) }.flatMap(FixMode.init)
    // The system is said behind the satellites.
    var rest = fields
    rest.skip(12)
    let (pdop, hdop, vdop) = (rest.number(), rest.number(), rest.number())
    let id = rest.integer()
    let named = TalkerSystem(id: id)
    let system = named ?? talker
    sky.reportUse(of: reported(system, id: id, hasFix: mode ?? .none > .none))
    for _ in 0..<12 {
      guard let number = fields.integer(), let satellite = system.satellite(number) else {
        continue
      }
      sky.use(satellite.system, satellite.number, isNamed: named != nil)
    }
    epochs.take(.init(.gsa), .none, received: received) { part in
      if let mode, mode > .none {
        part.bestMode = max(mode, part.bestMode)
        if part.fix.latitude != nil { part.fix.mode = part.bestMode }
      }
      if let pdop, pdop > 0, pdop < 99 { part.fix.pdop = pdop }
      if let hdop, hdop > 0, hdop < 99 { part.fix.hdop = hdop }
      if let vdop, vdop > 0, vdop < 99 { part.fix.vdop = vdop }
    }
  }

  /// The systems of which a GSA says what is used, but those whose satellites it lists.
  private func reported(_ system: TalkerSystem, id: Int?, hasFix: Bool) -> UInt8 {
    if case .one(let system) = system { return system.bit }
    // SBAS is numbered with GPS, and spoken of with it.
    if id == 1 || id == nil && talker == .gps { return GNSSSystem.gps.bit | GNSSSystem.sbas.bit }
    // Without a fix nothing is used of any system.
    return talker == .several && !hasFix ? .max : 0
  }

  mutating func view(gsv fields: inout FieldReader, _ talker: TalkerSystem) {
    let (total, number) = (fields.integer(), fields.integer())
    fields.skip(1)
    // Four fields a satellite; one more behind them is the signal, which a list is of, and a second one (Quectel) the system.
    let count = fields.remaining
    var signal: UInt8 = 0
    var system = talker
    if count % 4 > 0 {
      var rest = fields
      rest.skip(count / 4 * 4)
      signal = rest.digit()
      if count % 4 == 2 { system = TalkerSystem(id: rest.integer()) ?? talker }
    }
    let key = system.key << 8 | UInt16(signal)
    guard let number, view.goesOn(to: number, of: total, system.key) else { return }
    if number == 1 { sky.begin(group: key) }
    for _ in 0..<min(4, count / 4) {
      let (name, elevation, azimuth, strength) = (
        fields.integer(), fields.number(), fields.number(), fields.number()
      )
      guard let name, var satellite = system.satellite(name) else { continue }
      satellite.set(elevation: elevation, azimuth: azimuth, strength: strength)
      sky.add(satellite)
    }
  }
}

/// The order of the sentences of one list of satellites.
struct SatelliteViewSequence: Sendable {
  private var total = 0
  private var number = 0
  private var system: UInt16 = 0

  /// Whether a sentence of a list is to be read. One behind the first may leave out the total, which the first had (NMEA 0183,
  /// version 4.11, GSV).
  mutating func goesOn(to number: Int, of total: Int?, _ system: UInt16) -> Bool {
    let total = total ?? (number == self.number + 1 && system == self.system ? self.total : 0)
    (self.total, self.number, self.system) = (total, number, system)
    return number >= 1 && number <= total
  }
}

/// Whose satellites a talker speaks of.
enum TalkerSystem {
  case one(GNSSSystem)
  /// By their numbers: `GN`, and whoever speaks for all of them as `GP`.
  case byNumber

  init(talker: NMEADecoder.Talker) {
    self =
      switch talker {
      case .glonass: .one(.glonass)
      case .galileo: .one(.galileo)
      case .beidou: .one(.beidou)
      case .qzss: .one(.qzss)
      case .navic: .one(.navic)
      case .gps, .several, .other: .byNumber
      }
  }

  /// By the last field of a GSA (NMEA 4.11, table of system IDs).
  init?(id: Int?) {
    switch id {
    case 1: self = .byNumber
    case 2: self = .one(.glonass)
    case 3: self = .one(.galileo)
    case 4: self = .one(.beidou)
    case 5: self = .one(.qzss)
    case 6: self = .one(.navic)
    default: return nil
    }
  }

  var key: UInt16 {
    switch self {
    case .one(let system): UInt16(system.rawValue)
    case .byNumber: 0xFF
    }
  }

  /// A satellite by the number that a sentence gives it; `nil` for one that is nobody's.
  ///
  /// Several numberings are about: the standard's (SBAS less 87, GLONASS and 64), and makers' that put each
  /// system into a hundred of its own (u-blox M8 protocol description, annex A; gpsd's `driver_nmea0183`
  /// documents more).
  func satellite(_ number: Int) -> GNSSSatellite? {
    func at(_ system: GNSSSystem, _ number: Int, _ range: ClosedRange<Int>)
      -> GNSSSatellite?
    {
      range.contains(number) ? GNSSSatellite(system, number) : nil
    }
    switch self {
    case .one(.glonass): return at(.glonass, number > 64 ? number - 64 : number, 1...32)
    case .one(.galileo): return at(.galileo, number > 300 ? number - 300 : number, 1...36)
    case .one(.beidou):
      return at(
        .beidou, number > 400 ? number - 400 : number > 200 ? number - 200 : number, 1...63)
    case .one(.qzss): return at(.qzss, number > 192 ? number - 192 : number, 1...10)
    case .one(let system): return at(system, number, 1...63)
    case .byNumber:
      switch number {
      case 1...32: return GNSSSatellite(.gps, number)
      case 33...64: return GNSSSatellite(.sbas, number + 87)
      case 65...96: return GNSSSatellite(.glonass, number - 64)
      case 120...158: return GNSSSatellite(.sbas, number)
      case 193...202: return GNSSSatellite(.qzss, number - 192)
      case 203...263: return GNSSSatellite(.beidou, number - 200)
      case 301...336: return GNSSSatellite(.galileo, number - 300)
      case 401...463: return GNSSSatellite(.beidou, number - 400)
      default: return nil
      }
    }
  }
}

extension GNSSSatellite {
  /// Takes over degrees and dB-Hz as they were said; what cannot be was not known.
  mutating func set(elevation: Double?, azimuth: Double?, strength: Double?) {
    self.elevation = elevation.flatMap { (-90...90).contains($0) ? $0 : nil }
    self.azimuth = azimuth.flatMap { (0...360).contains($0) ? ($0 == 360 ? 0 : $0) : nil }
    carrierToNoise = strength.flatMap { (1...99).contains($0) ? $0 : nil }
  }
}
