import SensorBus
import SensorTypes
import Testing

@testable import SensorDrivers

/// A receiver on the network: what is read, and what silence, strange bytes and a lost connection are called.
struct NetworkReceiverTests {
  private static let rmc =
    "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230326,003.1,W*63\r\n"
  private static let server = ServerAddress.tcp(host: "boat", port: 10_110)
  private static let port = ServerAddress.udp(address: nil, port: 10_110)

  /// A stream, its reader, and the seconds that have passed.
  private final class Bench {
    let stream = FedStream()
    let receiver: NetworkReceiver
    private var seconds = 100.0

    init(_ place: ServerAddress) { receiver = NetworkReceiver(stream, from: place, outputRate: 1) }

    func run(_ duration: Double, sending text: String = "") -> (
      fixes: [GNSSFix], error: DriverError?
    ) {
      stream.incoming += Array(text.utf8)
      var fixes: [GNSSFix] = []
      for _ in 0..<Int(duration / 0.05) {
        seconds += 0.05
        do throws(DriverError) {
          while let fix = try receiver.poll(now: Timestamp(seconds: seconds)) { fixes.append(fix) }
        } catch { return (fixes, error) }
      }
      return (fixes, nil)
    }
  }

  @Test("sentences become fixes, behind tag blocks too, and nothing is ever sent")
  func fixes() throws {
    let bench = Bench(Self.server)
    // The first epoch is known to be whole when the second one begins.
    var fixes = bench.run(1, sending: Self.rmc).fixes
    // The XOR of s:GP0001 is 0x5f.
    let next = Self.rmc.replacing("123519", with: "123520").replacing("*63", with: "*69")
    fixes += bench.run(2, sending: "\\s:GP0001*5F\\" + next).fixes
    #expect(fixes.count == 1, "the second one, behind its tag block, has ended the first")
    #expect(fixes.allSatisfy { $0.latitude.map { abs($0 - 48.1173) < 1e-6 } == true })
    #expect(bench.receiver.link == ReceiverLink() && bench.receiver.note == nil)
    #expect(bench.stream.written.isEmpty && bench.stream.baudRates.isEmpty)
  }

  @Test(
    "what silence means depends on what has come",
    arguments: [
      (Self.server, "", "connected, and nothing comes for 1700 ms"),
      (Self.port, "", "no datagram for 1700 ms"),
      (Self.server, String(repeating: "?!\r\n", count: 100), "bytes that are not NMEA 0183"),
      (Self.server, "HTTP/1.1 400 Bad Request\r\n\r\n", "is a web server"),
      (Self.server, "SSH-2.0-OpenSSH_9.6\r\n", "is an SSH server"),
      (
        Self.server, #"{"class":"VERSION","release":"3.25","proto_major":3,"proto_minor":15}"#,
        "'chip: gpsd'"
      ),
      (Self.port, rmc.replacing("*63", with: "*64"), "wrong check sums"),
      (Self.port, "$GPRMC,1235", "no whole sentence"),
      (Self.server, "$HCHDG,101.1,,,7.1,W*3C\r\n", "holds no RMC, GGA, GNS or GLL"),
    ])
  func silence(place: ServerAddress, text: String, words: String) {
    let bench = Bench(place)
    let result = bench.run(2, sending: text)
    #expect(result.fixes.isEmpty && result.error == nil)
    let said = bench.receiver.silence(of: 1.7)
    #expect(said.contains(words), "\(said)")
  }

  @Test("a time that stands still after the first epochs is not called a lack of positions")
  func standstill() {
    let bench = Bench(Self.server)
    let next = Self.rmc.replacing("123519", with: "123520").replacing("*63", with: "*69")
    #expect(!(bench.run(1, sending: Self.rmc).fixes + bench.run(1, sending: next).fixes).isEmpty)
    _ = bench.run(1, sending: next)
    let early = bench.receiver.silence(of: 1.7)
    #expect(early.contains("the sender has stopped, or its time stands still"), "\(early)")
    for _ in 0..<5 { _ = bench.run(1, sending: next) }
    let late = bench.receiver.silence(of: 5)
    #expect(late.contains("its positions repeat one time, which stands still"), "\(late)")
  }

  @Test("a connection on which nothing comes for thirty seconds has ended, and stays so")
  func dead() throws {
    let bench = Bench(Self.server)
    #expect(bench.run(29.9).error == nil)
    let error = try #require(bench.run(0.3).error)
    #expect("\(error)".contains("boat:10110") || "\(error)".contains("nothing has come for 30 s"))
    #expect(bench.run(0.1, sending: Self.rmc).error == error)
    // What comes keeps it.
    let other = Bench(Self.server)
    for _ in 0..<8 { #expect(other.run(10, sending: "$HCHDG,101.1,,,7.1,W*3C\r\n").error == nil) }
  }

  @Test("an error of the stream stays: whoever holds it connects anew")
  func failed() throws {
    let bench = Bench(Self.server)
    let failure = BusError(.noConnection("the server has ended it"), bus: "boat:10110")
    bench.stream.failure = failure
    #expect(bench.run(0.1).error == .bus(failure))
    bench.stream.failure = nil
    #expect(bench.run(0.1, sending: Self.rmc).error == .bus(failure))
  }
}
