// Who is at the other end of a connection: what the kernel says, and not what the program says.

import FoundationEssentials
import Glibc
package import LinuxIO
package import LocationServices
import Lodestone

/// A program that has connected, as the kernel names it.
package struct ProgramIdentity: Hashable, Sendable {
  /// The executable, user and unit, for rules and decisions.
  package var client: AuthorizationClient
  /// The number of the process.
  package var process: Int32

  /// Whether the executable is known, so that something may be kept for the program.
  package var isVerified: Bool { client.executable.hasPrefix("/") }

  package init(client: AuthorizationClient, process: Int32) {
    (self.client, self.process) = (client, process)
  }

  /// Everybody who arrives over the network. Rules about all programs are about them as well.
  package static let network = ProgramIdentity(
    client: AuthorizationClient(executable: "(network)", user: 65_534, unit: nil), process: 0)

  /// Whether a process runs. One that has ended and that nobody has waited for does not.
  package static func isRunning(_ process: Int32, processes: String = "/proc") -> Bool {
    // The name, which is in brackets, may hold anything.
    guard let text = text("\(processes)/\(process)/stat"), let end = text.lastIndex(of: ")") else {
      return false
    }
    return !["Z", "X"].contains(text[text.index(after: end)...].drop { $0 == " " }.first)
  }

  /// Identifies the program at the other end of a connection.
  ///
  /// - Parameter processes: The folder of the kernel's process files.
  /// - Returns: The identity, or `nil` if the program has ended meanwhile or the kernel does not say who it is.
  package static func of(
    _ connection: LocalConnection, processes: String = "/proc"
  ) -> ProgramIdentity? {
    guard let peer = connection.peer, peer.process > 0, let handle = connection.peerProcess(peer)
    else { return nil }
    let folder = "\(processes)/\(peer.process)"
    // A kernel without control groups has no such file of any process, and then there are no units.
    guard let groups = text("\(folder)/cgroup") ?? (hasGroups(processes) ? nil : "") else {
      return nil
    }
    let client = AuthorizationClient(
      executable: executable(folder), user: peer.user,
      unit: AuthorizationClient.systemUnit(ofControlGroups: groups))
    // What was read is this process's only if its number was not another's by then.
    guard handle.isRunning else { return nil }
    return ProgramIdentity(client: client, process: peer.process)
  }

  /// Whether the kernel says which control groups processes are in.
  private static func hasGroups(_ processes: String) -> Bool {
    text("\(processes)/self/cgroup") != nil
  }

  /// Returns the path of the executable.
  ///
  /// In a mount namespace of its own, a program can give its executable any path. The path therefore counts only if the file at this
  /// path has the device and the number of the running one. Otherwise the result is a text in brackets, which names no file.
  private static func executable(_ folder: String) -> String {
    let link = "\(folder)/exe"
    guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: link) else {
      return "(an executable that this user may not see)"
    }
    var (running, named) = (stat(), stat())
    guard stat(link, &running) == 0, stat(path, &named) == 0, running.st_dev == named.st_dev,
      running.st_ino == named.st_ino
    else { return "(an executable that was \(path))" }
    return path
  }

  /// Reads the beginning of a small file of the kernel.
  private static func text(_ path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
