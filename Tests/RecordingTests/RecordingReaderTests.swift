import Recording
import Testing

struct RecordingReaderTests {
  private func read(_ text: String, by size: Int) -> (reader: RecordingReader, kept: String) {
    let bytes = Array(text.utf8)
    var reader = RecordingReader()
    var kept: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      let piece = Array(bytes[start..<min(bytes.count, start + size)])
      kept += piece.prefix(reader.take(piece))
    }
    return (reader, String(decoding: kept, as: UTF8.self))
  }

  @Test(arguments: [1, 2, 7, 1_000])
  func missingSteps(by size: Int) {
    let text = "s 0\nr 1 2 g 5\ng 12\n.\ngg 3\ng 3x\ng\ng 4\n. g 9\ng 7"
    let (reader, kept) = read(text, by: size)
    // The last line is not complete.
    #expect(reader.missingSteps == 16 && reader.end.isEmpty && kept == text)
  }

  @Test(arguments: [1, 3, 1_000])
  func end(by size: Int) {
    let (reader, kept) = read("s 0\nv 1 a {b}\n{\"kind\":\"end\"}\n{more\ng 5\n", by: size)
    #expect(kept == "s 0\nv 1 a {b}\n")
    #expect(String(decoding: reader.end, as: UTF8.self) == "{\"kind\":\"end\"}\n{more\ng 5\n")
    #expect(reader.missingSteps == 0)
  }

  @Test func anEndWithoutAnEndIsNotKept() {
    let (reader, kept) = read("{" + String(repeating: "a", count: 200_000), by: 4_096)
    #expect(kept.isEmpty && reader.end.count == 65_536)
  }
}
