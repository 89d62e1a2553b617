// A receiver on a stream that a test plays, with a codec of one letter a message.

import SensorBus
import SensorTypes
import Testing

@testable import SensorDrivers

/// A stream that gives what the test put in and keeps what was written.
final class FedStream: ByteStream {
  var incoming: [UInt8] = []
  var written: [[UInt8]] = []
  var baudRates: [Int] = []
  var failure: BusError?
  var reads = 0

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    reads += 1
    if let failure { throw failure }
    let count = min(buffer.count, incoming.count)
    buffer.copyBytes(from: incoming[..<count])
    incoming.removeFirst(count)
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    if let failure { throw failure }
    written.append(Array(bytes))
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    if let failure { throw failure }
    baudRates.append(rate)
  }

  var readiness: Readiness { .never }
}

/// One letter a message: P is a NAV-PVT, N an NMEA epoch, m another message, + and - are answers, U and M are the names of
/// a u-blox and a MediaTek receiver. What is sent is the item's number, the dialect, the port and the rate; 0 asks for
/// the name.
private struct LetterCodec: ReceiverCodec {
  var letters: [(UInt8, Timestamp)] = []

  let capacity = 3_000

  var room: Int { capacity - letters.count }

  mutating func setBoardTime(_ seconds: Double) {}

  mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Timestamp) {
    #expect(bytes.count <= room)
    letters += bytes.map { ($0, time) }
  }

  mutating func next(at now: Timestamp) -> ReceiverEvent? {
    while !letters.isEmpty {
      let (letter, time) = letters.removeFirst()
      switch letter {
      case UInt8(ascii: "P"):
        return .epoch(GNSSFix(received: time, mode: .threeDimensional), isPVT: true)
      case UInt8(ascii: "N"):
        return .epoch(GNSSFix(received: time, mode: .twoDimensional), isPVT: false)
      case UInt8(ascii: "m"): return .message
      case UInt8(ascii: "+"): return .answer(to: 7, isAccepted: true)
      case UInt8(ascii: "-"): return .answer(to: 7, isAccepted: false)
      case UInt8(ascii: "U"):
        return .identity(SensorIdentity(name: "u-blox X", firmware: "1"), .keys)
      case UInt8(ascii: "M"): return .identity(SensorIdentity(name: "M", firmware: nil), .pmtk)
      default: continue
      }
    }
    return nil
  }

  func questions(ofAll: Bool) -> [[UInt8]] { ofAll ? [[0], [0]] : [[0]] }

  func requests(
    setting item: ReceiverSetting, in dialect: ReceiverSetup.Dialect, port: ReceiverPort,
    settings: ReceiverSettings
  ) -> [ReceiverRequest] {
    let number: UInt8 =
      switch item {
      case .enablePVT: 1
      case .disableNMEA: 2
      case .rate: 3
      case .satellites: 4
      case .model: 5
      case .sentences: 6
      case .speed: 7
      case .sleep: 8
      case .heading: 9
      case .channels: 10
      case .condition: 11
      case .leapSecond: 12
      case .corrections: 13
      case .base: 14
      case .survey: 15
      case .basicSentences: 16
      case .accuracies: 17
      }
    let dialectNumber: UInt8 =
      switch dialect {
      case .keys: 1
      case .messages: 0
      default: 2
      }
    let message = ReceiverRequest(
      bytes: [
        number, dialectNumber, port == .ddc ? 1 : 0, UInt8((1 / settings.interval).rounded()),
      ], answer: item == .sleep ? nil : 7)
    // The older dialect switches sentences off one by one.
    return item == .disableNMEA && dialect == .messages ? [message, message] : [message]
  }
}

@Suite struct GNSSReceiverTests {
  func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }

  private func receiver(
    _ stream: FedStream, _ access: ReceiverSetup.Access = .configuresUBlox,
    baudRate: Int? = 38400, searches: Bool = false, rate: Double = 5
  ) -> GNSSReceiver {
    GNSSReceiver(
      stream, codec: LetterCodec(), port: baudRate == nil ? .ddc : .uart, outputRate: rate,
      setup: ReceiverSetup(access: access, baudRate: baudRate, searchesBaudRate: searches))
  }

  /// Lets `letters` arrive and polls until there is nothing more.
  private func epochs(
    _ receiver: GNSSReceiver, _ stream: FedStream, _ letters: String, at time: Timestamp
  ) throws -> [FixMode] {
    stream.incoming += Array(letters.utf8)
    var modes: [FixMode] = []
    while let fix = try receiver.poll(now: time) {
      #expect(fix.received == time)
      modes.append(fix.mode)
    }
    return modes
  }

  @Test("from NMEA to NAV-PVT: every message goes out once, in order, and epochs never stop")
  func configured() throws {
    let stream = FedStream()
    let receiver = receiver(stream)
    #expect(try epochs(receiver, stream, "", at: at(0)) == [])
    #expect(try epochs(receiver, stream, "N", at: at(1)) == [.twoDimensional])
    #expect(stream.written == [[0]])
    #expect(try epochs(receiver, stream, "U", at: at(1.05)) == [])
    #expect(receiver.identity?.description == "u-blox X, firmware 1")
    #expect(stream.written.last == [1, 1, 0, 5])
    #expect(try epochs(receiver, stream, "+", at: at(1.1)) == [])
    #expect(!receiver.isConfigured)
    // Both come until NMEA is off: each epoch once.
    #expect(try epochs(receiver, stream, "PN", at: at(2)) == [.threeDimensional])
    #expect(stream.written.last == [2, 1, 0, 5])
    #expect(try epochs(receiver, stream, "+", at: at(2.1)) == [])
    #expect(stream.written.last == [4, 1, 0, 5])
    #expect(try epochs(receiver, stream, "+", at: at(2.12)) == [])
    #expect(stream.written.last == [11, 1, 0, 5])
    #expect(try epochs(receiver, stream, "+", at: at(2.14)) == [])
    #expect(stream.written.last == [12, 1, 0, 5])
    #expect(try epochs(receiver, stream, "+", at: at(2.15)) == [])
    #expect(stream.written.last == [3, 1, 0, 5])
    #expect(try epochs(receiver, stream, "+P", at: at(2.2)) == [.threeDimensional])
    #expect(receiver.isConfigured && receiver.note == nil && receiver.refusals == 0)
    #expect(stream.written.count == 7)
    #expect(receiver.nextDue == at(5.2))
  }

  @Test("over I2C the port is named so and there is no rate of the line")
  func ddc() throws {
    let stream = FedStream()
    let receiver = receiver(stream, baudRate: nil, rate: 10)
    _ = try epochs(receiver, stream, "", at: at(0))
    _ = try epochs(receiver, stream, "m", at: at(0.1))
    _ = try epochs(receiver, stream, "U", at: at(0.2))
    #expect(stream.written == [[0], [1, 1, 1, 10]])
    #expect(receiver.baudRate == nil)
    #expect(receiver.outputRate == 10)
  }

  @Test("an old receiver is asked in its dialect, sentence by sentence")
  func messages() throws {
    let stream = FedStream()
    let receiver = receiver(stream)
    _ = try epochs(receiver, stream, "", at: at(0))
    _ = try epochs(receiver, stream, "N", at: at(0.1))
    _ = try epochs(receiver, stream, "U", at: at(0.15))
    _ = try epochs(receiver, stream, "-", at: at(0.2))
    _ = try epochs(receiver, stream, "+", at: at(0.3))
    _ = try epochs(receiver, stream, "P", at: at(1))
    _ = try epochs(receiver, stream, "+", at: at(1.1))
    #expect(
      stream.written == [[0], [1, 1, 0, 5], [1, 0, 0, 5], [2, 0, 0, 5], [2, 0, 0, 5]])
    #expect(receiver.refusals == 1)
  }

  @Test(
    "another interval is asked for as it is wanted, once, and not more often than the board's rate")
  func interval() throws {
    let stream = FedStream()
    let receiver = receiver(stream, .configures, baudRate: 115_200)
    receiver.setInterval(2)
    _ = try epochs(receiver, stream, "N", at: at(0))
    #expect(stream.written == [[0], [0]])
    _ = try epochs(receiver, stream, "M", at: at(0.1))
    _ = try epochs(receiver, stream, "+", at: at(0.2))
    #expect(stream.written.suffix(2) == [[6, 2, 0, 1], [3, 2, 0, 1]])
    _ = try epochs(receiver, stream, "+", at: at(0.3))
    // The wish of before has been heeded; it is said once more.
    _ = try epochs(receiver, stream, "+", at: at(0.4))
    #expect(receiver.isConfigured && receiver.interval == 2)
    let written = stream.written.count
    receiver.setInterval(2)
    _ = try epochs(receiver, stream, "N", at: at(0.5))
    #expect(stream.written.count == written)
    receiver.setInterval(0.01)
    _ = try epochs(receiver, stream, "N", at: at(0.6))
    #expect(stream.written.last == [3, 2, 0, 5] && receiver.interval == 0.2)
    _ = try epochs(receiver, stream, "-", at: at(0.7))
    #expect(receiver.note == "does not take the rate" && receiver.refusals == 1)
    #expect(receiver.isConfigured)
  }

  @Test(
    "it is sent to sleep, watched, and woken by the question who it is; one that talks on runs on")
  func sleep() throws {
    let stream = FedStream()
    let receiver = receiver(stream, .configures, baudRate: 115_200)
    _ = try epochs(receiver, stream, "N", at: at(0))
    _ = try epochs(receiver, stream, "M", at: at(0.1))
    // It is brought to the end of the talk first.
    #expect(try receiver.rest(now: at(0.15)) == .underWay)
    _ = try epochs(receiver, stream, "+", at: at(0.2))
    _ = try epochs(receiver, stream, "+", at: at(0.3))
    #expect(receiver.isConfigured)
    #expect(try receiver.rest(now: at(1)) == .underWay)
    #expect(stream.written.last?.first == 8)
    // What was on its way.
    stream.incoming += Array("N".utf8)
    #expect(try receiver.rest(now: at(1.9)) == .underWay)
    #expect(try receiver.rest(now: at(3.0)) == .underWay)
    #expect(try receiver.rest(now: at(3.2)) == .asleep)
    #expect(try receiver.rest(now: at(500)) == .asleep)
    let written = stream.written.count
    try receiver.wake(now: at(1_000))
    #expect(stream.baudRates == [115_200])
    _ = try epochs(receiver, stream, "", at: at(1_000))
    #expect(stream.written.count == written + 2 && stream.written.last == [0])
    _ = try epochs(receiver, stream, "N", at: at(1_001))
    _ = try epochs(receiver, stream, "M", at: at(1_001.1))
    _ = try epochs(receiver, stream, "+", at: at(1_001.2))
    _ = try epochs(receiver, stream, "+", at: at(1_001.3))
    #expect(receiver.isConfigured)
    #expect(try receiver.rest(now: at(1_002)) == .underWay)
    stream.incoming += Array("N".utf8)
    #expect(try receiver.rest(now: at(1_003.1)) == .underWay)
    #expect(try receiver.rest(now: at(1_004.2)) == .impossible)
    #expect(try epochs(receiver, stream, "N", at: at(1_004.3)) == [.twoDimensional])
  }

  @Test("what nobody heard means: nothing, noise, or a wrong rate of the line")
  func silence() throws {
    let stream = FedStream()
    let fixed = receiver(stream, .reads, baudRate: 9_600)
    _ = try epochs(fixed, stream, "", at: at(0))
    #expect(fixed.silence(of: 1.7).contains("check the receiver's wire"))
    _ = try epochs(fixed, stream, String(repeating: "?", count: 300), at: at(1))
    #expect(fixed.silence(of: 1.7).contains("is 9600 baud the receiver's rate?"))
    for (noise, words) in [("", "TX and RX are crossed"), ("????????", "noise")] {
      let stream = FedStream()
      let searching = receiver(stream, .reads, searches: true)
      #expect(searching.silence(of: 1.7).contains("all usual rates are being tried"))
      for tick in 0..<140 {
        _ = try epochs(searching, stream, noise, at: at(Double(tick) / 10))
      }
      #expect(stream.baudRates.count == 8)
      #expect(searching.silence(of: 1.7).contains(words))
    }
  }

  @Test("NMEA epochs count again when NAV-PVT has been away for three seconds")
  func fallback() throws {
    let stream = FedStream()
    let receiver = receiver(stream)
    _ = try epochs(receiver, stream, "", at: at(0))
    #expect(try epochs(receiver, stream, "P", at: at(1)) == [.threeDimensional])
    #expect(try epochs(receiver, stream, "N", at: at(3.9)) == [])
    #expect(try epochs(receiver, stream, "NN", at: at(4)) == [.twoDimensional, .twoDimensional])
  }

  @Test("one that is not to be configured is only read, and the search sets the line's rate")
  func search() throws {
    let stream = FedStream()
    let receiver = receiver(stream, .reads, searches: true)
    _ = try epochs(receiver, stream, "", at: at(0))
    _ = try epochs(receiver, stream, "????", at: at(1.6))
    #expect(stream.baudRates == [9600])
    #expect(try epochs(receiver, stream, "N", at: at(2)) == [.twoDimensional])
    #expect(try epochs(receiver, stream, "N", at: at(4)) == [.twoDimensional])
    #expect(stream.baudRates == [9600])
    #expect(stream.written.isEmpty)
    #expect(receiver.baudRate == 9600)
  }

  @Test(
    "a rate that the line cannot carry is not asked for",
    arguments: [
      // 9600 baud are 960 bytes a second, of which 768 may be used: 7.68 epochs of 100 bytes.
      (9600, 10.0, 7.68), (9600, 5, 5), (4800, 5, 3.84), (115_200, 10, 10),
      (115_200, 1000, 25), (115_200, -1, 1), (115_200, .nan, 1), (115_200, 0.01, 0.1),
    ])
  func rates(baudRate: Int, wanted: Double, asked: Double) {
    let receiver = receiver(FedStream(), baudRate: baudRate, rate: wanted)
    #expect(abs(receiver.outputRate - asked) < 1e-12)
  }

  @Test("the stream is read once for one moment, however many epochs lie in it")
  func readsOnce() throws {
    let stream = FedStream()
    let receiver = receiver(stream, .reads)
    #expect(try epochs(receiver, stream, "NNNNN", at: at(0)).count == 5)
    #expect(stream.reads == 1)
    #expect(try epochs(receiver, stream, "", at: at(0.1)).isEmpty)
    #expect(stream.reads == 2)
  }

  @Test("a stream that never ends does not hold the thread")
  func flood() throws {
    let stream = FedStream()
    let receiver = receiver(stream, .reads)
    stream.incoming = [UInt8](repeating: UInt8(ascii: "?"), count: 100_000)
    #expect(try receiver.poll(now: at(0)) == nil)
    // As much as its codec takes, and not a byte more.
    #expect(stream.incoming.count == 100_000 - 3_000)
    #expect(stream.reads == 3)
  }

  @Test("a port that went away comes out as the bus's error, in reading and in writing")
  func failures() throws {
    let stream = FedStream()
    let receiver = receiver(stream)
    let gone = BusError(.disconnected, bus: "/dev/serial0")
    _ = try epochs(receiver, stream, "", at: at(0))
    stream.failure = gone
    #expect(throws: DriverError.bus(gone)) { try receiver.poll(now: at(0.1)) }
    // Silent for 1.6 s: it would be asked now.
    #expect(throws: DriverError.bus(gone)) { try receiver.poll(now: at(1.6)) }
    stream.failure = nil
    #expect(try epochs(receiver, stream, "N", at: at(2)) == [.twoDimensional])
  }
}
