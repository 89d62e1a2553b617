// The satellites of gpsd's SKY.

import SensorTypes

extension GPSDReport {
  /// Reads the satellites of a SKY that is known to be sound: one round, each once.
  static func satellites(_ line: UnsafeBufferPointer<UInt8>, into sky: inout SkyAssembler) {
    sky.begin(group: 0)
    var scanner = JSONScanner(line)
    scanner.object { scanner, key in
      guard case "satellites" = key else { return }
      scanner.array { if let satellite = GNSSSatellite(&$0) { sky.add(satellite) } }
    }
    sky.finish()
  }
}

extension GNSSSatellite {
  /// One of `satellites` (gpsd_json(5), "SKY"): named as u-blox does (`gnssid`, `svid`), before gpsd 3.18 by one number
  /// for all systems. `nil` where neither says whose it is.
  fileprivate init?(_ scanner: inout JSONScanner) {
    var (number, system, ofSystem) = (nil as Int?, nil as Int?, nil as Int?)
    var (elevation, azimuth, strength) = (nil as Double?, nil as Double?, nil as Double?)
    var isUsed: Bool?
    scanner.object { scanner, key in
      switch key {
      case "PRN": number = scanner.integer()
      case "gnssid": system = scanner.integer()
      case "svid": ofSystem = scanner.integer()
      case "el": elevation = scanner.number()
      case "az": azimuth = scanner.number()
      case "ss": strength = scanner.number()
      case "used": isUsed = scanner.isTrue()
      default: break
      }
    }
    if let system = system.flatMap({ UInt8(exactly: $0) }).flatMap({ GNSSSystem(rawValue: $0) }),
      let ofSystem, (1...255).contains(ofSystem)
    {
      self.init(system, ofSystem)
    } else if let known = number.flatMap({ TalkerSystem.byNumber.satellite($0) }) {
      self = known
    } else {
      return nil
    }
    set(elevation: elevation, azimuth: azimuth, strength: strength)
    self.isUsed = isUsed
  }
}
