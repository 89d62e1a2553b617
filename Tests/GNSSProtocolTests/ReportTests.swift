import Foundation
import GNSSProtocol
import SensorTypes
import Testing

/// `nextReport` leaves out the packets that say nothing by themselves, and nothing else.
@Suite("Reports without the messages between them")
struct ReportTests {
  @Test("Logs have the same reports either way")
  func sameReports() throws {
    for log in Stream.logs {
      let bytes = try [UInt8](Data(contentsOf: log))
      let all = events(bytes) { $0.next() }
      let reports = events(bytes) { $0.nextReport() }
      #expect(reports == all.filter { $0 != .message }, "\(log.lastPathComponent)")
    }
  }

  @Test("A sentence that says nothing by itself is a message, and no report")
  func aloneMessage() {
    let bytes = Array("$GPGLL,,,,,,V*06\r\n$GPXYZ,1*51\r\n".utf8)
    #expect(events(bytes) { $0.next() }.contains(.message))
    #expect(!events(bytes) { $0.nextReport() }.contains(.message))
  }

  private func events(
    _ bytes: [UInt8], _ next: (inout GNSSDecoder) -> GNSSEvent?
  ) -> [GNSSEvent] {
    var decoder = GNSSDecoder(endsByRule: false)
    var heard: [GNSSEvent] = []
    for begin in stride(from: 0, to: bytes.count, by: 1_000) {
      bytes[begin..<min(begin + 1_000, bytes.count)].withUnsafeBytes {
        decoder.append($0, at: Timestamp(nanoseconds: 0))
      }
      while let event = next(&decoder) { heard.append(event) }
    }
    decoder.finish()
    while let event = next(&decoder) { heard.append(event) }
    return heard
  }
}
