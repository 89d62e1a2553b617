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
  /// The page for browsers, or `nil` for none.
  package var web: Web?
  /// The protocols that the daemon speaks, and where.
  package var outputs: [OutputSettings] = []
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

  /// The page for browsers, and lines of JSON over WebSockets, for everybody who has the token.
  package struct Web: Hashable, Sendable {
    /// A numeric address of this machine.
    package var address: String
    package var port: UInt16
    /// How much of the position the page shows.
    package var positions: PositionLimit
    /// The path of the map below the track, if there is one.
    package var tiles: String?
    /// The path of the file of the token, or `nil` for the one in the state directory.
    package var tokenFile: String?

    package init(
      address: String, port: UInt16, positions: PositionLimit = .exact, tiles: String? = nil,
      tokenFile: String? = nil
    ) {
      (self.address, self.port, self.positions) = (address, port, positions)
      (self.tiles, self.tokenFile) = (tiles, tokenFile)
    }
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
    "schema", "board", "socket", "stream", "tcp", "web", "group", "realtime", "agents",
    "connections", "outputs",
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
    configuration.network = try network(map)
    configuration.web = try web(map)
    let stream = configuration.network.flatMap {
      ListenedPort($0.address, $0.port, owner: "'tcp'")
    }
    let page = configuration.web.flatMap { ListenedPort($0.address, $0.port, owner: "'web'") }
    if let stream, let page, stream.excludes(page) {
      throw map.error("web", "'tcp' has this port")
    }
    configuration.outputs = try OutputSettings.parse(
      map, taken: [stream, page].compactMap(\.self))
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

  private static func network(
    _ map: YAMLMapping
  ) throws(BoardFileError) -> ServeConfiguration.Network? {
    let known = ["address", "port", "positions"]
    guard let tcp = try map.mapping("tcp", context: "the stream's port", known: known) else {
      return nil
    }
    guard let port = try tcp.integer("port", in: 1...65_535) else {
      throw map.error("tcp", "'tcp' needs a port")
    }
    return ServeConfiguration.Network(
      address: try numericAddress(tcp) ?? "127.0.0.1", port: UInt16(port),
      positions: try positions(tcp) ?? .none)
  }

  private static func web(_ map: YAMLMapping) throws(BoardFileError) -> ServeConfiguration.Web? {
    let known = ["address", "port", "positions", "tiles", "tokenFile"]
    guard let web = try map.mapping("web", context: "the page for browsers", known: known) else {
      return nil
    }
    return ServeConfiguration.Web(
      address: try web.string("address") ?? "127.0.0.1",
      port: UInt16(try web.integer("port", in: 1...65_535) ?? 8_080),
      // The owner of the machine hands out the token.
      positions: try positions(web) ?? .exact,
      tiles: try path("tiles", web, longest: 4_095),
      tokenFile: try path("tokenFile", web, longest: 4_095))
  }

  static func positions(_ map: YAMLMapping) throws(BoardFileError) -> PositionLimit? {
    guard let word = try map.string("positions") else { return nil }
    guard let positions = PositionLimit(rawValue: word) else {
      throw map.error("positions", "'positions' is exact, reduced or none")
    }
    return positions
  }

  /// Reads `address`, which is numeric: a name would have to be looked up, and may lead elsewhere tomorrow.
  static func numericAddress(_ map: YAMLMapping) throws(BoardFileError) -> String? {
    guard let text = try map.string("address") else { return nil }
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    var found: UnsafeMutablePointer<addrinfo>?
    defer { if let found { freeaddrinfo(found) } }
    guard getaddrinfo(text, nil, &hints, &found) == 0 else {
      throw map.error(
        "address",
        "'address' must be a numeric address such as 127.0.0.1, 0.0.0.0 or 192.168.1.255: the name '\(text)' is not looked up"
      )
    }
    return text
  }

  /// - Parameter longest: The largest length in bytes. The kernel takes no longer path of a socket than the default.
  static func path(
    _ key: String, _ map: YAMLMapping, longest: Int = 100
  ) throws(BoardFileError) -> String? {
    guard let path = try map.string(key) else { return nil }
    guard path.hasPrefix("/"), path.utf8.count <= longest else {
      throw map.error(key, "'\(key)' is a path from the root, of \(longest) bytes at most")
    }
    return path
  }

  static func number(ofGroup name: String) -> UInt32? {
    var (entry, buffer) = (group(), [CChar](repeating: 0, count: 65_536))
    var found: UnsafeMutablePointer<group>?
    var code = getgrnam_r(name, &entry, &buffer, buffer.count, &found)
    if found == nil, let number = UInt32(name) {
      code = getgrgid_r(number, &entry, &buffer, buffer.count, &found)
    }
    return code == 0 && found != nil ? entry.gr_gid : nil
  }
}
