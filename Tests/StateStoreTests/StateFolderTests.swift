import Foundation
import Glibc
import SensorTypes
import StateStore
import Testing

/// Who may read what a machine keeps.
struct StateFolderTests {
  /// A folder that an earlier version has left: 0755, with files of 0644. Gone with the test.
  private final class Place {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-rights-\(UUID().uuidString)")

    init(_ files: [String] = []) throws {
      try makeFolder("")
      for file in files { try make(file) }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func makeFolder(_ path: String) throws {
      try FileManager.default.createDirectory(
        at: url.appending(path: path), withIntermediateDirectories: true)
      chmod(url.appending(path: path).path, 0o755)
    }

    func make(_ file: String) throws {
      var folder = ""
      for step in file.split(separator: "/").dropLast() {
        folder += (folder.isEmpty ? "" : "/") + step
        try makeFolder(folder)
      }
      let path = url.appending(path: file).path
      try Data("{}".utf8).write(to: URL(filePath: path))
      chmod(path, 0o644)
    }

    /// The permissions of a path in it, as `ls` counts them.
    func mode(_ path: String = "") throws -> Int {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: (path.isEmpty ? url : url.appending(path: path)).path)
      return try #require(attributes[.posixPermissions] as? Int)
    }

    /// Every path in it with its permissions, in octal.
    func modes() throws -> [String: String] {
      let paths = try FileManager.default.subpathsOfDirectory(atPath: url.path) + [""]
      return try Dictionary(
        uniqueKeysWithValues: paths.map { ($0, String(try mode($0), radix: 8)) })
    }
  }

  private let kept = [
    "position.json", "altitude.json", "regions/boat.json", "authorization/boat.json.damaged",
    "simulated/Board/calibrations/history/LIS3MDL@1/000001.json",
    "calibrations/samples/LIS3MDL@1.csv",
  ]

  /// Whether all is 0700 and 0600.
  private func isClosed(_ place: Place) throws -> Bool {
    try place.modes().values.allSatisfy { $0 == "700" || $0 == "600" }
  }

  private var position: LastPosition {
    LastPosition(latitude: 52.5, longitude: 13.4, altitude: 40, utc: 1_795_000_000)
  }

  @Test("what an earlier version has left open is closed, down to the history of one chip")
  func old() throws {
    let place = try Place(kept)
    let before = StateFolder(place.url).inspect()
    #expect(try place.mode() == 0o755 && place.mode("position.json") == 0o644)
    let all = try place.modes().count
    #expect(before.closable == all && before.exposures.isEmpty)
    #expect(StateFolder(place.url).close().isEmpty)
    #expect(try isClosed(place))
    #expect(StateFolder(place.url).inspect().closable == 0)
  }

  @Test("every kind of file is made 0600 in folders of 0700, whatever the umask leaves open")
  func new() throws {
    let place = try Place()
    try FileManager.default.removeItem(at: place.url)
    let old = umask(0)
    defer { umask(old) }
    try StateStore(folder: place.url).save(position)
    try StateStore(folder: place.url).knownAltitude.set(
      .init(34, accuracy: 2, now: ClockReading(seconds: 1_795_000_000, isSet: true)))
    for kind in ["regions", "authorization"] {
      let file = ApplicationFile(kind, of: "boat", in: place.url)
      try file.write(Data("{}".utf8))
      try file.replace(Data("[]".utf8))
    }
    #expect(try place.modes().count == 7)
    #expect(try isClosed(place))
  }

  @Test("a save closes a folder that systemd has made wider, and what lies in it")
  func save() throws {
    for save in [
      { try StateStore(folder: $0).save(position) },
      { try ApplicationFile("regions", of: "kite", in: $0).write(Data("{}".utf8)) },
      {
        try StateStore(folder: $0).knownAltitude.set(
          .init(34, accuracy: 2, now: ClockReading(seconds: 1_795_000_000, isSet: true)))
      },
    ] as [(URL) throws -> Void] {
      let place = try Place(["regions/boat.json", "position.json"])
      try save(place.url)
      #expect(try isClosed(place))
    }
  }

  @Test(
    "no link is followed out of the folder, and a folder that holds other things stays as it is")
  func others() throws {
    let place = try Place(["regions/boat.json"])
    let other = try Place(["position.json", "deep/file"])
    let manager = FileManager.default
    for (name, target) in [("position.json", "position.json"), ("calibrations", "deep")] {
      try manager.createSymbolicLink(
        at: place.url.appending(path: name),
        withDestinationURL: other.url.appending(path: target))
    }
    #expect(StateFolder(place.url).close().isEmpty)
    #expect(try place.mode() == 0o700 && place.mode("regions/boat.json") == 0o600)
    #expect(try other.modes().values.allSatisfy { $0 == "755" || $0 == "644" })

    // As /tmp or /srv would be by a slip in STATE_DIRECTORY.
    let shared = try Place(["regions/boat.json", "diary.txt"])
    let exposures = StateFolder(shared.url).close()
    #expect(exposures.map(\.isShared) == [true] && exposures.map(\.path) == [shared.url.path])
    #expect(exposures.first?.description.contains("diary.txt") == true)
    #expect(try shared.mode() == 0o755 && shared.mode("diary.txt") == 0o644)
    #expect(try shared.mode("regions") == 0o700 && shared.mode("regions/boat.json") == 0o600)
  }

  @Test("the folder may be a link, as it is for a service with DynamicUser=")
  func link() throws {
    let place = try Place(["position.json"])
    let link = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-link-\(UUID().uuidString)")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place.url)
    defer { try? FileManager.default.removeItem(at: link) }
    #expect(StateFolder(link).close().isEmpty)
    #expect(try isClosed(place))
  }

  @Test(
    "what belongs to another user is left alone, and named",
    .enabled(if: geteuid() == 0, "only root can give a file away"))
  func strangers() throws {
    let place = try Place(["regions/boat.json", "position.json"])
    let path = place.url.appending(path: "regions").path
    chown(path, 65_534, 65_534)
    let exposures = StateFolder(place.url).close()
    #expect(exposures.map(\.path) == [path] && exposures.map(\.isShared) == [false])
    #expect("\(exposures)".contains("it belongs to another user"))
    #expect(try place.mode("regions") == 0o755 && place.mode("position.json") == 0o600)
    #expect(StateFolder(place.url).inspect().exposures == exposures)
  }

  @Test("a folder that is not there is not made, and one that is a file is none")
  func nothing() throws {
    let place = try Place(["position.json"])
    let missing = place.url.appending(path: "missing")
    #expect(StateFolder(missing).close().isEmpty)
    #expect(!FileManager.default.fileExists(atPath: missing.path))
    #expect(StateFolder(place.url.appending(path: "position.json")).close().isEmpty)
    #expect(try place.mode("position.json") == 0o644)
  }
}
