import Glibc
@testable import LiveMap
import SensorTypes
import Testing

@Suite struct PlacesTests {
  static func address(_ number: Int) -> PeerAddress {
    PeerAddress(ipv4: 0x0A00_0000 + UInt32(number))
  }

  static func occupants(
    _ count: Int, _ standing: ConnectionPriority, from address: (Int) -> Int, since: Double = 0
  ) -> [Places.Occupant] {
    (0..<count).map {
      Places.Occupant(
        address: Self.address(address($0)), standing: standing,
        since: Timestamp(seconds: since + Double($0)))
    }
  }

  let places = Places()

  @Test func sixtyFourAndNoMore() {
    let full = Self.occupants(64, .busy, from: { $0 })
    #expect(places.decide(for: Self.address(99), among: full) == .full)
    #expect(places.decide(for: Self.address(99), among: Array(full.dropLast())) == .free)
  }

  @Test func sixteenFromOneAddress() {
    let crowd = Self.occupants(16, .busy, from: { _ in 1 })
    #expect(places.decide(for: Self.address(1), among: crowd) == .full)
    #expect(places.decide(for: Self.address(2), among: crowd) == .free)
    #expect(places.decide(for: Self.address(1), among: Array(crowd.dropLast())) == .free)
    // Of a crowded address one of its own goes, and no other.
    let other = Self.occupants(1, .unknown, from: { _ in 2 }, since: -100)
    let mixed = other + Self.occupants(15, .busy, from: { _ in 1 })
    #expect(
      places.decide(
        for: Self.address(1), among: mixed + Self.occupants(1, .unknown, from: { _ in 1 }))
        == .evict(16))
  }

  @Test func whoHasShownNothingGivesWay() {
    let idle = Self.occupants(20, .idle, from: { 100 + $0 })
    let busy = Self.occupants(20, .busy, from: { 200 + $0 })
    let unknown = Self.occupants(23, .unknown, from: { 300 + $0 }, since: 50)
    let finished = Self.occupants(1, .finished, from: { _ in 400 }, since: 500)
    #expect(
      places.decide(for: Self.address(9), among: idle + busy + unknown + finished) == .evict(63))
    // The oldest of the unknown, then the one that has idled for longest.
    let withUnknown = [idle, busy, unknown, Array(busy.prefix(1))]
    #expect(places.decide(for: Self.address(9), among: Array(withUnknown.joined())) == .evict(40))
    let withIdle = [busy, idle, busy, Array(busy.prefix(4))]
    #expect(places.decide(for: Self.address(9), among: Array(withIdle.joined())) == .evict(20))
  }

  @Test func aFloodDisplacesItself() {
    // One who has just come, before a flood from eight addresses that is younger.
    let honest = Self.occupants(1, .unknown, from: { _ in 1 }, since: -10)
    let flood = Self.occupants(63, .unknown, from: { 2 + $0 % 8 })
    let decision = places.decide(for: Self.address(3), among: honest + flood)
    // The address of the first has eight, as all but the last.
    #expect(decision == .evict(1))
  }

  @Test("where the system has no descriptor left, somebody goes whatever the number")
  func leavers() {
    let busy = Self.occupants(3, .busy, from: { $0 })
    #expect(places.leaver(among: []) == nil && places.leaver(among: busy) == nil)
    #expect(places.leaver(among: busy + Self.occupants(2, .idle, from: { $0 })) == 3)
    #expect(places.leaver(among: Self.occupants(2, .unknown, from: { $0 }) + busy) == 0)
  }

  @Test func theSameAddressOverBothProtocols() throws {
    var mapped = in6_addr()
    inet_pton(AF_INET6, "::ffff:10.0.0.1", &mapped)
    #expect(PeerAddress(ipv6: mapped) == Self.address(1))
    var other = in6_addr()
    inet_pton(AF_INET6, "fe80::1", &other)
    #expect(PeerAddress(ipv6: other) != Self.address(1))
  }

  @Test("descriptors are kept back where few can be had")
  func descriptors() {
    #expect(DescriptorLimit.connections(of: 64, limit: 1_024) == 64)
    #expect(DescriptorLimit.connections(of: 64, limit: 192) == 64)
    #expect(DescriptorLimit.connections(of: 64, limit: 160) == 32)
    #expect(DescriptorLimit.connections(of: 64, limit: 64) == 8)
  }
}
