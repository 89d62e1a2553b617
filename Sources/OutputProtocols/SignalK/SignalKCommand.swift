// What a Signal K client asks of whoever owns its connection.

/// What a board keeps of a server from run to run.
package struct SignalKKeptAccess: Sendable, Hashable {
  /// A UUID of version 4, always the same for this board and server.
  package var clientID: String
  package var token: String?
  /// When the token ends, in seconds since 1970, if the server has said so.
  package var expires: Double?
  /// The path of the access request that a person has yet to answer, if there is one.
  package var pending: String?

  package init(
    clientID: String, token: String? = nil, expires: Double? = nil, pending: String? = nil
  ) {
    (self.clientID, self.token, self.expires, self.pending) = (clientID, token, expires, pending)
  }
}

/// What a Signal K client wants its owner to do.
package enum SignalKCommand: Sendable, Hashable {
  /// Connect, then call `connected`, or `lost` if there is no connection.
  case connect(SignalKServerAddress, needsCredentials: Bool)
  /// Close the connection, if there is one.
  case disconnect
  /// Keep this, where only this user reads it.
  case keep(SignalKKeptAccess)
}
