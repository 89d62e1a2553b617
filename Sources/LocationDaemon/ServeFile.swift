// What the owner of a machine says of the daemon: serve.yaml.

package import BoardFile
import Glibc
package import LocationServices
import Lodestone

/// The configuration of a daemon.
package struct ServeConfiguration: Hashable, Sendable {
  /// The name or path of the board, or `nil` for the machine's own.
  package var board: String?
  /// The path of the socket at which programs arrive.
  package var socket = DaemonLocator.systemSocket
  /// Where the stream of JSON lines is served.
  package var stream = Stream.besideSocket
  /// The port at which the stream is served to everybody who reaches it, or `nil` for none.
  package var network: Network?
  /// The number of the group whose users may connect, or `nil` for all users. What a program gets is the authorization file's business.
  package var group: UInt32?
  /// The real-time priority of the threads of the buses, or `nil` for none.
  package var realtime: Int32?
  /// The numbers of the users who may answer prompts for the owner, besides root and the user of the daemon.
  package var agents: Set<UInt32> = []
  /// The number of connections in all, and of one user.
  package var (connections, connectionsOfUser) = (1_024, 256)

  package init() {}

  /// A port for readers whom the kernel does not name.
  package struct Network: Hashable, Sendable {
    /// A numeric address of this machine.
    package var address: String
    package var port: UInt16
    /// How much of the position the readers get.
    package var positions: PositionLimit
  }

  /// Where the stream of JSON lines is served.
  package enum Stream: Hashable, Sendable {
    /// At `stream.sock`, in the folder of the socket.
    case besideSocket
    case path(String)
    case none
  }

  /// The path of the socket of the stream of JSON lines, or `nil` for none.
  package var streamSocket: String? {
    switch stream {
    case .besideSocket:
      (socket.lastIndex(of: "/").map { String(socket[...$0]) } ?? "") + "stream.sock"
    case .path(let path): path
    case .none: nil
    }
  }
}

/// Reads serve.yaml, `schema: 1`. Every mistake is an error with file and line.
package enum ServeFile {
  /// The path of a machine's own file.
  package static let systemFile = "/etc/lodestone/serve.yaml"
  /// The largest file in bytes.
  package static let limit = 65_536
  private static let schema = 1
  private static let known = [
    "schema", "board", "socket", "stream", "tcp", "group", "realtime", "agents", "connections",
  ]
  private static let mostConnections = 16_384

  /// Parses the text of a file.
  package static func parse(
    _ text: String, file: String
  ) throws(BoardFileError) -> ServeConfiguration {
    let map = try YAMLMapping.document(
      text, file: file, context: "the configuration of the daemon", known: known)
    guard try map.integer("schema", in: 0...1_000_000) == schema else {
      throw map.error("schema", "the configuration of the daemon needs 'schema: \(schema)'")
    }
    var configuration = ServeConfiguration()
    configuration.board = try map.string("board")
    configuration.socket = try path("socket", map) ?? configuration.socket
    if try map.string("stream") == "none" {
      configuration.stream = .none
    } else if let path = try path("stream", map) {
      configuration.stream = .path(path)
    }
    if let tcp = try map.mapping(
      "tcp", context: "the stream's port", known: ["address", "port", "positions"])
    {
      guard let port = try tcp.integer("port", in: 1...65_535) else {
        throw map.error("tcp", "'tcp' needs a port")
      }
      let word = try tcp.string("positions") ?? PositionLimit.none.rawValue
      guard let positions = PositionLimit(rawValue: word) else {
        throw tcp.error("positions", "'positions' is exact, reduced or none")
      }
      configuration.network = ServeConfiguration.Network(
        address: try tcp.string("address") ?? "127.0.0.1", port: UInt16(port), positions: positions)
    }
    if let group = try map.string("group") {
      guard let number = number(ofGroup: group) else {
        throw map.error("group", "there is no group '\(group)' on this machine")
      }
      configuration.group = number
    }
    configuration.realtime = try map.integer("realtime", in: 1...50).map { Int32($0) }
    for user in try map.strings("agents") ?? [] {
      guard let number = AuthorizationNames.number(ofUser: user) else {
        throw map.error("agents", "there is no user '\(user)' on this machine")
      }
      configuration.agents.insert(number)
    }
    if let limits = try map.mapping(
      "connections", context: "connections", known: ["total", "perUser"])
    {
      let range = 1...mostConnections
      configuration.connections =
        try limits.integer("total", in: range) ?? configuration.connections
      configuration.connectionsOfUser =
        try limits.integer("perUser", in: range) ?? configuration.connectionsOfUser
    }
    return configuration
  }

  private static func path(
    _ key: String, _ map: YAMLMapping
  ) throws(BoardFileError) -> String? {
    guard let path = try map.string(key) else { return nil }
    guard path.hasPrefix("/"), path.utf8.count <= 100 else {
      throw map.error(key, "'\(key)' is a path from the root, of 100 bytes at most")
    }
    return path
  }

  private static func number(ofGroup name: String) -> UInt32? {
    var (entry, buffer) = (group(), [CChar](repeating: 0, count: 65_536))
    var found: UnsafeMutablePointer<group>?
    var code = getgrnam_r(name, &entry, &buffer, buffer.count, &found)
    if found == nil, let number = UInt32(name) {
      code = getgrgid_r(number, &entry, &buffer, buffer.count, &found)
    }
    return code == 0 && found != nil ? entry.gr_gid : nil
  }
}
