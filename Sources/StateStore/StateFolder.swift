package import FoundationEssentials
import Glibc

/// The folder of what a machine keeps, and the permissions that keep it from other users: 0700 for folders, 0600 for files.
///
/// Only what belongs to Lodestone and to the user of this process is ever changed: the names below are Lodestone's, a folder
/// that holds other names too is shared and stays as it is, and no symbolic link inside the folder is followed. The folder
/// itself may be a link, as systemd makes one for a service with `DynamicUser=`.
package struct StateFolder: Sendable {
  /// Something that other users may read, and that this process could not close to them.
  package struct Exposure: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    /// Why it stays as it is.
    package let reason: String
    /// Whether it is the state folder itself, which holds other things too; what Lodestone keeps in it is closed.
    package var isShared = false

    /// The message, in one line.
    package var description: String { "\(path) can be read by other users: \(reason)" }
  }

  /// What Lodestone keeps at the top of the folder. What is below these names is all its own.
  private static let names: Set<String> = [
    "altitude.json", "authorization", "calibrations", "position.json", "programs", "regions",
    "signalk", "simulated",
  ]
  /// How deep Lodestone's own folders go: `simulated/BOARD/calibrations/history/CHIP/000001.json`.
  private static let depth = 6
  /// How many files and folders are looked at; a machine with ten boards keeps fewer than a thousand.
  private static let limit = 10_000
  /// The permissions of everybody but the owner.
  private static let others = mode_t(0o077)

  package let url: URL

  /// Creates a value that names a folder; nothing is read.
  package init(_ url: URL) { self.url = url }

  /// Closes the folder and all that Lodestone keeps in it to other users, and returns what stays open to them.
  ///
  /// A folder that does not exist is not created.
  @discardableResult
  package func close() -> [Exposure] {
    var walk = Walk(changes: true)
    walk.visitTop(url.path)
    return walk.exposures
  }

  /// What other users may read now, and what `close` would do about it. Changes nothing.
  ///
  /// - Returns: What `close` could not close, and how many files and folders it would close.
  package func inspect() -> (exposures: [Exposure], closable: Int) {
    var walk = Walk(changes: false)
    walk.visitTop(url.path)
    return (walk.exposures, walk.closable)
  }

  /// One look at a folder and what is in it.
  private struct Walk {
    let changes: Bool
    var exposures: [Exposure] = []
    var closable = 0
    private var left = StateFolder.limit

    init(changes: Bool) { self.changes = changes }

    mutating func visitTop(_ path: String) {
      let top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard top >= 0 else {
        // One that only its owner may read is closed.
        return
      }
      defer { closeDescriptor(top) }
      let names = StateFile.names(in: path)
      let isShared = !names.allSatisfy(StateFolder.isOwn)
      if let mode = Self.mode(top), mode.isOpen {
        if isShared {
          exposures.append(
            Exposure(
              path: path,
              reason: "it also holds what is not Lodestone's "
                + "(\(names.first { !StateFolder.isOwn($0) } ?? "")), so that its permissions are left alone",
              isShared: true))
        } else {
          narrow(top, mode, path)
        }
      }
      for name in names where StateFolder.isOwn(name) {
        visit(name, in: top, path: "\(path)/\(name)", depth: StateFolder.depth)
      }
    }

    private mutating func visit(_ name: String, in folder: Int32, path: String, depth: Int) {
      guard left > 0 else { return }
      left -= 1
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
      let kind = status.st_mode & S_IFMT
      guard kind == S_IFDIR || kind == S_IFREG else { return }
      let isOpen = status.st_mode & StateFolder.others != 0
      guard isOpen || kind == S_IFDIR else { return }
      let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      let file = openat(folder, name, flags)
      guard file >= 0 else {
        if isOpen { exposures.append(Exposure(path: path, reason: StateFile.reason(errno))) }
        return
      }
      defer { closeDescriptor(file) }
      // Looked at once more: the name may stand for something else by now.
      guard let mode = Self.mode(file), mode.isFolder == (kind == S_IFDIR), mode.isKept else {
        return
      }
      if mode.isOpen { narrow(file, mode, path) }
      guard mode.isFolder, depth > 1 else { return }
      for name in StateFile.names(in: path) {
        visit(name, in: file, path: "\(path)/\(name)", depth: depth - 1)
      }
    }

    private mutating func narrow(_ file: Int32, _ mode: Mode, _ path: String) {
      guard mode.isMine else {
        exposures.append(Exposure(path: path, reason: "it belongs to another user"))
        return
      }
      guard changes else {
        closable += 1
        return
      }
      guard fchmod(file, mode.bits & ~StateFolder.others) == 0 else {
        exposures.append(Exposure(path: path, reason: StateFile.reason(errno)))
        return
      }
      // FAT takes the call and changes nothing.
      if Self.mode(file)?.isOpen == true {
        exposures.append(Exposure(path: path, reason: "this file system keeps no permissions"))
      }
    }

    private struct Mode {
      var bits: mode_t
      var isMine: Bool
      var isFolder: Bool
      var isKept: Bool
      var isOpen: Bool { bits & StateFolder.others != 0 }
    }

    private static func mode(_ file: Int32) -> Mode? {
      var status = stat()
      guard fstat(file, &status) == 0 else { return nil }
      let kind = status.st_mode & S_IFMT
      return Mode(
        bits: status.st_mode & 0o7777, isMine: status.st_uid == geteuid(),
        isFolder: kind == S_IFDIR, isKept: kind == S_IFREG || kind == S_IFDIR)
    }
  }

  /// Whether a name at the top of the folder is one of Lodestone's: kept, put aside, or about to be put in place.
  private static func isOwn(_ name: String) -> Bool {
    names.contains(name) || names.contains { name.hasPrefix($0 + ".") } || name.hasPrefix("map")
      || name.hasPrefix(".lodestone-") || name == "lost+found"
  }
}

// `close` by itself is the method of the same name above.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
