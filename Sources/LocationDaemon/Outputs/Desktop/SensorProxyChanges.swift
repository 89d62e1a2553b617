// Which values of the compass programs of desktops are told, and when.

import SensorTypes

/// A property of `net.hadess.SensorProxy.Compass` with its value.
enum SensorProxyChange: Hashable, Sendable {
  case presence(Bool)
  /// Degrees clockwise from magnetic north, 0 up to 360.
  case heading(Double)

  /// The name on the bus.
  var name: String {
    switch self {
    case .presence: "HasCompass"
    case .heading: "CompassHeading"
    }
  }
}

/// What programs were told of the compass.
struct SensorProxyChanges: Sendable {
  /// The time in seconds between two headings, the change in degrees that is told, and for how long a heading may be missing.
  private static let (interval, change, patience) = (0.1, 0.2, 3.0)

  private var told: Double?
  private var toldHas: Bool?
  private var nextHeading = Timestamp(nanoseconds: .min)
  /// Since when a heading is asked for and there is none.
  private var missingSince: Timestamp?

  /// Notes that nobody was told anything.
  mutating func forget() { (told, toldHas) = (nil, nil) }

  /// Notes that nobody asks for a heading.
  mutating func release() { missingSince = nil }

  /// Returns the properties as they are now, for somebody who asks for them.
  func present(_ values: SensorProxyValues, at now: Timestamp) -> [SensorProxyChange] {
    let has = hasCompass(values, at: now)
    let heading = has ? values.heading : nil
    return [.presence(has)] + (heading.map { [.heading($0)] } ?? [])
  }

  /// Returns what has changed since the last call.
  mutating func take(
    _ values: SensorProxyValues, isClaimed: Bool, at now: Timestamp
  ) -> [SensorProxyChange] {
    if values.heading != nil || !isClaimed {
      missingSince = nil
    } else if missingSince == nil {
      missingSince = now
    }
    var changed: [SensorProxyChange] = []
    let has = hasCompass(values, at: now)
    if has != toldHas {
      // What it is at first is asked for.
      if toldHas != nil { changed.append(.presence(has)) }
      toldHas = has
      // The first heading after a loss is news, even where it is the one from before.
      if !has { told = nil }
    }
    if let heading = values.heading, isClaimed, now >= nextHeading, isNews(heading) {
      (told, nextHeading) = (heading, now.advanced(bySeconds: Self.interval))
      changed.append(.heading(heading))
    }
    return changed
  }

  /// Returns when to look again without news.
  func deadline(_ values: SensorProxyValues, at now: Timestamp) -> Timestamp {
    if let missingSince, hasCompass(values, at: now) {
      return missingSince.advanced(bySeconds: Self.patience)
    }
    return now < nextHeading ? nextHeading : .distantFuture
  }

  /// Whether there is a compass. Before somebody claims it, its chips sleep and nothing is known of its heading.
  private func hasCompass(_ values: SensorProxyValues, at now: Timestamp) -> Bool {
    guard values.isEquipped, let missingSince else { return values.isEquipped }
    return now.seconds(since: missingSince) < Self.patience
  }

  private func isNews(_ heading: Double) -> Bool {
    guard let told else { return true }
    return abs((heading - told).remainder(dividingBy: 360)) >= Self.change
  }
}
