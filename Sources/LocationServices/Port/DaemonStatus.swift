// What a daemon says of itself.

/// The state of a daemon, for the person who runs it.
package struct DaemonStatus: Hashable, Codable, Sendable {
  /// A program that is connected, or for which regions or visits go on.
  package struct Program: Hashable, Codable, Sendable {
    package var client: AuthorizationClient
    /// The number of the process, or `nil` while the program is away.
    package var process: Int32?
    package var authorization: AuthorizationReport
    /// The number of regions that are monitored for it.
    package var regions: Int
    /// The number of crossings and visits that wait for it.
    package var unheard: Int
    /// The number of bytes that wait to be written.
    package var waiting: Int
    /// The number of values that were replaced by newer ones or dropped, because the program did not take them.
    package var dropped: UInt64
    /// What is wrong with what is stored for the program, or with its authorization, in one line.
    package var problem: String?

    package init(
      client: AuthorizationClient, process: Int32?, authorization: AuthorizationReport,
      regions: Int, unheard: Int, waiting: Int, dropped: UInt64, problem: String?
    ) {
      (self.client, self.process, self.authorization) = (client, process, authorization)
      (self.regions, self.unheard, self.waiting) = (regions, unheard, waiting)
      (self.dropped, self.problem) = (dropped, problem)
    }
  }

  /// The version of Lodestone.
  package var software: String
  package var board: String
  package var process: Int32
  /// The number of seconds for which the daemon has run.
  package var uptime: Double
  /// The reason why the board could not be opened, in one line.
  package var openingFailure: String?
  /// The number of programs that are connected.
  package var connections: Int
  /// What is counted, by the names under which it is shown.
  package var counters: [String: UInt64]
  /// The number of agents of the owner that are connected.
  package var agents: Int
  /// The programs. `nil` for a user who may not know which ones there are.
  package var programs: [Program]?

  package init(
    software: String, board: String, process: Int32, uptime: Double, openingFailure: String?,
    connections: Int, counters: [String: UInt64], agents: Int, programs: [Program]?
  ) {
    (self.software, self.board, self.process) = (software, board, process)
    (self.uptime, self.openingFailure, self.connections) = (uptime, openingFailure, connections)
    (self.counters, self.agents, self.programs) = (counters, agents, programs)
  }
}
