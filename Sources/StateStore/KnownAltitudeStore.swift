package import FoundationEssentials
import JSONReading
package import SensorTypes

/// Where a machine keeps what it was told of its height: `altitude.json` in the state folder, whole at every moment.
package struct KnownAltitudeStore: Sendable {
  package let file: URL
  private let folder: URL
  private var patience = FolderLock.patience

  init(folder: URL) {
    self.folder = folder
    file = folder.appending(path: "altitude.json")
  }

  /// The same for a hub, which nothing may keep for long.
  package var forHub: KnownAltitudeStore {
    var store = self
    store.patience = FolderLock.hubPatience
    return store
  }

  /// What this machine was told.
  package var current: StoredFinding<KnownAltitude> { Self.finding(StateFile.read(file.path)) }

  /// Keeps an elevation in the place of the one before; a running program takes it within two seconds.
  package func set(_ elevation: KnownAltitude.Elevation) throws {
    try StateFile.makeFolder(folder.path)
    try change { $0.elevation = elevation }
  }

  /// Keeps a QNH in the place of the one before.
  package func set(_ qnh: KnownAltitude.QNH) throws {
    try StateFile.makeFolder(folder.path)
    try change { $0.qnh = qnh }
  }

  package func clear() throws {
    try StateFile.makeFolder(folder.path)
    let lock = try FolderLock(folder, patience: patience)
    defer { withExtendedLifetime(lock) {} }
    StateFile.remove(file)
    if case .missing = StateFile.read(file.path) { return }
    throw FileProblem(file.path, "it cannot be removed")
  }

  /// Keeps what a program has made of a word that is still there.
  ///
  /// That a program could not date it is no news where another one has used or refused it: that one was running when it
  /// was given.
  package func note(_ change: KnownAltitudeUpdate) throws {
    // Where nothing is kept there is no word, and no folder is made.
    if case .none = current { return }
    try self.change { known in
      switch change.word {
      case .elevation:
        guard var elevation = known.elevation, elevation.given == change.given,
          change.verdict.isNews(after: elevation.verdict)
        else { return }
        elevation.verdict = change.verdict
        elevation.pressure = change.pressure ?? elevation.pressure
        elevation.barometer = change.barometer ?? elevation.barometer
        elevation.utc = change.utc ?? elevation.utc
        known.elevation = elevation
      case .qnh:
        guard var qnh = known.qnh, qnh.given == change.given,
          change.verdict.isNews(after: qnh.verdict)
        else { return }
        qnh.verdict = change.verdict
        qnh.utc = change.utc ?? qnh.utc
        known.qnh = qnh
      }
    }
  }

  // Under the folder's lock: of a person's word and a program's verdict on the one before neither is lost.
  private func change(_ body: (inout KnownAltitude) -> Void) throws {
    let lock = try FolderLock(folder, patience: patience)
    defer { withExtendedLifetime(lock) {} }
    var known = KnownAltitude()
    if case .record(let before) = current { known = before }
    let before = known
    body(&known)
    guard known != before else { return }
    StateFolder(folder).close()
    try StateFile.write(try known.encoded(), to: file)
  }

  package static func finding(_ content: StateFileContent) -> StoredFinding<KnownAltitude> {
    switch content {
    case .missing: return .none
    case .unreadable(let why): return .unusable(why)
    case .bytes(let bytes):
      do {
        return .record(try KnownAltitude(bytes))
      } catch let error as KnownAltitudeError {
        return .unusable(error.description)
      } catch {
        return .unusable("it is damaged")
      }
    }
  }
}

extension KnownAltitudeStatus {
  /// Whether it may take the place of what another program has kept.
  fileprivate func isNews(after kept: KnownAltitudeStatus) -> Bool {
    self != .undated || kept == .waiting
  }
}

/// What a running program has made of a word, told from others by when it was given.
package struct KnownAltitudeUpdate: Sendable, Hashable {
  var word: KnownAltitudeItem
  var given: Double
  var verdict: KnownAltitudeStatus
  var pressure: Double?
  var barometer: String?
  var utc: Double?

  package init(
    word: KnownAltitudeItem, given: Double, verdict: KnownAltitudeStatus, pressure: Double? = nil,
    barometer: String? = nil, utc: Double? = nil
  ) {
    self.word = word; self.given = given; self.verdict = verdict; self.pressure = pressure;
    self.barometer = barometer; self.utc = utc
  }
}

package enum KnownAltitudeItem: Sendable, Hashable {
  case elevation
  case qnh
}

extension KnownAltitude {
  private static let schema = 1

  private struct Stored: Codable {
    var schema: Int
    var elevation: Elevation?
    var qnh: QNH?
  }

  fileprivate init(_ json: [UInt8]) throws {
    let stored = try JSONDocument.decode(Stored.self, from: json)
    guard stored.schema == Self.schema else {
      throw KnownAltitudeError(description: "schema \(stored.schema) is another version's")
    }
    if let problem = stored.elevation?.problem ?? stored.qnh?.problem { throw problem }
    self.init(elevation: stored.elevation, qnh: stored.qnh)
  }

  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return Array(
      try encoder.encode(Stored(schema: Self.schema, elevation: elevation, qnh: qnh)))
  }
}
