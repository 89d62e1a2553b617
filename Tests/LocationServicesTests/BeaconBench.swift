import SensorTypes

@testable import LocationServices

/// The services in virtual time, with a radio that says what a test lets it hear.
struct BeaconBench {
  var engine = LocationEngine()
  private(set) var events: [ServiceEvent] = []

  init() {
    ask(.register)
    ask(.configure(ClientSettings(hearsRegions: true)))
  }

  mutating func ask(_ action: ServiceAction, at seconds: Double = 0, client: UInt64 = 1) {
    var new: [ServiceEvent] = []
    let request = ServiceRequest(ClientID(rawValue: client), action)
    engine.handle(request, at: Timestamp(seconds: seconds)) { new.append($0) }
    events += new
  }

  mutating func say(_ news: BeaconNews) {
    var new: [ServiceEvent] = []
    engine.handle(news) { new.append($0) }
    events += new
  }

  mutating func listen(at seconds: Double) { say(.listening(Timestamp(seconds: seconds))) }

  mutating func hear(
    _ minor: UInt16, _ strength: Int?, at seconds: Double, power: Int8 = -59,
    uuid: BeaconUUID = beaconUUID
  ) {
    let identity = BeaconIdentity(uuid: uuid, major: 1, minor: minor)
    say(
      .heard(
        BeaconSighting(
          BeaconAdvertisement(identity, measuredPower: power), strength: strength,
          time: Timestamp(seconds: seconds))))
  }

  mutating func advance(to seconds: Double) {
    var new: [ServiceEvent] = []
    engine.advance(to: Timestamp(seconds: seconds)) { new.append($0) }
    events += new
  }

  /// The events since the last call.
  mutating func take() -> [ServiceEvent] {
    defer { events = [] }
    return events
  }

  mutating func takeReports() -> [[RangedBeacon]] {
    take().compactMap { if case .beacons(let report) = $0.content { report.beacons } else { nil } }
  }

  mutating func takeRegions() -> [RegionEventKind] {
    take().compactMap { if case .region(let event) = $0.content { event.kind } else { nil } }
  }
}
