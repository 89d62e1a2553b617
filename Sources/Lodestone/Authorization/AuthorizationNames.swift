// Whether the users and units that an authorization file names exist.

import Glibc

/// Answers whether a machine has a user or a systemd unit. A rule for one that does not exist binds nobody, which its author
/// does not want: it is an error.
package struct AuthorizationNames: Sendable {
  /// Whether there is a user of this name, or of this number.
  package var hasUser: @Sendable (_ user: String) -> Bool
  /// Whether there is a unit of this name, of the system, or of a user's own manager: the user of the same rule, or the one
  /// of this process.
  package var hasUnit: @Sendable (_ unit: String, _ user: String?) -> Bool

  /// Creates a value from two answers.
  package init(
    hasUser: @escaping @Sendable (_ user: String) -> Bool,
    hasUnit: @escaping @Sendable (_ unit: String, _ user: String?) -> Bool
  ) {
    (self.hasUser, self.hasUnit) = (hasUser, hasUnit)
  }

  /// This machine, by its user database and the folders of systemd's unit files (systemd.unit(5)).
  package static let system = AuthorizationNames(
    hasUser: { account($0) != nil },
    hasUnit: { unit, user in
      hasFile(of: unit, in: systemFolders + userFolders(user ?? String(geteuid())))
    })

  /// Returns the user ID of a user of this machine, given by name or ID, or `nil` if the user does not exist.
  package static func number(ofUser user: String) -> UInt32? { account(user)?.number }

  private static let systemFolders =
    ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"].flatMap {
      ["\($0)/systemd/system", "\($0)/systemd/user"]
    }
    + ["generator.early", "generator", "generator.late", "transient"].map { "/run/systemd/\($0)" }

  /// Whether there is a unit file in one of the folders, an instance's template included. A folder that may not be looked
  /// into may have it.
  static func hasFile(of unit: String, in folders: [String]) -> Bool {
    // What a control group is called, and nothing that leads out of a folder.
    guard unit.hasSuffix(".service"), !unit.contains("/"), !unit.hasPrefix(".") else {
      return false
    }
    var names = [unit]
    if let at = unit.firstIndex(of: "@") { names.append("\(unit[...at]).service") }
    for folder in folders {
      for name in names {
        if access("\(folder)/\(name)", F_OK) == 0 || errno == EACCES { return true }
      }
    }
    return false
  }

  private static func userFolders(_ user: String) -> [String] {
    guard let account = account(user) else { return [] }
    let runtime = "/run/user/\(account.number)/systemd"
    return [
      "\(account.home)/.config/systemd/user", "\(account.home)/.local/share/systemd/user",
      "\(runtime)/user", "\(runtime)/transient", "\(runtime)/generator",
    ]
  }

  /// Returns a user by name or number; `nil` if it does not exist.
  private static func account(_ user: String) -> (number: UInt32, home: String)? {
    var (entry, buffer) = (passwd(), [CChar](repeating: 0, count: 16_384))
    var found: UnsafeMutablePointer<passwd>?
    var code = getpwnam_r(user, &entry, &buffer, buffer.count, &found)
    if found == nil, let number = UInt32(user) {
      code = getpwuid_r(number, &entry, &buffer, buffer.count, &found)
    }
    guard code == 0, found != nil else { return nil }
    return (entry.pw_uid, entry.pw_dir.map { String(cString: $0) } ?? "/")
  }
}
