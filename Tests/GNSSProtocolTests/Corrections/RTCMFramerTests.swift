import Testing

@testable import GNSSProtocol

/// Frames whose check sums pyrtcm 1.2.1 has computed (PyPI; `calc_crc24q`), and its own message 1005 (`RTCMMessage.serialize`).
enum RTCMVectors {
  static let station = bytes("d300133ed7d30202980edeef34b4bd62ac0941986f33360b98")
  static let gps = bytes(
    "d3002843501970aeb0e470b8d2fa6bc2f4c72db8a9ac8eef914a1d8a273db616b50e677582c0ef0996a9b8a63383")
  static let maker = bytes("d30002fe80bbfe86")
  static let glonassBiases = bytes("d300084ce0ee3e88db5ba6246e89")

  static func bytes(_ hex: String) -> [UInt8] {
    var digits = hex.utf8.map { $0 < 58 ? $0 - 48 : $0 - 87 }[...]
    var bytes: [UInt8] = []
    while let high = digits.popFirst(), let low = digits.popFirst() {
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}

struct RTCMFramerTests {
  private func frames(_ pieces: [[UInt8]]) -> (frames: [RTCMFrame], rejected: UInt64) {
    var framer = RTCMFramer()
    var found: [RTCMFrame] = []
    for piece in pieces { framer.take(piece) { found.append($0) } }
    #expect(framer.frames == UInt64(found.count))
    return (found, framer.rejected)
  }

  @Test(
    "the check sum is CRC-24Q: the catalogue's check value, and pyrtcm's of short and longest frames"
  )
  func checkSum() {
    func sum(_ bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBufferPointer { CRC24Q.sum($0) } }
    #expect(sum(Array("123456789".utf8)) == 0xCDE703)
    for (length, expected) in [(0, UInt32(0x47EA4B)), (1, 0x06817B), (1_023, 0xDE105A)] {
      let head: [UInt8] = [0xD3, UInt8(length >> 8), UInt8(length & 255)]
      let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }
      #expect(sum(head + content) == expected)
    }
  }

  @Test("frames come out whole, with the numbers of their messages, wherever the reads split")
  func splits() {
    let stream =
      RTCMVectors.station + RTCMVectors.gps + RTCMVectors.maker + RTCMVectors.glonassBiases
    for cut in 0...stream.count {
      let (found, rejected) = frames([Array(stream[..<cut]), Array(stream[cut...])])
      #expect(found.map(\.number) == [1_005, 1_077, 4_072, 1_230])
      #expect(found.flatMap(\.bytes) == stream)
      #expect(rejected == 0)
    }
    #expect(frames(stream.map { [$0] }).frames.count == 4)
  }

  @Test(
    "behind garbage, a wrong length and a damaged frame the next one is found, and each lost byte is counted"
  )
  func resynchronises() {
    var damaged = RTCMVectors.gps
    damaged[10] ^= 1
    // A preamble that claims 512 bytes hides nothing.
    let liar: [UInt8] = [0xD3, 0x02, 0x00]
    let stream =
      Array("ICY".utf8) + damaged + RTCMVectors.station + [0xD3, 0xFF, 0xD3]
      + RTCMVectors.maker
    let (found, rejected) = frames([stream])
    #expect(found.map(\.number) == [1_005, 4_072])
    #expect(rejected == UInt64(3 + damaged.count + 3))
    let tail = [UInt8](repeating: 0, count: 600)
    let late = frames([liar + RTCMVectors.station + tail])
    #expect(late.frames.map(\.number) == [1_005])
    #expect(late.rejected == UInt64(3 + 600))
  }

  @Test("a frame without content and one of one byte have no number; the longest is taken")
  func sizes() {
    #expect(frames([[0xD3, 0, 0, 0x47, 0xEA, 0x4B]]).frames.map(\.number) == [nil])
    #expect(frames([[0xD3, 0, 1, 3, 0x06, 0x81, 0x7B]]).frames.map(\.number) == [nil])
    let content = (0..<1_023).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }
    let longest = [0xD3, 3, 0xFF] + content + [0xDE, 0x10, 0x5A]
    #expect(frames([longest]).frames.first?.bytes.count == RTCMFramer.longestFrame)
  }

  @Test("of random bytes less than one frame is kept, and all others are counted")
  func bounded() {
    var state: UInt32 = 7
    var framer = RTCMFramer()
    var total = 0
    for _ in 0..<200 {
      let piece = (0..<97).map { _ -> UInt8 in
        // A linear congruential generator; half of its bytes are preambles.
        state = state &* 1_664_525 &+ 1_013_904_223
        return state >> 31 == 0 ? 0xD3 : UInt8(truncatingIfNeeded: state >> 20)
      }
      total += piece.count
      framer.take(piece) { total -= $0.bytes.count }
    }
    #expect(total - Int(framer.rejected) < RTCMFramer.longestFrame)
    framer.restart()
    #expect(Int(framer.rejected) == total)
  }

  @Test(
    "what claims to be a frame every three bytes is checked for a while, then passed over; a frame later is found"
  )
  func flood() {
    var framer = RTCMFramer()
    var found = 0
    let pattern: [UInt8] = [0xD3, 3, 0xFF]
    let piece = (0..<3_000).map { pattern[$0 % 3] }
    for _ in 0..<100 { framer.take(piece) { _ in found += 1 } }
    #expect(found == 0 && framer.rejected > 295_000)
    // Bytes that claim nothing bring the credit back.
    framer.take([UInt8](repeating: 0, count: 2_000)) { _ in found += 1 }
    framer.take(RTCMVectors.station) { _ in found += 1 }
    #expect(found == 1)
  }

  @Test("the credit of vain checks is bounded, and grows with what arrives")
  func credit() {
    var credit = CheckCredit()
    #expect(!credit.isUsedUp)
    credit.arrived(1_000_000)
    credit.spend(CheckCredit.atOnce)
    #expect(credit.isUsedUp)
    credit.arrived(1)
    #expect(!credit.isUsedUp)
    credit.spend(CheckCredit.perByte)
    #expect(credit.isUsedUp)
  }
}
