// Corrections from a caster, on their way to a receiver.

/// Where a receiver's corrections come from: a stream of an NTRIP caster.
package struct CorrectionSource: Sendable, Hashable, Codable {
  /// The port of casters where an address names none.
  package static let usualPort: UInt16 = 2_101

  /// The port of casters that are reached by TLS, where an address names none: that of HTTPS.
  package static let encryptedPort: UInt16 = 443

  /// The caster's name or address.
  package var host: String
  /// The caster's TCP port.
  package var port: UInt16
  /// Whether the connection is encrypted (TLS), and the caster's certificate is verified.
  package var isEncrypted: Bool
  /// The name of the stream.
  package var mountpoint: String
  /// The path of the file that holds `USER:PASSWORD`; `nil` for a caster that wants none.
  package var credentials: String?
  /// Whether the caster is sent the receiver's position (GGA), every 10 s.
  package var sendsPosition: Bool

  /// Makes a source.
  package init(
    host: String, port: UInt16 = usualPort, isEncrypted: Bool = false, mountpoint: String,
    credentials: String? = nil, sendsPosition: Bool = true
  ) {
    self.host = host
    self.port = port
    self.isEncrypted = isEncrypted
    self.mountpoint = mountpoint
    self.credentials = credentials
    self.sendsPosition = sendsPosition
  }

  /// The caster with its port: `caster.example:2101`, `[::1]:2101`.
  package var caster: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// As in messages: `caster.example/MOUNT`; with the port if it is not the usual one.
  package var description: String {
    (port == Self.usualPort ? host : caster) + "/" + mountpoint
  }
}

/// How the corrections of a receiver are doing.
public struct CorrectionStatus: Sendable, Hashable, Codable {
  /// Where the connection to the caster stands.
  public enum CorrectionPhase: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nobody asks for positions, or the receiver has not been heard yet.
    case idle
    /// The caster is to be sent the receiver's position, which is not known yet.
    case awaitingPosition
    /// The caster's name is looked up, or the connection is being made.
    case connecting
    /// The stream was asked for; the answer is awaited.
    case requesting
    /// The caster has accepted; data come, or are awaited.
    case receiving
    /// The last attempt has failed; the next one waits.
    case pausing
  }

  /// The seconds of `recentFrames` and `recentBytes`.
  public static let window = 10

  /// The caster and its stream: `caster.example/MOUNT`.
  public var source: String
  /// Where the connection stands.
  public var phase = CorrectionPhase.idle
  /// Why the last connection ended or could not be made, in words for a person; `nil` once data come again.
  public var failure: String?
  /// Seconds until the next attempt; `nil` unless one waits.
  public var retry: Int?
  /// Whole, valid frames of RTCM 3 in the last 10 s.
  public var recentFrames = 0
  /// The bytes of these frames.
  public var recentBytes = 0
  /// Connections that were made.
  public var connections: UInt64 = 0
  /// Whole, valid frames of RTCM 3.
  public var frames: UInt64 = 0
  /// The bytes of these frames.
  public var bytes: UInt64 = 0
  /// Bytes of the last 10 s that belong to no valid frame; `nil` for none.
  public var recentRejected: Int?
  /// Bytes that the caster sent and that belong to no valid frame.
  public var rejected: UInt64 = 0
  /// Frames that the receiver was not sent, because it or its line was too slow or it was not heard.
  public var dropped: UInt64 = 0
  /// Transfers that the receiver's I2C port did not acknowledge. Each is made three times, and then the frame is dropped. `nil` for
  /// a receiver that is not on I2C.
  public var refusals: UInt64?
  /// How often the caster began to send more than is read, 33 kB/s in the long run. What it sends beyond that waits for its turn; after
  /// 5 s the connection is ended. `nil` for a source that does not count it.
  public var floods: UInt64?

  /// Makes the status of a source that nobody has asked yet.
  public init(source: String) { self.source = source }

  /// The state in words: `12 frames, 3.4 kB in the last 10 s from caster.example/MOUNT`.
  public var description: String {
    let why = failure.map { ": \($0)" } ?? ""
    switch phase {
    case .idle:
      return "not connected to \(source)" + (why.isEmpty ? ", nobody asks for positions" : why)
    case .awaitingPosition:
      return "\(source) waits for the receiver's first position, which it is sent"
    case .connecting: return "connecting to \(source)\(Self.last(failure))"
    case .requesting: return "waiting for the answer of \(source)\(Self.last(failure))"
    case .receiving:
      guard recentFrames > 0 else {
        let what = recentRejected.map { "no RTCM 3, but \(Self.size($0)) of something else" }
        return
          "\(what ?? "nothing") in the last \(Self.window) s from \(source)\(Self.last(failure))"
      }
      var counts = dropped > 0 ? ["\(dropped) not passed on so far"] : []
      if let refusals, refusals > 0 { counts.append("\(refusals) transfers not acknowledged") }
      if let floods, floods > 0 { counts.append("\(floods) times more than is read, which waits") }
      let lost = counts.isEmpty ? "" : " (\(counts.joined(separator: ", ")))"
      return
        "\(recentFrames) frame\(recentFrames == 1 ? "" : "s"), \(Self.size(recentBytes)) in the last "
        + "\(Self.window) s from \(source)\(lost)"
    case .pausing:
      return "none from \(source)\(why); tried again" + (retry.map { " in \($0) s" } ?? "")
    }
  }

  /// The same with figures that rise all the time left out: what is left is news.
  package var withoutCounters: CorrectionStatus {
    var status = CorrectionStatus(source: source)
    (status.phase, status.failure) = (phase, failure)
    status.recentFrames = min(recentFrames, 1)
    status.recentRejected = recentFrames == 0 ? recentRejected.map { min($0, 1) } : nil
    return status
  }

  private static func last(_ failure: String?) -> String {
    failure.map { " (before: \($0))" } ?? ""
  }

  /// A number of bytes with its unit: `740 bytes`, `3.4 kB`.
  private static func size(_ bytes: Int) -> String {
    guard bytes >= 1_000 else { return "\(bytes) bytes" }
    let tenths = (bytes + 50) / 100
    return "\(tenths / 10).\(tenths % 10) kB"
  }
}
