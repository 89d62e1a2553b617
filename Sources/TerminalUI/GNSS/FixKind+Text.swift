import SensorTypes

extension FixKind {
  /// The kind for a person; `nil` for the usual one, by satellites alone, and where there is no position.
  var words: String? {
    switch self {
    case .none, .autonomous: nil
    case .timeOnly: "time only"
    case .simulated: "simulated"
    case .manual: "given, not measured"
    case .deadReckoning: "dead reckoning"
    case .combined: "satellites and dead reckoning"
    case .preciseCode: "precise code"
    case .differential: "differential"
    case .precisePoint: "PPP"
    case .rtkFloat: "RTK float"
    case .rtkFixed: "RTK fixed"
    }
  }
}
