// What receivers and their lines can do.

/// How many bytes an epoch is, and which times there may be between two.
extension ReceiverSetup.Dialect? {
  /// Bytes of an epoch that the line carries: a NAV-PVT with its frame; NAV-SOL, NAV-POSLLH, NAV-VELNED, NAV-TIMEUTC and NAV-DOP;
  /// RMC, GGA, two GSA and a fifth of ten GSV of 80 characters each; of SkyTraq and Allystar GST as well.
  private var bytesPerEpoch: Double {
    switch self {
    case nil, .keys, .messages: 100
    case .parts: 194
    case .pmtk, .pair, .casic, .unicore, .pqtm: 6 * 80
    case .skyTraq, .allystar, .allystarRTK: 7 * 80
    }
  }

  /// The share of the line that an epoch may fill; the rest is for answers, satellites and the line's own tolerance.
  private static var usableLine: Double { 0.8 }

  /// The rates of the line that are asked for where its own is too slow, the least first.
  private static var fasterLines: [Int] { [38_400, 115_200] }

  /// The shortest interval of at least `wanted` seconds that receiver and line can do.
  func possible(_ wanted: Double, baudRate: Int?) -> Double {
    // Ten bits a byte.
    let line = baudRate.map { bytesPerEpoch / Self.usableLine / (Double($0) / 10) } ?? 0
    let interval = max(wanted, line)
    switch self {
    // CFG-RATE has 16 bits of milliseconds.
    case nil, .keys, .messages, .parts: return min(60, max(0.025, interval))
    // PMTK220 takes 100 to 10,000 ms.
    case .pmtk: return min(10, max(0.1, interval))
    // PAIR050 and PCAS02 take these; slower they are not.
    case .pair, .casic:
      return [0.1, 0.2, 0.25, 0.5, 1].first { $0 >= interval - 1e-9 } ?? 1
    // The rates of the application note, up to the ten a second that a PX1172R computes with all constellations.
    case .skyTraq:
      return [0.1, 0.125, 0.2, 0.25, 0.5, 1].first { $0 >= interval - 1e-9 } ?? 1
    // Those for which commands are published.
    case .allystar: return [0.1, 0.2, 0.5, 1].first { $0 >= interval - 1e-9 } ?? 1
    case .allystarRTK: return [0.2, 1].first { $0 >= interval - 1e-9 } ?? 1
    // These are the manual's; from a second on logs come at whole ones.
    case .unicore:
      return [0.1, 0.2, 0.5].first { $0 >= interval - 1e-9 }
        ?? min(60, (interval - 1e-9).rounded(.up))
    // Every so many of the fixes, which come ten a second; 20 at most.
    case .pqtm: return min(2, max(1, (10 * interval - 1e-6).rounded(.up)) / 10)
    }
  }

  /// The rate of the line that carries epochs `interval` seconds apart; `nil` where the usual ones do.
  func neededSpeed(interval: Double) -> Int? {
    let needed = 10 * bytesPerEpoch / Self.usableLine / max(0.04, interval)
    switch self {
    case nil, .pair, .unicore, .pqtm: return nil
    default: break
    }
    if needed <= 9_600 { return nil }
    return Self.fasterLines.first { Double($0) >= needed } ?? Self.fasterLines.last
  }
}
