import Glibc
package import TerminalUI

extension CommandError {
  /// Why the server of the map cannot listen, and what to do about it.
  package init(_ problem: SystemProblem, listeningAt address: ListenAddress, port: UInt16) {
    switch problem.number {
    case EADDRINUSE:
      self.init("port \(port) is in use: another --port, or 0 for a free one", kind: .io)
    case EADDRNOTAVAIL:
      self.init("\(address.text) is not an address of this machine", kind: .usage)
    case EACCES:
      self.init("port \(port) is not for ordinary users: one from 1024 on is", kind: .permission)
    default:
      self.init(
        "cannot listen at \(address.authority(port: port)): "
          + String(cString: strerror(problem.number)),
        kind: .io)
    }
  }
}
