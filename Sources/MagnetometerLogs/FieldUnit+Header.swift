// Units as headers of files have them.

import SensorTypes

extension FieldUnit {
  /// Reads a unit as a header has it, behind a name or in brackets. Capitals tell nothing but a small `g` of gravity
  /// from gauss: that is the reader's to judge.
  init?(header text: String) {
    switch text.lowercased().replacing("\u{B5}", "\u{3BC}") {
    case "nt", "nanotesla": self = .nanotesla
    // A byte of Latin-1 is no UTF-8.
    case "ut", "\u{3BC}t", "\u{FFFD}t", "microtesla", "utesla", "\u{3BC}tesla":
      self = .microtesla
    case "mt", "millitesla", "mtesla": self = .millitesla
    case "mg", "mgauss", "milligauss", "mga": self = .milligauss
    case "g", "ga", "gauss", "gs": self = .gauss
    case "tesla", "t": self = .tesla
    case "raw", "lsb", "lsbs", "count", "counts", "adc", "digit", "digits": self = .counts
    default: return nil
    }
  }
}

extension String {
  /// The text with every character of one kind in place of another's.
  fileprivate func replacing(_ old: Character, _ new: Character) -> String {
    String(map { $0 == old ? new : $0 })
  }
}
