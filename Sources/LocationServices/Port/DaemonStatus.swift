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

  /// A reader of the stream of JSON lines.
  package struct Reader: Hashable, Codable, Sendable {
    package var client: AuthorizationClient
    /// The number of the process, or `nil` for a reader of another machine.
    package var process: Int32?
    /// The kinds of line that it has asked for.
    package var kinds: [String]
    /// The largest number of lines of a kind in a second.
    package var rate: Double?
    /// The number of bytes that wait to be written, about.
    package var waiting: Int
    /// The number of measurements that it did not take.
    package var dropped: UInt64

    package init(
      client: AuthorizationClient, process: Int32?, kinds: [String], rate: Double?, waiting: Int,
      dropped: UInt64
    ) {
      (self.client, self.process, self.kinds) = (client, process, kinds)
      (self.rate, self.waiting, self.dropped) = (rate, waiting, dropped)
    }
  }

  /// A protocol that the daemon speaks.
  package struct OutputReport: Hashable, Codable, Sendable {
    /// The name of the protocol, as in serve.yaml.
    package var name: String
    /// The address and port, or the device.
    package var place: String
    /// How much of the position goes there at most.
    package var positions: PositionLimit
    /// The number of programs that are connected, or `nil` where nobody connects.
    package var listeners: Int?
    /// The number of messages that were sent, and of those that were not because the other end takes too little or is not there.
    package var sent, dropped: UInt64
    /// Why nothing is sent at the moment, in one line.
    package var problem: String?
    /// The number of connections that were refused, or closed in favour of others, because there were too many; `nil` for none.
    package var refusedConnections: UInt64?
    /// Why connections were refused in the last minute, in one line.
    package var refusal: String?
    /// The number of failed attempts to open the port; `nil` while it is open, and where nobody connects.
    package var attempts: UInt64?
    /// The line of serve.yaml on which its entry begins, or `nil` for an output without one.
    package var line: Int?
    /// Whether the server that it sends to has accepted it, or `nil` where there is no connection.
    package var isConnected: Bool?
    /// The number of requests that were answered with an error, or `nil` if there was none.
    package var refused: UInt64?
    /// Whether the problem lasts until somebody mends it: a file or device of this machine, or the configuration.
    package var isLasting: Bool?

    package init(
      name: String, place: String, positions: PositionLimit, listeners: Int?, sent: UInt64,
      dropped: UInt64, problem: String?, line: Int? = nil, isConnected: Bool? = nil,
      refused: UInt64? = nil, isLasting: Bool? = nil
    ) {
      (self.name, self.place, self.positions) = (name, place, positions)
      (self.listeners, self.sent, self.dropped) = (listeners, sent, dropped)
      (self.problem, self.line, self.isConnected) = (problem, line, isConnected)
      (self.refused, self.isLasting) = (refused, isLasting)
    }

    /// The output in messages: several may go to one place.
    package var title: String { "\(name) at \(place)" + (line.map { " (line \($0))" } ?? "") }
  }

  /// A chip or a receiver of the board.
  package struct ChipReport: Hashable, Codable, Sendable {
    /// The name of the chip and where it is: `LIS3MDL at /dev/i2c-1:0x1e`.
    package var name: String
    /// `starting`, `running`, `failed` or `idle`: nobody asks for what it measures.
    package var state: String
    /// Why it delivers nothing, in one line.
    package var problem: String?
    /// The number of samples or epochs that it has delivered.
    package var samples: UInt64
    /// How a receiver's corrections are doing, in one line, or `nil` if the board file names none.
    package var corrections: String?

    package init(
      name: String, state: String, problem: String?, samples: UInt64, corrections: String?
    ) {
      (self.name, self.state, self.problem) = (name, state, problem)
      (self.samples, self.corrections) = (samples, corrections)
    }
  }

  /// What the board has said of itself.
  package struct BoardMessage: Hashable, Codable, Sendable {
    package var text: String
    /// The number of seconds since it was said last.
    package var age: Double
    /// How often it was said.
    package var count: UInt64

    package init(text: String, age: Double, count: UInt64) {
      (self.text, self.age, self.count) = (text, age, count)
    }
  }

  /// The version of Lodestone.
  package var software: String
  package var board: String
  /// The path of the socket of the stream of JSON lines, which recordings come from too, or `nil` if there is none.
  package var stream: String?
  package var process: Int32
  /// The number of seconds for which the daemon has run.
  package var uptime: Double
  /// The reason why the board could not be opened, in one line.
  package var openingFailure: String?
  /// The number of programs and readers that are connected.
  package var connections: Int
  /// What is counted, by the names under which it is shown.
  package var counters: [String: UInt64]
  /// The number of agents of the owner that are connected.
  package var agents: Int
  /// The number of pages that are open in browsers, or `nil` for a daemon without a page.
  package var pages: Int?
  /// The programs. `nil` for a user who may not know which ones there are.
  package var programs: [Program]?
  /// The readers of the stream. `nil` for a user who may not know which ones there are.
  package var readers: [Reader]?
  /// The protocols that it speaks. `nil` for a user who may not know which programs there are.
  package var outputs: [OutputReport]?
  /// The chips of the board, once it is open. `nil` for a user who may not know which programs there are.
  package var chips: [ChipReport]?
  /// The newest messages of the board, the oldest first. `nil` for a user who may not know which programs there are.
  package var messages: [BoardMessage]?

  package init(
    software: String, board: String, stream: String? = nil, process: Int32, uptime: Double,
    openingFailure: String?, connections: Int, counters: [String: UInt64], agents: Int,
    pages: Int? = nil, programs: [Program]?, readers: [Reader]? = nil,
    outputs: [OutputReport]? = nil, chips: [ChipReport]? = nil, messages: [BoardMessage]? = nil
  ) {
    (self.software, self.board, self.stream) = (software, board, stream)
    self.process = process
    (self.uptime, self.openingFailure, self.connections) = (uptime, openingFailure, connections)
    (self.counters, self.agents, self.programs) = (counters, agents, programs)
    (self.pages, self.readers, self.outputs) = (pages, readers, outputs)
    (self.chips, self.messages) = (chips, messages)
  }
}
