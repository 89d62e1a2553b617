import GNSSProtocol
import SensorTypes
import Testing

@testable import SensorDrivers

/// Why a receiver on a serial line gives no epochs, from what it sends.
struct ReceiverSilenceTests {
  private let stream = FedStream()

  private func receiver(talker: String? = nil, readsHeading: Bool = false) -> GNSSReceiver {
    GNSSReceiver(
      stream, as: .readOnly, outputRate: 1, talker: talker, readsHeading: readsHeading,
      baudRate: 9_600, searchesBaudRate: false)
  }

  /// What is said of sentences that come once a second for so many seconds.
  private func run(
    _ receiver: GNSSReceiver, _ seconds: Int = 6, sending sentences: (Int) -> [String]
  ) throws -> [GNSSFix] {
    var fixes: [GNSSFix] = []
    for second in 0..<seconds {
      for sentence in sentences(second) { stream.incoming += ReceiverSentences.frame(sentence) }
      while let fix = try receiver.poll(now: Timestamp(seconds: 100 + Double(second))) {
        fixes.append(fix)
      }
    }
    return fixes
  }

  private func rmc(_ talker: String, _ second: Int) -> String {
    "\(talker)RMC,\(101_000 + second),A,5010.0000,N,00700.0000,E,5.0,0.0,140621,,A"
  }

  @Test("a talker that does not come is named, with those that come")
  func talker() throws {
    let receiver = receiver(talker: "II")
    #expect(try run(receiver) { [rmc("GP", $0)] }.isEmpty)
    #expect(receiver.silenceCause == .otherTalkers(wanted: "II", heard: ["GP"]))
    let words = receiver.silence(of: 3)
    #expect(words.hasPrefix("no position for 3000 ms: no position comes from the talker II"))
    #expect(words.contains("but from GP") && words.contains("the first source with a fix is read"))
    let right = self.receiver(talker: "GP")
    #expect(try !run(right) { [rmc("GP", $0)] }.isEmpty)
  }

  @Test("a time that stands still is said")
  func time() throws {
    let standing = receiver()
    #expect(try run(standing) { _ in [rmc("GP", 7)] }.count <= 1)
    #expect(standing.silenceCause == .standstill)
    #expect(standing.silence(of: 3).contains("stands still"))
  }

  @Test("sentences without a position are no silence of the wire")
  func positionless() throws {
    let receiver = receiver()
    #expect(try run(receiver) { _ in ["GPGSV,1,1,00"] }.isEmpty)
    #expect(receiver.silenceCause == .noPosition)
    #expect(receiver.silence(of: 3).contains("holds no RMC, GGA, GNS or GLL"))
  }

  @Test("what comes after an epoch belongs to it; then nothing comes")
  func stopped() throws {
    let receiver = receiver()
    #expect(try !run(receiver) { [rmc("GP", $0), "GPGSV,1,1,00"] }.isEmpty)
    for second in 0..<4 { _ = try receiver.poll(now: Timestamp(seconds: 106 + Double(second))) }
    #expect(receiver.silenceCause == .nothing)
    #expect(receiver.silence(of: 3).contains("check the receiver's wire"))
  }

  @Test("wrong check sums are no strange bytes")
  func damaged() throws {
    let receiver = receiver()
    for second in 0..<20 {
      stream.incoming += Array(
        "$GPRMC,\(101_000 + second),A,5010.0,N,00700.0,E,5.0,0.0*00\r\n".utf8)
      #expect(try receiver.poll(now: Timestamp(seconds: Double(second))) == nil)
    }
    #expect(receiver.silenceCause == .damaged)
    #expect(receiver.silence(of: 3).contains("wrong check sums"))
  }

  @Test("one that is only read and gives no heading is noted after half a minute")
  func heading() throws {
    let receiver = receiver(readsHeading: true)
    _ = try run(receiver, 20) { [rmc("GP", $0)] }
    #expect(receiver.note == nil)
    _ = try run(receiver, 59) { [rmc("GP", $0)] }
    #expect(receiver.note?.contains("gives no heading, which 'antennas' is for") == true)
    let other = self.receiver(readsHeading: true)
    _ = try run(other, 59) { [rmc("GP", $0), "GPHDT,123.4,T"] }
    #expect(other.note == nil)
  }

  @Test("a sentence of any length and any bytes is taken without harm")
  func hostile() {
    var evidence = LineEvidence()
    func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { evidence.append($0) } }
    append(Array("$".utf8) + [UInt8](repeating: 65, count: 10_000) + Array("*00\r\n".utf8))
    append(Array("$*\r\n$*0\r\n*00\r\n$,,,,,*00\r\n$GPRMC,*\r\n".utf8) + Array(0...255))
    #expect(evidence.sentences == 0 && evidence.damaged == 1)
    append(ReceiverSentences.frame("GPRMC,99999999999999999999999999,A"))
    #expect(evidence.sentences == 1 && evidence.damaged == 0 && evidence.timed == 1)
  }
}
