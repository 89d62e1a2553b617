// Messages that wait for a broker.

/// Messages that wait for a broker to take them, or for a broker to be there.
///
/// Configuration and events (quality 1) are kept in their order, and the oldest event goes where there is no room. A retained message
/// takes the place of an older one of its topic. A measurement (quality 0) is superseded by the next one of its topic.
package struct MQTTOutbox: Sendable {
  /// The number of messages of quality 1, and of their bytes.
  package static let mostKept = 256
  package static let mostBytes = 262_144
  /// The number of topics of measurements.
  static let mostMeasurements = 128

  private var kept: [MQTTMessage] = []
  private var keptBytes = 0
  private var measurements: [MQTTMessage] = []
  /// The number of messages that were dropped or superseded.
  package private(set) var dropped: UInt64 = 0
  /// The number of messages of quality 1 among them, for which there was no room, since `forgetLosses()`.
  package private(set) var lost: UInt64 = 0

  package init() {}

  package var isEmpty: Bool { kept.isEmpty && measurements.isEmpty }
  package var keptCount: Int { kept.count }

  package mutating func add(_ message: MQTTMessage) {
    message.quality > 0 ? keep(message) : measure(message)
  }

  private mutating func keep(_ message: MQTTMessage) {
    if message.isRetained,
      let old = kept.firstIndex(where: { $0.isRetained && $0.topic == message.topic })
    {
      keptBytes -= kept.remove(at: old).payload.count
    }
    kept.append(message)
    keptBytes += message.payload.count
    while kept.count > Self.mostKept || keptBytes > Self.mostBytes, kept.count > 1 {
      // What is retained describes the board: events go first.
      let oldest = kept.dropLast().firstIndex { !$0.isRetained } ?? 0
      keptBytes -= kept.remove(at: oldest).payload.count
      dropped &+= 1
      lost &+= 1
    }
  }

  private mutating func measure(_ message: MQTTMessage) {
    if let old = measurements.firstIndex(where: { $0.topic == message.topic }) {
      measurements.remove(at: old)
      dropped &+= 1
    } else if measurements.count >= Self.mostMeasurements {
      measurements.removeFirst()
      dropped &+= 1
    }
    measurements.append(message)
  }

  /// Takes the next message: what is kept comes first.
  ///
  /// - Parameter acknowledged: Whether the broker takes another message of quality 1 now.
  package mutating func next(acknowledged: Bool) -> MQTTMessage? {
    if acknowledged, !kept.isEmpty {
      let message = kept.removeFirst()
      keptBytes -= message.payload.count
      return message
    }
    return measurements.isEmpty ? nil : measurements.removeFirst()
  }

  /// Counts what is lost from 0 again.
  package mutating func forgetLosses() { lost = 0 }

  /// Drops the measurements: a broker that comes back gets the present ones.
  package mutating func dropMeasurements() {
    dropped &+= UInt64(measurements.count)
    measurements.removeAll(keepingCapacity: true)
  }
}
