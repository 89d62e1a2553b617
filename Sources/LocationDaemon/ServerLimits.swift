// What a server grants its connections, and what it counts.

/// Limits of all connections together.
package struct ServerLimits: Hashable, Sendable {
  /// The number of connections.
  package var connections = 1_024
  /// The number of connections of one user.
  package var connectionsOfUser = 256
  /// The number of connections at one port, where the kernel does not name users.
  package var strangers = 32
  /// The number of connections at all ports together. The rest is for programs on this machine.
  var strangersInAll: Int { max(1, connections - connections / 4) }
  /// The number of bytes that may wait for all programs together. Beyond it the program is closed for which most waits.
  package var waiting = 16_777_216
  /// The number of seconds for which a program may take nothing of what waits for it.
  package var patience = 20.0

  package init() {}
}

/// Counters of a server, for its status.
package struct ServerCounters: Hashable, Codable, Sendable {
  /// Connections that were accepted.
  package var accepted: UInt64 = 0
  /// Connections that were refused because there were too many, or because nobody could say who it was.
  package var refused: UInt64 = 0
  /// Connections that were closed because the program took nothing, or because too much waited.
  package var slow: UInt64 = 0
  /// Failures to accept a connection. The server pauses after each.
  package var failures: UInt64 = 0
}
