// The identity of the running program, by the kernel's files.

import FoundationEssentials
import Glibc
public import LocationServices

extension AuthorizationClient: CustomStringConvertible {
  /// The path of the executable, the name of its user and its unit, as text.
  public var description: String {
    "\(shownPath), as \(Self.name(of: user))" + (unit.map { " in \($0)" } ?? "")
  }

  /// The running program.
  static func current() -> AuthorizationClient {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let groups = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
    return AuthorizationClient(
      executable: path ?? CommandLine.arguments.first ?? "program", user: geteuid(),
      unit: unit(ofControlGroups: groups))
  }

  /// The unit by a process's control groups: the innermost service.
  static func unit(ofControlGroups text: String) -> String? {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, fields[1].isEmpty || fields[1] == "name=systemd" else { continue }
      if let unit = fields[2].split(separator: "/").last(where: { $0.hasSuffix(".service") }),
        // What a user starts by hand hangs below the manager of that user's session.
        !unit.hasPrefix("user@")
      {
        return String(unit)
      }
    }
    return nil
  }

  /// The service of the system's manager that a process belongs to, by its control groups.
  ///
  /// Nobody else can give it its name: a user can call services of a manager of their own, groups inside a service, and services
  /// inside a container as they like.
  package static func systemUnit(ofControlGroups text: String) -> String? {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, fields[1].isEmpty || fields[1] == "name=systemd" else { continue }
      let names = fields[2].split(separator: "/")
      guard let place = names.firstIndex(where: { $0.hasSuffix(".service") }),
        names[..<place].allSatisfy({ $0.hasSuffix(".slice") }), names.first != "machine.slice",
        names.first != "user.slice"
      else { continue }
      return String(names[place])
    }
    return nil
  }

  static func name(of user: UInt32) -> String {
    var (entry, buffer) = (passwd(), [CChar](repeating: 0, count: 16_384))
    var found: UnsafeMutablePointer<passwd>?
    guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil,
      let name = entry.pw_name
    else { return "user \(user)" }
    return String(cString: name)
  }
}
