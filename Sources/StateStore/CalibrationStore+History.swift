package import CalibrationCore
package import FoundationEssentials
import JSONReading

// History: `history/NAME/000012.json` beside the records, numbered as they were superseded. One that a
// person has gone back from is `000012.undone.json`: it is kept, and not gone back to again.
extension CalibrationStore {
  /// How many former records a chip keeps.
  package static let historyLimit = 20
  private static let undone = ".undone"

  /// There is nothing to go back to.
  package struct NoFormer: Error, Sendable, Hashable, CustomStringConvertible {
    package let key: CalibrationKey
    /// Whether the way forward was wanted.
    package var isForward = false
    /// The message, in one line.
    package var description: String {
      isForward
        ? "nothing was gone back from: the record of \(key) is the newest"
        : "there is no earlier record of \(key)"
    }
  }

  /// The former records of a chip, newest first.
  package func history(_ key: CalibrationKey) -> [FormerRecord] {
    numbered(key).map { former($0, key) }
  }

  /// What `rollback` would bring back; `nil` where there is nothing.
  package func former(_ key: CalibrationKey) -> StoredRecord? {
    let record: StoredRecord? =
      if case .record(let record) = current(key) { record } else { nil }
    return target(key, besides: record)?.record
  }

  /// Puts the record before the one in use in its place, and keeps that in the history; done again it goes
  /// further back. A file that cannot be used is put out of the way, whatever is in it. Returns what is in use
  /// now. The samples of the one that was gone back from stay: they name it, so that only the way forward uses them.
  ///
  /// Throws `NoFormer` where there is nothing to go back to, and `Locked` where the one in use is locked and
  /// `overridingLock` is false.
  @discardableResult
  package func rollback(_ key: CalibrationKey, overridingLock: Bool = false) throws -> StoredRecord
  {
    let lock = try FolderLock(folder, patience: patience)
    defer { withExtendedLifetime(lock) {} }
    var present: StoredRecord?
    switch current(key) {
    case .none: break
    case .unusable:
      guard overridingLock || !isStrangerLocked(key) else {
        throw Locked(key: key, isStranger: true)
      }
    case .record(let record):
      guard overridingLock || !record.isLocked else { throw Locked(key: key) }
      present = record
    }
    guard let target = target(key, besides: present), let record = target.record else {
      throw NoFormer(key: key)
    }
    // Before the file changes: a cut in between leaves the same way back. One that is there already becomes one
    // that was gone back from below.
    if let present,
      !history(key).contains(where: {
        ($0.isUndone || $0.number > target.number) && $0.says(present)
      })
    {
      try keep(present, isUndone: true)
    }
    for later in numbered(key) where later.number > target.number && !later.isUndone {
      try StateFile.rename(
        file(later, key), to: file((later.number, true), key))
    }
    if present == nil { try clearTheWay(key, overridingLock: overridingLock) }
    try StateFile.write(try record.encoded(), to: file(key))
    return record
  }

  /// Puts back the record that the last `rollback` went back from; done again it goes on to the newest. Returns
  /// what is in use now.
  ///
  /// Throws `NoFormer` where nothing was gone back from, or another record was saved since, and `Locked` where the
  /// one in use is locked and `overridingLock` is false.
  @discardableResult
  package func rollForward(_ key: CalibrationKey, overridingLock: Bool = false) throws
    -> StoredRecord
  {
    let lock = try FolderLock(folder, patience: patience)
    defer { withExtendedLifetime(lock) {} }
    guard case .record(let present) = current(key) else {
      throw NoFormer(key: key, isForward: true)
    }
    guard overridingLock || !present.isLocked else { throw Locked(key: key) }
    // The one in use is in the history since it was gone back to; what was gone back from has higher numbers.
    let history = history(key)
    guard let place = history.first(where: { $0.says(present) }),
      let next = history.last(where: {
        $0.isUndone && $0.number > place.number && $0.record != nil
      }), let record = next.record
    else { throw NoFormer(key: key, isForward: true) }
    try StateFile.write(try record.encoded(), to: file(key))
    // Part of the way back again: the one in use too, where a cut has left it out.
    for passed in [place, next] where passed.isUndone {
      try StateFile.rename(passed.file, to: file((passed.number, false), key))
    }
    return record
  }

  /// The newest that was not gone back from, and that is not the one in use.
  private func target(_ key: CalibrationKey, besides present: StoredRecord?) -> FormerRecord? {
    for number in numbered(key) where !number.isUndone {
      let former = former(number, key)
      guard former.record != nil, present.map({ !former.says($0) }) ?? true else { continue }
      return former
    }
    return nil
  }

  /// Keeps a record that something is about to take the place of, and lets the oldest go.
  func keep(_ record: StoredRecord, isUndone: Bool = false) throws {
    let key = CalibrationKey(record)
    let folder = historyFolder(key)
    try StateFile.makeFolder(folder.path)
    let present = numbered(key)
    // What an earlier save has kept before it was cut is not kept twice. Behind what was gone back from it is: that
    // is another branch from here on, which nothing goes forward to.
    let isKept = present.first.map { !$0.isUndone && former($0, key).says(record) } ?? false
    if isUndone || !isKept {
      var record = record
      record.isLocked = false
      let number = (present.first?.number ?? 0) + 1
      try StateFile.write(try record.encoded(), to: file((number, isUndone), key))
    }
    for old in numbered(key).dropFirst(Self.historyLimit) { StateFile.remove(file(old, key)) }
  }

  private func historyFolder(_ key: CalibrationKey) -> URL {
    folder.appending(path: "history").appending(path: key.stem)
  }

  private func file(_ entry: (number: Int, isUndone: Bool), _ key: CalibrationKey) -> URL {
    let digits = String(entry.number)
    let padded = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    return historyFolder(key).appending(
      path: padded + (entry.isUndone ? Self.undone : "") + ".json")
  }

  private func numbered(_ key: CalibrationKey) -> [(number: Int, isUndone: Bool)] {
    StateFile.names(in: historyFolder(key).path).compactMap { name in
      guard name.hasSuffix(".json") else { return nil }
      var stem = name.dropLast(5)
      let isUndone = stem.hasSuffix(Self.undone)
      if isUndone { stem = stem.dropLast(Self.undone.count) }
      guard let number = Int(stem), number > 0, number < 1_000_000_000 else { return nil }
      return (number, isUndone)
    }
    .sorted { $0.number > $1.number }
  }

  private func former(_ entry: (number: Int, isUndone: Bool), _ key: CalibrationKey) -> FormerRecord
  {
    let file = file(entry, key)
    var record: StoredRecord?
    if case .bytes(let bytes) = StateFile.read(file.path),
      let read = try? StoredRecord(json: bytes), CalibrationKey(read) == key
    {
      record = read
    }
    return FormerRecord(number: entry.number, isUndone: entry.isUndone, file: file, record: record)
  }
}

package struct FormerRecord: Sendable, Equatable {
  /// Its number; the newest has the highest.
  package let number: Int
  /// Whether a person has gone back from it.
  package let isUndone: Bool
  package let file: URL
  /// The record; `nil` for a file that cannot be read as one.
  package let record: StoredRecord?
}

extension FormerRecord {
  fileprivate func says(_ other: StoredRecord) -> Bool {
    record.map { $0.saysTheSame(as: other) } ?? false
  }
}

// What cannot be read.
extension CalibrationStore {
  /// A damaged record that was put out of the way.
  package struct SetAside: Sendable, Equatable {
    /// Where it is now.
    package let file: URL
    /// What is wrong with it.
    package let reason: String
  }

  /// Puts a damaged record out of the way, under `NAME.json.corrupt-DATE`, so that nobody reads it again;
  /// `nil` where the record is good, or not there, or a newer version's, or of another chip.
  ///
  /// The record before it is offered by `former`, never used by itself.
  @discardableResult
  package func setAside(_ key: CalibrationKey) throws -> SetAside? {
    let lock = try FolderLock(folder, patience: patience)
    defer { withExtendedLifetime(lock) {} }
    return try setAsideInLock(key)
  }

  func setAsideInLock(_ key: CalibrationKey) throws -> SetAside? { try setAside(file(key)) }

  /// Keeps a file that cannot be used before a record takes its place. A damaged one is set aside; of one that is not
  /// damaged (a newer version's, another chip's) there is a copy then, `NAME.json.replaced-DATE`, so that whoever can use
  /// it finds it, and it stays where it is: the record that follows replaces it at one stroke. Only what cannot be read
  /// is renamed to that. Throws `Locked` where it says that it is.
  func clearTheWay(_ key: CalibrationKey, overridingLock: Bool) throws {
    let file = file(key)
    guard try setAsideInLock(key) == nil else { return }
    let content = StateFile.read(file.path)
    guard content != .missing else { return }
    guard overridingLock || !isStrangerLocked(key) else {
      throw Locked(key: key, isStranger: true)
    }
    let name = file.lastPathComponent + ".replaced-"
    switch content {
    case .missing: return
    case .unreadable: try StateFile.rename(file, to: unusedName(file, "replaced"))
    case .bytes(let bytes):
      // A save that was cut after this has left one already.
      let isKept = setAsideFiles.contains {
        $0.lastPathComponent.hasPrefix(name) && StateFile.read($0.path) == content
      }
      if !isKept { try StateFile.write(bytes, to: unusedName(file, "replaced")) }
    }
  }

  /// Whether a file that cannot be used here, but is not damaged, says that it is locked.
  func isStrangerLocked(_ key: CalibrationKey) -> Bool {
    struct Mark: Decodable { var locked: Bool? }
    guard case .bytes(let bytes) = StateFile.read(file(key).path), damage(.bytes(bytes)) == nil
    else { return false }
    return (try? JSONDocument.decode(Mark.self, from: bytes))?.locked ?? false
  }

  private func setAside(_ file: URL) throws -> SetAside? {
    guard let reason = damage(StateFile.read(file.path)) else { return nil }
    let aside = unusedName(file, "corrupt")
    try StateFile.rename(file, to: aside)
    return SetAside(file: aside, reason: reason)
  }

  /// What is wrong with a file; `nil` for one that is good, or not there, or may be good for another version.
  private func damage(_ content: StateFileContent) -> String? {
    switch content {
    case .missing: return nil
    // Too long is damage; what the system does not let us read may be good.
    case .unreadable(let why): return why.hasPrefix("longer than") ? why : nil
    case .bytes(let bytes):
      do {
        _ = try StoredRecord(json: bytes)
        return nil
      } catch {
        return error.isFromNewerVersion ? nil : error.description
      }
    }
  }

  /// A name that no file has yet: `NAME.json.WORD-DATE`.
  private func unusedName(_ file: URL, _ word: String) -> URL {
    let date = Date.now.formatted(
      .iso8601.year().month().day().dateSeparator(.omitted).time(includingFractionalSeconds: false)
        .timeSeparator(.omitted))
    var aside = file.appendingPathExtension("\(word)-\(date)")
    var count = 1
    while FileManager.default.fileExists(atPath: aside.path) {
      count += 1
      aside = file.appendingPathExtension("\(word)-\(date)-\(count)")
    }
    return aside
  }

  /// The files of records, sorted by name.
  var files: [URL] {
    StateFile.names(in: folder.path).filter { $0.hasSuffix(".json") }
      .map { folder.appending(path: $0) }
  }

  /// Files that were put out of the way, sorted by name: damaged records, and those that could not be used here
  /// and were replaced (`isDamaged` tells them apart).
  package var setAsideFiles: [URL] {
    StateFile.names(in: folder.path)
      .filter { $0.contains(".json.corrupt-") || $0.contains(".json.replaced-") }
      .map { folder.appending(path: $0) }
  }

  /// Whether one of `setAsideFiles` was put away because it is damaged; one that was not may be good for
  /// another version, another chip or another user.
  package static func isDamaged(_ setAside: URL) -> Bool {
    setAside.lastPathComponent.contains(".json.corrupt-")
  }

  /// Why a file holds no record that could be used.
  package struct NotARecord: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message, in one line.
    package let description: String
  }

  /// All records of this machine, by the names of their files.
  package var entries: [CalibrationFile] {
    files.map { file in
      switch StateFile.read(file.path) {
      case .missing:
        CalibrationFile(file: file, record: .failure(NotARecord(description: "it is gone")))
      case .unreadable(let why):
        CalibrationFile(file: file, record: .failure(NotARecord(description: why)))
      case .bytes(let bytes): CalibrationFile(file: file, record: record(bytes, in: file))
      }
    }
  }

  private func record(_ bytes: [UInt8], in file: URL) -> Result<StoredRecord, NotARecord> {
    do {
      let record = try StoredRecord(json: bytes)
      guard self.file(CalibrationKey(record)).lastPathComponent == file.lastPathComponent else {
        return .failure(
          NotARecord(
            description: "its name is not that of \(record.chip) at \(record.busPosition)"))
      }
      return .success(record)
    } catch {
      return .failure(NotARecord(description: error.description))
    }
  }
}

/// One file of the folder and what it holds.
package struct CalibrationFile: Sendable, Equatable {
  package let file: URL
  /// The record, or why there is none.
  package let record: Result<StoredRecord, CalibrationStore.NotARecord>
}

extension CalibrationStore {
  /// Whose records this machine keeps, in use or former, in the order of the files' names.
  package var keys: [CalibrationKey] {
    var keys: [CalibrationKey] = entries.compactMap { entry in
      if case .success(let record) = entry.record { CalibrationKey(record) } else { nil }
    }
    let history = folder.appending(path: "history")
    for name in StateFile.names(in: history.path) {
      let files = StateFile.names(in: history.appending(path: name).path)
      for file in files.reversed() where file.hasSuffix(".json") {
        guard
          case .bytes(let bytes) = StateFile.read(
            history.appending(path: name).appending(path: file).path),
          let record = try? StoredRecord(json: bytes), CalibrationKey(record).stem == name
        else { continue }
        if !keys.contains(CalibrationKey(record)) { keys.append(CalibrationKey(record)) }
        break
      }
    }
    return keys
  }
}
