import Testing

@testable import LogConversion

/// What is said of a log that was read.
struct LogRemarkTests {
  @Test("a log without a position, and one that is damaged, are named")
  func remarks() {
    #expect(LogReader.remark(epochs: 9, places: 3, wrong: 0) == nil)
    #expect(LogReader.remark(epochs: 0, places: 0, wrong: 0) == "no position")
    #expect(LogReader.remark(epochs: 1, places: 0, wrong: 0) == "no position in 1 epoch")
    #expect(
      LogReader.remark(epochs: 0, places: 0, wrong: 7)
        == "no position; 7 sentences or messages have a wrong checksum")
    #expect(
      LogReader.remark(epochs: 9, places: 3, wrong: 1)
        == "1 sentence or message has a wrong checksum, and is left out")
    #expect(
      LogReader.remark(epochs: 9, places: 3, wrong: 12)
        == "12 sentences or messages have a wrong checksum, and are left out")
  }
}
