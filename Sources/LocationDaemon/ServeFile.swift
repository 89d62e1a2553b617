// What the owner of a machine says of the daemon: serve.yaml.

package import BoardFile
import Glibc
import Lodestone

/// The configuration of a daemon.
package struct ServeConfiguration: Hashable, Sendable {
  /// The name or path of the board, or `nil` for the machine's own.
  package var board: String?
  /// The path of the socket at which programs arrive.
  package var socket = DaemonLocator.systemSocket
  /// The number of the group whose users may connect, or `nil` for all users. What a program gets is the authorization file's business.
  package var group: UInt32?
  /// The real-time priority of the threads of the buses, or `nil` for none.
  package var realtime: Int32?
  /// The numbers of the users who may answer prompts for the owner, besides root and the user of the daemon.
  package var agents: Set<UInt32> = []
  /// The number of connections in all, and of one user.
  package var (connections, connectionsOfUser) = (1_024, 256)

  package init() {}
}

/// Reads serve.yaml, `schema: 1`. Every mistake is an error with file and line.
package enum ServeFile {
  /// The path of a machine's own file.
  package static let systemFile = "/etc/lodestone/serve.yaml"
  /// The largest file in bytes.
  package static let limit = 65_536
  private static let schema = 1
  private static let known = [
    "schema", "board", "socket", "group", "realtime", "agents", "connections",
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
    if let socket = try map.string("socket") {
      guard socket.hasPrefix("/"), socket.utf8.count <= 100 else {
        throw map.error("socket", "'socket' is a path from the root, of 100 bytes at most")
      }
      configuration.socket = socket
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
