// Deltas of Signal K: what has changed since the last ones.

import SensorTypes
import TextForms

/// Who a board says that it is in Signal K.
package struct SignalKOptions: Sendable, Hashable {
  /// The context of the values; `vessels.self` for a server that knows which vessel it is on.
  package var context: String
  /// The first part of every source, which servers tell sources by.
  package let label: String
  /// The token that goes along in each message, over TCP and UDP to a server that asks for one.
  package var token: String?
  /// Units, names and zones.
  package var meta = SignalKMetaOptions()

  /// Makes options.
  ///
  /// - Parameters:
  ///   - label: The first part of every source; what Signal K does not allow in it is left out.
  ///   - context: The context of the values.
  ///   - token: The token of an access request.
  package init(
    label: String = "lodestone", context: String = "vessels.self", token: String? = nil
  ) {
    (self.label, self.context, self.token) = (Self.part(label), context, token)
  }

  /// Returns a text without what a source or a path of Signal K does not allow in one part: letters, digits and hyphens stay.
  static func part(_ text: String) -> String {
    let allowed = text.utf8.filter {
      (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45
    }
    return allowed.isEmpty ? "x" : String(decoding: allowed.prefix(64), as: UTF8.self)
  }

  func source(_ origin: SignalKPath.Origin) -> String {
    switch origin {
    case .compass: "\(label).compass"
    case .receiver: "\(label).gnss"
    case .barometer: "\(label).barometer"
    }
  }
}

/// Writes deltas for one listener and knows what that has been told.
///
/// A value that is lost is told as `null`, once. The meta data of a path comes before its first value, and again when it changes.
package struct SignalKDeltaWriter: Sendable {
  /// The greatest number of meta data in one delta, so that each fits a datagram.
  private static let metaLimit = 3

  private struct Sent: Sendable {
    /// What the listener holds, or `nil` if nobody knows.
    var value: SignalKValue?
    var time: Timestamp
  }

  /// What is told. After a change of the meta data all of them are told again.
  package var options: SignalKOptions {
    didSet { if options.meta != oldValue.meta { described = [] } }
  }
  /// Whether `null` is repeated as values are, for a way on which messages get lost.
  let repeatsNull: Bool
  private var sent: [SignalKPath: Sent] = [:]
  private var sentSensors: [String: SignalKNotification] = [:]
  /// Sensors of which the listener may hold a warning that it was not told the end of.
  private var doubtfulSensors: Set<String> = []
  private var described: Set<SignalKPath> = []

  /// Makes the writer for a listener that has been told nothing.
  package init(_ options: SignalKOptions, repeatsNull: Bool = false) {
    self.options = options
    self.repeatsNull = repeatsNull
  }

  /// Returns deltas, each the text of one JSON object without an end of line, of at most 1,400 bytes but for absurdly long names.
  ///
  /// - Parameters:
  ///   - rule: How often a path is told; `nil` for one that nobody has asked for.
  package mutating func deltas(
    _ snapshot: SignalKSnapshot, _ rule: (SignalKPath) -> SignalKRule?
  ) -> [String] {
    var values: [(path: SignalKPath, entry: SignalKSnapshot.DatedValue)] = []
    for path in SignalKPath.allCases {
      guard let rule = rule(path) else { continue }
      let last = sent[path]
      guard let entry = snapshot.entries[path] ?? lost(last, snapshot) else { continue }
      if entry.value == .null, last?.value == .null, !repeatsNull { continue }
      let isNews = entry.value != last?.value
      let isUrgent = path.isNotification || (entry.value == .null) != (last?.value == .null)
      let since = last?.value == nil ? nil : last?.time
      guard rule.isDue(since: since, at: snapshot.now, isNews: isNews, isUrgent: isUrgent)
      else { continue }
      values.append((path, entry))
      sent[path] = Sent(value: entry.value, time: snapshot.now)
    }
    return describe(values.map { $0.path }) + write(values) + sensors(snapshot, rule)
  }

  /// The end of a value that was there.
  private func lost(_ last: Sent?, _ snapshot: SignalKSnapshot) -> SignalKSnapshot.DatedValue? {
    last == nil ? nil : SignalKSnapshot.DatedValue(value: .null, utc: snapshot.utc)
  }

  private func begin() -> JSONLine {
    var delta = JSONLine()
    delta.set("context", options.context)
    delta.set("token", options.token)
    return delta
  }

  private mutating func describe(_ paths: [SignalKPath]) -> [String] {
    let new = paths.filter { !described.contains($0) && $0.meta(options.meta) != nil }
    described.formUnion(new)
    return stride(from: 0, to: new.count, by: Self.metaLimit).map { start in
      let part = new[start..<min(start + Self.metaLimit, new.count)]
      var delta = begin()
      delta.set("updates", objects: [0]) { update, _ in
        update.set("meta", objects: Array(part)) { meta, path in
          meta.set("path", path.rawValue)
          if let value = path.meta(options.meta) { meta.set("value", value) }
        }
      }
      return delta.line
    }
  }

  private func write(
    _ values: [(path: SignalKPath, entry: SignalKSnapshot.DatedValue)]
  ) -> [String] {
    SignalKPath.Origin.allCases.flatMap { origin -> [String] in
      // Values of several moments are several deltas, each of which fits a datagram.
      var updates:
        [(utc: Double?, values: [(path: SignalKPath, entry: SignalKSnapshot.DatedValue)])] =
          []
      for value in values where value.path.origin == origin {
        if let index = updates.firstIndex(where: { $0.utc == value.entry.utc }) {
          updates[index].values.append(value)
        } else {
          updates.append((value.entry.utc, [value]))
        }
      }
      return updates.map { update in
        var delta = begin()
        delta.set("updates", objects: [0]) { line, _ in
          line.set("$source", options.source(origin))
          line.set("timestamp", time: update.utc)
          line.set("values", objects: update.values) { line, value in
            line.set("path", value.path.rawValue)
            value.entry.value.write(to: &line, digits: value.path.digits)
          }
        }
        return delta.line
      }
    }
  }

  /// The warnings of sensors that are new or over.
  private mutating func sensors(
    _ snapshot: SignalKSnapshot, _ rule: (SignalKPath) -> SignalKRule?
  ) -> [String] {
    // Who gets one kind of warnings gets all.
    guard rule(.headingNotification) != nil else { return [] }
    var news: [(name: String, value: SignalKValue)] = []
    for (name, notification) in snapshot.sensors.sorted(by: { $0.key < $1.key })
    where sentSensors[name] != notification {
      news.append((name, .notification(notification)))
    }
    for name in doubtfulSensors.union(sentSensors.keys).sorted()
    where snapshot.sensors[name] == nil {
      news.append((name, .null))
    }
    (sentSensors, doubtfulSensors) = (snapshot.sensors, [])
    // One a delta: each can be some hundred bytes long.
    return news.map { name, value in
      var delta = begin()
      delta.set("updates", objects: [0]) { line, _ in
        line.set("$source", "\(options.label).sensors")
        line.set("timestamp", time: snapshot.utc)
        line.set("values", objects: [0]) { line, _ in
          line.set("path", "notifications.sensors.\(options.label).\(name)")
          value.write(to: &line, digits: 0)
        }
      }
      return delta.line
    }
  }

  /// Has everything told again, as to a listener that may or may not have got what was told last: the end of a value as well.
  package mutating func repeatAll() {
    for path in sent.keys { sent[path]?.value = nil }
    doubtfulSensors.formUnion(sentSensors.keys)
    (sentSensors, described) = ([:], [])
  }

  /// Forgets what was told of paths, for a listener that asks anew: meta data come again with a new subscription.
  mutating func forget(_ matches: (SignalKPath) -> Bool) {
    for path in SignalKPath.allCases where matches(path) {
      sent[path] = nil
      described.remove(path)
    }
    if matches(.headingNotification) { sentSensors = [:] }
  }
}
