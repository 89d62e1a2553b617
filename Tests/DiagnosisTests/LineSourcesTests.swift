// Receivers in the network whose sentences come once a second, as the doctor hears them.

import BoardFile
import GNSSProtocol
import SensorBus
import SensorTypes
import Testing

@testable import Diagnosis

/// What a server sends: its sentences of each second.
private final class SpokenStream: ByteStream {
  private let now: () -> Timestamp
  private let sentences: (Int) -> [String]
  private var said: Int?
  private var waiting: [UInt8] = []
  let readiness = Readiness.never

  init(_ now: @escaping () -> Timestamp, _ sentences: @escaping (Int) -> [String]) {
    (self.now, self.sentences) = (now, sentences)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let second = Int(now().seconds)
    if said != second {
      said = second
      for sentence in sentences(second) { waiting += ReceiverSentences.frame(sentence) }
    }
    let count = min(buffer.count, waiting.count)
    buffer.copyBytes(from: waiting[..<count])
    waiting.removeFirst(count)
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {}
  func setBaudRate(_ rate: Int) throws(BusError) {}
}

private final class SpokenBoard: BusProvider, @unchecked Sendable {
  var time = Timestamp(seconds: 100)
  let sentences: (Int) -> [String]

  init(_ sentences: @escaping (Int) -> [String]) { self.sentences = sentences }

  func now() -> Timestamp { time }
  func wallTime() -> Double { 0 }
  var isWallTimeSet: Bool { false }
  func registerBuses() -> [String] { [] }
  func serialPorts() -> [String] { [] }

  func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
    throw BusError(.notFound, bus: bus)
  }

  func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    SpokenStream({ self.time }, sentences)
  }

  func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    SpokenStream({ self.time }, sentences)
  }

  func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    throw BusError(.notFound, bus: name.chip)
  }
}

struct LineSourcesTests {
  private static let server = ServerAddress.tcp(host: "boat", port: 10_110)

  /// What is found in the network, and on a serial line.
  private func findings(
    talker: String? = nil, _ sentences: @escaping (Int) -> [String]
  ) -> [Doctor.Finding] {
    [Board.Attachment.server(Self.server), .serial(port: "/dev/ttyUSB0", baudRate: 4_800)].map {
      let board = SpokenBoard(sentences)
      let doctor = Doctor(
        provider: board, state: { _ in nil }, modelFolders: [],
        wait: { board.time = board.time.advanced(bySeconds: $0) })
      var sensor = Board.Sensor(chip: "NMEA", attachment: $0)
      sensor.talker = talker
      guard case .serial(let port, let rate) = $0 else {
        return doctor.network(Self.server, sensor, sensor: 0)
      }
      return doctor.line(sensor, 0, port: port, baudRate: rate)
    }
  }

  private func rmc(_ talker: String, _ second: Int) -> String {
    "\(talker)RMC,\(101_000 + second % 60),A,5010.0000,N,00700.0000,E,5.0,0.0,140621,,A"
  }

  @Test("a receiver whose time goes on is good")
  func good() {
    for found in findings({ [rmc("GP", $0)] }) { #expect(found.level == .good, "\(found)") }
  }

  @Test("a time that stands still is a problem, in the network as on a line")
  func standstill() {
    for found in findings({ _ in [rmc("GP", 7), "GPGSV,1,1,00"] }) {
      #expect(found.level == .problem && found.text.contains("stands still"), "\(found)")
      #expect(found.mend?.contains("off and on") == true)
    }
  }

  @Test("a second source of positions is named with the key that chooses it")
  func sources() {
    for found in findings({ [rmc("GP", $0), rmc("II", $0)] }) {
      #expect(found.level == .note && found.text.contains("another source, II,"), "\(found)")
      #expect(found.mend?.hasPrefix("talker: II ") == true)
    }
    for found in findings(talker: "GP", { [rmc("GP", $0), rmc("II", $0)] }) {
      #expect(found.level == .good, "\(found)")
    }
  }
}
