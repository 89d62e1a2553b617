// gpsd's client on a stream that a test plays: how much it reads at once.

import SensorTypes
import Testing

@testable import SensorDrivers

/// How much of what waits a look of gpsd's client takes; what it makes of it, `GPSDContract` says.
struct GPSDReceiverTests {
  private let stream = FedStream()
  private let start = Timestamp(nanoseconds: 0)

  /// A report of 1000 bytes, as gpsd's greeting has it.
  private static let greeting: [UInt8] = {
    let head =
      #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14,"#
    let filled = head + "\"remark\":\"" + String(repeating: "x", count: 986 - head.utf8.count)
    return Array((filled + "\"}\r\n").utf8)
  }()

  @Test("what waits is read to its end in one look, and no byte of it waits for the next")
  func whole() throws {
    try #require(Self.greeting.count == 1_000)
    let receiver = GPSDReceiver(stream, at: "localhost")
    for _ in 0..<3 { stream.incoming += Self.greeting }
    #expect(try receiver.poll(now: start) == nil)
    #expect(stream.incoming.isEmpty && stream.reads == 3)
    #expect(receiver.release == "3.22" && receiver.damaged == 0)
    // Greeted three times it asks for the reports once.
    #expect(stream.written.count == 1)
  }

  @Test("a stream that never ends holds nobody: one look is sixteen reads, of a kilobyte each")
  func endless() throws {
    let receiver = GPSDReceiver(stream, at: "localhost")
    for _ in 0..<40 { stream.incoming += Self.greeting }
    #expect(try receiver.poll(now: start) == nil)
    #expect(stream.reads <= 16 && stream.incoming.count >= 40_000 - 16 * 1_024)
    // At the same moment nothing is read twice.
    let reads = stream.reads
    #expect(try receiver.poll(now: start) == nil)
    #expect(stream.reads == reads)
    for second in 1...8 { _ = try receiver.poll(now: start.advanced(bySeconds: Double(second))) }
    #expect(stream.incoming.isEmpty && receiver.damaged == 0)
  }
}
