// The token of a Signal K server, in the state folder of the daemon.

package import FoundationEssentials
import JSONReading
package import OutputProtocols
import StateStore
import TextForms

/// The file in which the daemon keeps who it is to a server, and its token. Only its owner can read it.
package struct SignalKAccessFile: Sendable {
  private struct Stored: Codable {
    var schema: Int
    var clientId: String
    var token: String?
    var expires: Double?
    var pending: String?
  }

  /// The path of the file.
  package let url: URL

  /// Creates a value that names the file of a server in a state folder; nothing is read.
  package init(_ server: SignalKServerAddress, in folder: URL) {
    let host = server.host.utf8.map { byte in
      let isPlain =
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        || byte == 45
      return isPlain || byte == 46 ? Character(Unicode.Scalar(byte)) : "_"
    }
    // Name, port and scheme belong to whom a token is good for.
    let name = "\(server.isEncrypted ? "https" : "http")-\(String(host))-\(server.port).json"
    url = folder.appending(path: "signalk").appending(path: name)
  }

  /// Returns what is kept. If there is nothing, or nothing that can be read, the daemon is somebody new to the server.
  package func read() -> SignalKKeptAccess {
    guard case .bytes(let bytes) = StateFile.read(url.path),
      let stored = try? JSONDocument.decode(Stored.self, from: bytes), stored.schema == 1,
      SignalKAccess.isUUID(stored.clientId)
    else { return SignalKKeptAccess(clientID: UUID().uuidString.lowercased()) }
    return SignalKKeptAccess(
      clientID: stored.clientId, token: stored.token, expires: stored.expires,
      pending: stored.pending)
  }

  /// Replaces what is kept.
  package func write(_ access: SignalKKeptAccess) throws {
    var line = JSONLine()
    line.set("schema", 1)
    line.set("clientId", access.clientID)
    line.set("token", access.token)
    line.set("expires", access.expires, digits: 0)
    line.set("pending", access.pending)
    try StateFile.write(Array((line.line + "\n").utf8), to: url)
  }
}
