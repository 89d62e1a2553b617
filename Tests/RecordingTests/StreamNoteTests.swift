import SensorBus
import SensorTypes
import Testing

@testable import Recording

/// What is to be said of a stream's source is said in a replay as well.
struct StreamNoteTests {
  /// A stream whose note a test sets.
  private final class NotedStream: ByteStream {
    var note: String?
    var readiness: Readiness { .never }
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int { 0 }
    func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {}
    func setBaudRate(_ rate: Int) throws(BusError) {}
  }

  private final class Board: BusAccess {
    let stream = NotedStream()
    var isWallTimeSet: Bool { true }
    func now() -> Timestamp { Timestamp(nanoseconds: 0) }
    func wallTime() -> Double { 0 }
    func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
      throw BusError(.notFound, bus: bus)
    }
    func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream { stream }
    func connection(to server: ServerAddress) throws(BusError) -> any ByteStream { stream }
    func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
      throw BusError(.notFound, bus: name.chip)
    }
  }

  @Test("a note is written where it changes, and comes back at the same place")
  func notes() throws {
    let place = ServerAddress.udp(address: nil, port: 10_110)
    let (board, notes) = (Board(), [nil, nil, "hears two", "hears two", "hears three", nil])
    let recorder = Recorder(LiveInput(board), worker: 0)
    let recorded = try recorder.connection(to: place)
    for note in notes {
      board.stream.note = note
      _ = recorder.now()
      #expect(recorded.note == note)
    }
    let lines = String(decoding: recorder.trace.bytes, as: UTF8.self)
      .split(separator: "\n").map(String.init)
    #expect(lines.count { $0.hasPrefix("n 0 ") } == 3, "\(lines)")
    let player = Player()
    player.load(try lines.map { try #require(TraceLine($0.utf8)) })
    let played = try player.connection(to: place)
    for note in notes {
      _ = player.now()
      #expect(played.note == note)
    }
    #expect(player.finish() == nil)
  }
}
