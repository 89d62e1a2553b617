// Files: what is read, and what is refused with which words.

import Foundation
import FusionBenchmark
import LinearAlgebra
import Testing

struct RecordingTests {
  @Test("every column is where the description says, little end first")
  func columns() throws {
    // 1.0 is 00 00 80 3f.
    let rows = bytes([[1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 0, 0, 0, 14]])
    #expect(Array(rows.prefix(4)) == [0, 0, 0x80, 0x3F])
    let record = try #require(Recording.records(rows)?.first)
    #expect(record.rate == Vector3(1, 2, 3))
    #expect(record.force == Vector3(4, 5, 6))
    #expect(record.field == Vector3(7, 8, 9))
    #expect(record.truth == .identity)
    #expect(!record.isMoving, "flag 14 is not 1")
    #expect(Recording.records(bytes([still()]))?.first?.isMoving == true)
  }

  @Test("NaN truth is no truth, and NaN samples stay")
  func notANumber() throws {
    var row = still()
    row[0] = .nan
    row[10] = .nan
    let record = try #require(Recording.records(bytes([row]))?.first)
    #expect(record.truth == nil)
    #expect(record.rate.x.isNaN)
    var zero = still()
    zero[9] = 0
    #expect(Recording.records(bytes([zero]))?.first?.truth == nil, "no direction, no truth")
  }

  @Test("a file that is no table is refused with its name", arguments: [0, 1, 55, 57, 111])
  func broken(size: Int) throws {
    let folder = try Folder()
    let file = try folder.add("a.f32", Data(bytes([still(), still(), still()]).prefix(size)))
    #expect {
      try Recording(contentsOf: file)
    } throws: {
      let words = "\($0)"
      return words.hasPrefix(file.path) && words.contains("no whole number of rows of 56")
    }
  }

  @Test(
    "an oversized file, a folder in a file's place and a file without a counting row are refused")
  func refused() throws {
    let folder = try Folder()
    let three = try folder.add("a.f32", bytes([still(), still(), still()]))
    #expect(try Recording(contentsOf: three, largest: 168).records.count == 3)
    #expect {
      try Recording(contentsOf: three, largest: 167)
    } throws: {
      "\($0)".contains("168 bytes, more than the 167")
    }
    #expect(throws: RecordingError.self) { try Recording(contentsOf: folder.url) }
    let idle = try folder.add("b.f32", bytes([still(0)]))
    #expect {
      try Recording(contentsOf: idle)
    } throws: {
      "\($0)".contains("no row with movement flag 1")
    }
  }

  @Test("a folder's recordings come by name; a missing or empty one is refused")
  func folders() throws {
    let folder = try Folder()
    #expect(throws: RecordingError("\(folder.url.path): no .f32 file in it")) {
      try Recording.files(in: folder.url)
    }
    for name in ["b.f32", "a.f32", "c.txt"] { try folder.add(name, bytes([still()])) }
    #expect(try Recording.files(in: folder.url).map(\.lastPathComponent) == ["a.f32", "b.f32"])
    let missing = folder.url.appendingPathComponent("none")
    #expect(throws: RecordingError("\(missing.path): no such folder")) {
      try Recording.files(in: missing)
    }
    #expect {
      try Recording.files(in: folder.url.appendingPathComponent("c.txt"))
    } throws: {
      "\($0)".contains("neither a folder nor a .f32 file")
    }
  }
}
