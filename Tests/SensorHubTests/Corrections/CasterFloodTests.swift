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
  private(set) var isOpen = false
  let readiness = Readiness.at(nanoseconds: 0)

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    isOpen = true
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
  /// The floods, one for each connection.
  var floods: [Flood] = []
  var time = Timestamp(seconds: 100)

  func now() -> Timestamp { time }
  func wallTime() -> Double { 0 }
  var isWallTimeSet: Bool { false }
  func registerBuses() -> [String] { [] }
  func serialPorts() -> [String] { [] }

  func networkStream(
    to server: ServerAddress, isEncrypted: Bool, within seconds: Double
  ) throws(BusError) -> any NetworkStream {
    let flood = Flood()
    floods.append(flood)
    return flood
  }

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
  private func makeService(_ provider: FloodedBoard) throws -> CorrectionService {
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
    return service
  }

  @Test("a caster that floods is read at a bounded rate, wakes nobody meanwhile, and is counted")
  func bounded() throws {
    let provider = FloodedBoard()
    let service = try makeService(provider)
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
    // What waits after 5 s is dropped with the connection, and another one is made 10 s later.
    let most =
      CorrectionWork.bytesAtOnce + CorrectionWork.longestBacklog * CorrectionWork.bytesPerSecond
    #expect(provider.floods.count == 2)
    for flood in provider.floods {
      #expect(Double(flood.bytes) <= most + 8_192 && Double(flood.bytes) >= most - 65_536)
    }
    #expect(steps < 400, "\(steps)")
    #expect(work.floods >= 1 && service.status.floods == work.floods)
    #expect(service.status.failure?.contains("more than 32 kB/s") == true)
  }

  @Test("a frame that has waited for more than 5 s is dropped, and counted")
  func old() {
    let feed = CorrectionFeed()
    feed.setOpen(true)
    for second in 0..<3 {
      feed.add([UInt8(second), 0], at: Timestamp(seconds: 100 + Double(second)))
    }
    feed.dropOld(at: Timestamp(seconds: 105))
    #expect(feed.dropped == 0)
    feed.dropOld(at: Timestamp(seconds: 106.5))
    #expect(feed.dropped == 2 && feed.take() == [2, 0] && feed.take() == nil)
  }
}
