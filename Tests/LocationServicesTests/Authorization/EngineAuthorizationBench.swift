import SensorTypes

@testable import LocationServices

/// Clients of an application of which something was decided, in virtual time.
struct EngineAuthorizationBench {
  static let usage = UsageDescriptions(
    whenInUse: "a", always: "b", purposes: ["route": "c"], declaresBackground: true)

  var engine = LocationEngine()
  var now = 0.0
  private var events: [ServiceEvent] = []

  init(_ decision: AuthorizationDecision, clients: ClosedRange<UInt64> = 1...1) {
    happen(.decided(decision, Self.usage))
    for client in clients {
      ask(.register, client: client)
      ask(.configure(ClientSettings(hearsRegions: true)), client: client)
    }
    _ = told()
  }

  mutating func ask(_ action: ServiceAction, client: UInt64 = 1) {
    var new: [ServiceEvent] = []
    engine.handle(
      ServiceRequest(ClientID(rawValue: client), action), at: Timestamp(seconds: now)
    ) { new.append($0) }
    events += new
  }

  mutating func happen(_ event: AuthorizationEvent) {
    var new: [ServiceEvent] = []
    engine.authorize(event) { new.append($0) }
    events += new
  }

  mutating func go(foreground: Bool) {
    var new: [ServiceEvent] = []
    engine.enter(foreground: foreground) { new.append($0) }
    events += new
  }

  mutating func fix(_ latitude: Double, accuracy: Double? = 5) {
    now += 30
    var fix = GNSSFix(received: Timestamp(seconds: now), mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.horizontalAccuracy) = (latitude, 13, accuracy)
    (fix.speed, fix.altitude, fix.verticalAccuracy) = (3, 100, 2)
    say(.location(LocationEstimate(fix: fix, isSimulated: false)))
  }

  mutating func say(_ observation: Observation) {
    var new: [ServiceEvent] = []
    engine.handle(observation) { new.append($0) }
    events += new
  }

  mutating func outcomes() -> [AuthorizationOutcome] {
    var outcomes: [AuthorizationOutcome] = []
    while let outcome = engine.takeAuthorizationOutcome() { outcomes.append(outcome) }
    return outcomes
  }

  /// What was told since the last call, a word each.
  mutating func told() -> [String] {
    defer { events = [] }
    return events.map { event in
      switch event.content {
      case .location(let report): report.speed == nil ? "cell" : "location"
      case .requestedLocation(let report): report.speed == nil ? "cell answer" : "answer"
      case .requestFailed(let failure): failure.isDenied ? "answer denied" : "answer failed"
      case .failure(let failure): failure.isDenied ? "denied" : "failure"
      case .authorization(let report): "\(report.status)"
      case .significantChange(let report): report.speed == nil ? "cell change" : "change"
      case .visit(let visit): visit.horizontalAccuracy ?? 0 >= 1_000 ? "cell visit" : "visit"
      case .region(let event):
        switch event.kind {
        case .started: "started"
        case .failed(.denied): "region denied"
        case .failed: "region failed"
        case .crossed: "crossed"
        case .settled: "settled"
        case .answered(let state): "\(state)"
        case .unkept: "unkept"
        }
      case .rangingFailed: "ranging failed"
      case .fullAccuracyAnswered(let problem): problem == nil ? "exact" : "not exact"
      default: "other"
      }
    }
  }
}
