// Who may claim the compass of desktops, and how often.

import Testing

@testable import LocationDaemon

struct SensorProxyClaimsTests {
  @Test("no user has all claims")
  func shares() {
    var claims = SensorProxyClaims()
    func claim(_ user: UInt32?, _ process: UInt32) -> String? {
      claims.claim(":1.\(user ?? 0).\(process)", .init(user: user, process: process))
    }
    for process in 0..<16 { #expect(claim(1_000, UInt32(process)) == nil) }
    #expect(claim(1_000, 99)?.contains("user 1000 have 16 claims") == true)
    for user in 1_001..<1_004 {
      for process in 0..<16 { #expect(claim(UInt32(user), UInt32(user * 100 + process)) == nil) }
    }
    #expect(claim(1_009, 1) == "64 programs have the compass" && claims.count == 64)
    let isReleased = claims.release(":1.1000.3")
    #expect(isReleased && claim(nil, 7) == nil)
  }
}
