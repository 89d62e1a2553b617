import BoardFile
import SensorBus
import SensorTypes
import Synchronization
import Testing

@testable import SensorHub

/// A caster that accepts, and then sends as fast as it is read.
private final class Flood: NetworkStream {
  private var head = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
  var bytes = 0
  let isOpen = true
  let readiness = Readiness.at(nanoseconds: 0)

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    guard head.isEmpty else {
      defer { head = [] }
      buffer.copyBytes(from: head)
      return head.count
    }
    for index in 0..<buffer.count { buffer[index] = 0x66 }
    bytes += buffer.count
    return buffer.count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {}
  func setBaudRate(_ rate: Int) throws(BusError) {}
}

private final class FloodedBoard: BusProvider, @unchecked Sendable {
  let flood = Flood()
  var time = Timestamp(seconds: 100)

  func now() -> Timestamp { time }
  func wallTime() -> Double { 0 }
  var isWallTimeSet: Bool { false }
  func registerBuses() -> [String] { [] }
  func serialPorts() -> [String] { [] }

  func networkStream(
    to server: ServerAddress, isEncrypted: Bool, within seconds: Double
  ) throws(BusError) -> any NetworkStream { flood }

  func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
    throw BusError(.notFound, bus: bus)
  }

  func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    throw BusError(.notFound, bus: port)
  }

  func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    throw BusError(.notFound, bus: server.description)
  }

  func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    throw BusError(.notFound, bus: name.chip)
  }
}

struct CasterFloodTests {
  @Test("a caster that floods is read at a bounded rate, wakes nobody meanwhile, and is counted")
  func bounded() throws {
    let provider = FloodedBoard()
    var source = CorrectionSource(host: "caster.example", mountpoint: "ROOF")
    source.sendsPosition = false
    let board = Board(
      name: "x",
      sensors: [
        Board.Sensor(
          chip: "u-blox", attachment: .serial(port: "/dev/serial0", baudRate: nil),
          corrections: source)
      ])
    let service = try #require(CorrectionService.services(for: board).first)
    service.take(
      .status(
        SensorStatus(
          index: 0, chip: "u-blox", position: "/dev/serial0", state: .running,
          since: provider.time)))
    let work = CorrectionWork(
      service, provider: provider, program: "Lodestone/1", passOn: {}, say: { _ in })
    var steps = 0
    // Until 20 s later; it is woken at once where its stream may wake it.
    while provider.time < Timestamp(seconds: 120), steps < 100_000 {
      steps += 1
      let due = work.step()
      var isWoken = false
      work.forEachReadiness { _ in isWoken = true }
      provider.time = isWoken ? provider.time.advanced(bySeconds: 1e-4) : due
    }
    let most = CorrectionWork.bytesAtOnce + 20 * CorrectionWork.bytesPerSecond
    #expect(Double(provider.flood.bytes) <= most + 8_192)
    #expect(Double(provider.flood.bytes) >= most - 65_536)
    #expect(steps < 400, "\(steps)")
    #expect(work.floods >= 1 && service.status.floods == work.floods)
  }
}
