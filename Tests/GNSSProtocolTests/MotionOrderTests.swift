import GNSSProtocol
import SensorTypes
import Testing

/// A VTG has no time. Wherever a receiver sends it, its speed is its own epoch's, or nobody's.
struct MotionOrderTests {
  private enum Kind: CaseIterable { case rmc, gga, vtg, gll, gsa }

  /// Knots of an epoch: no two are alike.
  private static func knots(_ second: Int) -> Double { 10 + 3 * Double(second) }

  private static func sentence(_ kind: Kind, _ second: Int, rmc motion: Bool = true) -> [UInt8] {
    let time = "0000\(second < 10 ? "0" : "")\(second)"
    let knots = knots(second)
    return switch kind {
    case .rmc: Stream.rmc(time, motion: motion ? "\(knots),\(10 * second)" : ",")
    case .gga: Stream.gga(time)
    case .vtg: Stream.sentence("GPVTG,\(10 * second),T,,M,\(knots),N,\(knots * 1.852),K,A")
    case .gll: Stream.sentence("GPGLL,\(Stream.place),\(time),A")
    case .gsa: Stream.sentence("GPGSA,A,3,07,30,,,,,,,,,,,1.5,0.9,1.2")
    }
  }

  private static func orders(of kinds: [Kind]) -> [[Kind]] {
    guard let first = kinds.first else { return [[]] }
    return orders(of: Array(kinds.dropFirst())).flatMap { rest in
      (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
    }
  }

  /// The speeds of the epochs in knots, by their second of the day.
  private static func speeds(_ bytes: [UInt8], endsByRule: Bool) -> [Int: Double?] {
    Dictionary(
      Stream.fixes(bytes, endsByRule: endsByRule).map {
        (Int($0.timeOfDay ?? -1), $0.speed.map { $0 * 3_600 / 1_852 })
      }, uniquingKeysWith: { a, _ in a })
  }

  private static func isOwn(_ speed: Double??, _ second: Int) -> Bool {
    (speed ?? nil).map { abs($0 - knots(second)) < 1e-6 } ?? false
  }

  @Test(
    "in every order of RMC, GGA, VTG, GLL and GSA each epoch has its own speed",
    arguments: [3, 12], [true, false])
  func everyOrder(epochs: Int, endsByRule: Bool) {
    let all = Self.orders(of: [.rmc, .gga, .vtg, .gll, .gsa])
    let without = Self.orders(of: [.gga, .vtg, .gll, .gsa])
    #expect(all.count == 120 && without.count == 24)
    for (order, hasMotion) in all.map({ ($0, true) }) + all.map({ ($0, false) })
      + without.map({ ($0, true) })
    {
      let bytes = (1...epochs).flatMap { second in
        order.flatMap { Self.sentence($0, second, rmc: hasMotion) }
      }
      let speeds = Self.speeds(bytes, endsByRule: endsByRule)
      #expect(speeds.count == epochs, "\(order)")
      for second in 1...epochs {
        #expect(
          Self.isOwn(speeds[second], second), "\(order) \(hasMotion), \(second): \(speeds)")
      }
    }
  }

  @Test("heard from the middle of an epoch on, the RMC that come now and then show the order")
  func learned() {
    for leads in [true, false] {
      let bytes = (1...50).flatMap { second -> [UInt8] in
        let order: [Kind] = leads ? [.vtg, .gga] : [.gga, .vtg]
        // The stream begins behind the VTG of an order that it leads, and with it in the other.
        let first: [Kind] = leads ? [.gga] : [.vtg]
        let kinds = second == 1 ? first : order
        // Two of four epochs have one: a boundary is compared that has one on either side.
        return kinds.flatMap { Self.sentence($0, second) }
          + (second % 4 < 2 ? Self.sentence(.rmc, second) : [])
      }
      let speeds = Self.speeds(bytes, endsByRule: false)
      for second in 20...49 {
        #expect(Self.isOwn(speeds[second], second), "\(leads) \(second): \(speeds)")
      }
    }
  }

  @Test("a VTG that waits for its epoch is not given to another one that is put aside or long past")
  func lost() throws {
    // The GLL of an epoch that is out, behind the VTG of the next.
    let bytes =
      (1...6).flatMap { second in
        [.vtg, .gga, .gll].flatMap { Self.sentence($0, second) }
      } + Self.sentence(.vtg, 7) + Self.sentence(.gll, 5) + Self.sentence(.gga, 7)
      + Self.sentence(.vtg, 8)
    let speeds = Self.speeds(bytes, endsByRule: true)
    #expect(speeds.count == 7)
    for second in 1...7 { #expect(Self.isOwn(speeds[second], second), "\(second)") }
  }

  @Test("a receiver without a fix shows the order too, and its speeds of no position are none")
  func withoutFix() {
    let none = (1...3).flatMap { _ in
      Stream.sentence("GPVTG,,T,,M,,N,,K,N") + Stream.sentence("GPGGA,,,,,,0,,,,,,,,")
    }
    let bytes = none + (4...8).flatMap { Self.sentence(.vtg, $0) + Self.sentence(.gga, $0) }
    let speeds = Self.speeds(bytes, endsByRule: true)
    for second in 4...8 { #expect(Self.isOwn(speeds[second], second), "\(second)") }
  }
}
