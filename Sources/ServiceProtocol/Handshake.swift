// What both ends say first: which versions of the protocol they speak.

package import LocationServices

/// The versions of the protocol that a program speaks.
package struct ProtocolVersions: Hashable, Codable, Sendable {
  /// The versions of this build. Version 1 was part of no release yet, and may still change.
  ///
  /// An end sends nothing that the agreed version lacks. Everything but a new optional key needs a new version: a new message, a new case of
  /// an enumeration, a key that must be there. The greetings and `Farewell.versions` never change, because they are read before a version
  /// is agreed.
  package static let supported = ProtocolVersions(oldest: 1, newest: 1)

  package var oldest: Int
  package var newest: Int

  package init(oldest: Int, newest: Int) { (self.oldest, self.newest) = (oldest, newest) }

  package func contains(_ version: Int) -> Bool { version >= oldest && version <= newest }

  /// Returns the newest version that both speak, or `nil` if there is none.
  package func common(with other: ProtocolVersions) -> Int? {
    let version = min(newest, other.newest)
    return version >= max(oldest, other.oldest) ? version : nil
  }
}

/// The first message of a program.
package struct ProgramHello: Hashable, Codable, Sendable {
  package var versions: ProtocolVersions
  /// The version of Lodestone that the program was built with.
  package var software: String
  /// What the program says of itself in its `Info.plist`: what it needs positions for.
  package var usage: UsageDescriptions?

  package init(
    versions: ProtocolVersions = .supported, software: String, usage: UsageDescriptions? = nil
  ) {
    (self.versions, self.software, self.usage) = (versions, software, usage)
  }
}

/// The first message of the daemon to a program that it accepts.
package struct DaemonHello: Hashable, Codable, Sendable {
  /// The version that both ends speak from now on.
  package var version: Int
  /// The version of Lodestone that the daemon was built with.
  package var software: String
  /// A number that differs from one run of the daemon to the next.
  package var run: UInt64
  /// The name of the board.
  package var board: String
  /// The daemon's monotonic clock in seconds, when it answered. The program compares it with its own: in another time namespace every
  /// time that the daemon sends would be wrong.
  package var clock: Double

  package init(version: Int, software: String, run: UInt64, board: String, clock: Double) {
    self.version = version
    self.software = software
    self.run = run
    self.board = board
    self.clock = clock
  }
}

/// The reason why the daemon closes a connection.
package enum Farewell: Hashable, Codable, Sendable {
  /// The program and the daemon have no version of the protocol in common.
  case versions(ProtocolVersions, software: String)
  /// The daemon has as many connections as it may have, in all or of this user.
  case crowded
  /// The program sent no complete greeting in time, or something else before it.
  case noGreeting
  /// The program sent bytes that are no message.
  case unreadable(String)
  /// The program did not read events that are never dropped.
  case slow
  /// The program asks for more than a program may.
  case excessive(String)
  /// The daemon cannot go on, for a reason of its own.
  case failed(String)
  /// The daemon ends.
  case ending

  /// Returns the reason in words.
  ///
  /// - Parameter own: The versions that this end speaks.
  package func text(own: ProtocolVersions = .supported) -> String {
    switch self {
    case .versions(let theirs, let software):
      "The daemon is Lodestone \(software) and speaks versions \(theirs.oldest) to \(theirs.newest) of the protocol, this program "
        + "\(own.oldest) to \(own.newest). Update the older one."
    case .crowded: "The daemon has too many connections."
    case .noGreeting: "The program did not say in time which version it speaks."
    case .unreadable(let why): "The daemon cannot read what the program sends: \(why)."
    case .slow: "The program did not read its events in time."
    case .excessive(let what): "The program asks for too much: \(what)."
    case .failed(let why): "The daemon cannot go on: \(why)."
    case .ending: "The daemon was stopped."
    }
  }
}
