// What follows from who a receiver is: the commands that it takes, and how often it can fix.

import GNSSProtocol

extension ReceiverSetup.Dialect {
  init?(_ identity: ReceiverIdentity) {
    switch identity.family {
    case nil: return nil
    case .uBlox?:
      // The newest one for a receiver that does not say its generation: it refuses what it does not have.
      switch identity.generation {
      case 5?, 6?: self = .parts
      case 7?, 8?: self = .messages
      default: self = .keys
      }
    case .mediaTek?: self = .pmtk
    case .airoha?: self = .pair
    case .casic?: self = .casic
    case .unicore?: self = .unicore
    case .quectel?: self = .pqtm
    case .skyTraq?: self = .skyTraq
    // HD9510 in TAU951M; HD8040D and HD9310 in TAU1201 and TAU1302 (satpulse).
    case .allystar?: self = identity.hardware?.hasPrefix("HD95") ?? false ? .allystarRTK : .allystar
    }
  }
}

extension ReceiverIdentity {
  /// Whether the receiver is a u-blox module with two antennas that reports their heading in NAV-DAHEADING: a ZED-X20D, or
  /// firmware of the name HDG.
  var hasTwoAntennas: Bool {
    family == .uBlox
      && extensions.contains { $0.hasPrefix("MOD=ZED-X20D") || $0.hasPrefix("FWVER=HDG ") }
  }

  /// The navigation rates of the data sheets of LEA-5 (4 Hz), NEO-6 (5 Hz) and NEO-7 (10 Hz), as seconds.
  var shortestInterval: Double? {
    switch generation {
    case 5?: 0.25
    case 6?: 0.2
    case 7?: 0.1
    default: nil
    }
  }
}
