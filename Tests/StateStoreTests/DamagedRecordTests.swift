import CalibrationCore
import Foundation
import Testing

@testable import StateStore

/// Records that this version cannot use, and files that other processes have left.
struct DamagedRecordTests {
  private let key = CalibrationKey.bench

  @Test("a damaged record is put aside under another name, and the one before is offered")
  func damaged() throws {
    let place = StorePlace()
    let store = place.store
    for index in 1...2 { try store.save(.bench(index)) }
    try Data("{\"schema\":1,\"chip".utf8).write(to: store.file(key))
    #expect(store.current(key).number == nil)
    #expect(store.former(key)?.number == 1)
    let aside = try #require(try store.setAside(key))
    #expect(aside.file.lastPathComponent.hasPrefix("LIS3MDL@_dev_i2c-1_0x1c.json.corrupt-2"))
    #expect(store.current(key) == .none && store.setAsideFiles == [aside.file])
    #expect(try store.setAside(key) == nil)
    #expect(store.keys == [key])
    #expect(try store.rollback(key).number == 1)
    // Twice in a second: two names.
    for _ in 0..<2 {
      try Data(repeating: 0, count: 70_000).write(to: store.file(key))
      #expect(try store.setAside(key) != nil)
    }
    #expect(store.setAsideFiles.count == 3)
    // One that is damaged when the next is saved is put aside as well.
    try Data("x".utf8).write(to: store.file(key))
    try store.save(.bench(3))
    #expect(store.setAsideFiles.count == 4 && store.current(key).number == 3)
    #expect(store.former(key)?.number == 1)
  }

  @Test("a newer version's record, another chip's, and a locked folder's are not put aside")
  func notDamaged() throws {
    let place = StorePlace()
    let store = place.store
    try store.save(.bench(1))
    let text = String(decoding: try StoredRecord.bench(1).encoded(), as: UTF8.self)
    for (old, new) in [
      ("\"schema\" : 1", "\"schema\" : 7"), ("\"magnetometer\"", "\"barometer\""),
      ("LIS3MDL", "LSM303DLHC-M"),
    ] {
      try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: store.file(key))
      #expect(store.current(key).number == nil)
      #expect(try store.setAside(key) == nil)
    }
    #expect(place.names().filter { $0.hasSuffix(".json") }.count == 1)
  }

  @Test(
    "what cannot be used but is not damaged is kept, byte by byte, when a record takes its place",
    arguments: [false, true])
  func strangers(isRollback: Bool) throws {
    let text = String(decoding: try StoredRecord.bench(1).encoded(), as: UTF8.self)
    for (old, new) in [
      ("\"schema\" : 1", "\"schema\" : 7"), ("\"magnetometer\"", "\"barometer\""),
      ("LIS3MDL", "LSM303DLHC-M"),
    ] {
      let place = StorePlace()
      let store = place.store
      for index in 2...3 { try store.save(.bench(index)) }
      func present() throws -> [Data] {
        try place.names().filter { $0.contains(".json") }.map {
          try Data(contentsOf: store.folder.appending(path: $0))
        }
      }
      func replace(overridingLock: Bool) throws {
        if isRollback {
          try store.rollback(key, overridingLock: overridingLock)
        } else {
          try store.save(.bench(4), overridingLock: overridingLock)
        }
      }
      let stranger = text.replacingOccurrences(of: old, with: new)
      let locked = Data(
        stranger.replacingOccurrences(of: "\"matrix\"", with: "\"locked\" : true, \"matrix\"").utf8)
      try locked.write(to: store.file(key))
      #expect(throws: CalibrationStore.Locked.self) { try replace(overridingLock: false) }
      #expect(try present() == [locked])
      try replace(overridingLock: true)
      #expect(store.current(key).number == (isRollback ? 2 : 4))
      #expect(try present().contains(locked))
      let open = Data(stranger.utf8)
      try open.write(to: store.file(key))
      try store.save(.bench(5))
      #expect(store.current(key).number == 5)
      let all = try present()
      #expect(all.count == 3 && all.contains(locked) && all.contains(open))
    }
  }

  @Test("what a cut save has kept of a newer version's record is not kept twice")
  func strangerOnce() throws {
    let place = StorePlace()
    let store = place.store
    try store.save(.bench(1))
    let text = String(decoding: try StoredRecord.bench(1).encoded(), as: UTF8.self)
    let stranger = Data(
      text.replacingOccurrences(of: "\"schema\" : 1", with: "\"schema\" : 7").utf8)
    try stranger.write(to: store.file(key))
    // Cut between the copy and the record: both are there.
    try store.clearTheWay(key, overridingLock: false)
    #expect(try Data(contentsOf: store.file(key)) == stranger)
    try store.save(.bench(2))
    #expect(store.current(key).number == 2)
    #expect(try store.setAsideFiles.map { try Data(contentsOf: $0) } == [stranger])
  }

  @Test("a lock is seen on a record that this version cannot read, too")
  func strangersLock() throws {
    let place = StorePlace()
    let store = place.store
    #expect(store.lock(of: key) == nil)
    try store.save(.bench(1))
    #expect(store.lock(of: key) == nil)
    try store.setLock(true, key)
    #expect(store.lock(of: key)?.isStranger == false)
    let text = String(decoding: try Data(contentsOf: store.file(key)), as: UTF8.self)
    let newer = text.replacingOccurrences(of: "\"schema\" : 1", with: "\"schema\" : 7")
    try Data(newer.utf8).write(to: store.file(key))
    #expect(store.current(key).number == nil && store.lock(of: key)?.isStranger == true)
    let open = newer.replacingOccurrences(of: "\"locked\" : true", with: "\"locked\" : false")
    #expect(open != newer)
    try Data(open.utf8).write(to: store.file(key))
    #expect(store.lock(of: key) == nil)
    try Data("{\"locked\": true".utf8).write(to: store.file(key))
    #expect(store.lock(of: key) == nil)
  }

  @Test("what cannot be read at all is put out of the way as well")
  func unreadable() throws {
    let place = StorePlace()
    let store = place.store
    try store.save(.bench(1))
    try FileManager.default.removeItem(at: store.file(key))
    // A folder: it can be read by nobody, not even by root.
    try FileManager.default.createDirectory(
      at: store.file(key).appending(path: "inside"), withIntermediateDirectories: true)
    try store.save(.bench(2))
    #expect(store.current(key).number == 2)
    let moved = try #require(place.names().first { $0.contains(".json.replaced-2") })
    #expect(place.names(moved) == ["inside"])
  }

  @Test("what a process that is gone has left half written is removed, what another writes is not")
  func leftovers() throws {
    let place = StorePlace()
    try place.store.save(.bench(1))
    let file = place.store.file(key).path
    for owner in ["4194399-3", "1-1", "x"] {
      try Data("{".utf8).write(to: URL(filePath: "\(file).new-\(owner)"))
    }
    try place.store.save(.bench(2))
    let names = place.names()
    #expect(!names.contains { $0.contains("4194399") })
    #expect(
      names.contains { $0.hasSuffix(".new-1-1") } && names.contains { $0.hasSuffix(".new-x") })
  }
}
