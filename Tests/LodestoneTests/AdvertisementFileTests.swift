import Foundation
import Lodestone
import Testing

struct AdvertisementFileTests {
  private func problem(_ path: String) -> String? {
    do throws(InvalidAdvertisements) {
      _ = try RecordedAdvertisements(path: path, clocks: .system)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("a recording of advertisements that cannot be read says why, with its path")
  func unreadable() throws {
    #expect(
      problem("/nonexistent") == "/nonexistent: it cannot be read (no such file or directory)")
    #expect(problem("/") == "/: it cannot be read (is a directory)")
    #expect(problem("/dev/null") == "/dev/null: it is empty")
    #expect(problem("/dev/zero") == "/dev/zero: longer than 16 MB")
  }

  @Test("bytes that are no text are a fault of their line")
  func noText() throws {
    let file = FileManager.default.temporaryDirectory.appending(
      path: "lodestone-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data("lodestone advertisements 1\n# caf".utf8 + [0xE9, 0x0A]).write(to: file)
    #expect(problem(file.path) == nil)
  }
}
