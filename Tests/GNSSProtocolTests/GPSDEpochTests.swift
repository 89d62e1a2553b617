import SensorTypes
import Testing

@testable import GNSSProtocol

/// Which reports of gpsd make an epoch, when it is given out, and of which receiver.
struct GPSDEpochTests {
  @Test("there is room for all but what waits, however much was read before")
  func room() {
    var listener = GPSDListener()
    #expect(listener.decoder.room == GPSDDecoder.longestLine)
    for second in 0..<3 {
      listener.hear(tpv: "4\(second).000", at: Double(second))
      listener.hear(Array(repeating: UInt8(ascii: " "), count: 100), at: Double(second))
      #expect(listener.decoder.room == GPSDDecoder.longestLine - 100, "after \(second) s")
      listener.hear("", at: Double(second))
    }
  }

  @Test("a leap second is an epoch of its own, and so is the second after it")
  func leapSecond() {
    var listener = GPSDListener()
    for (index, time) in ["2016-12-31T23:59:60.000Z", "2017-01-01T00:00:00.000Z"].enumerated() {
      listener.hear(
        "{\"class\":\"TPV\",\"mode\":2,\"time\":\"\(time)\",\"lat\":1,\"lon\":2}", at: Double(index)
      )
    }
    listener.finish()
    #expect(listener.fixes.map(\.timeOfDay) == [86_400, 0])
  }

  @Test(
    "an epoch of so many reports is given out with the last, once that is known; before, when nothing follows"
  )
  func latency() {
    var listener = GPSDListener()
    for epoch in 0..<4 {
      let begin = Double(epoch)
      for part in 0..<3 {
        #expect(listener.fixes.count == epoch)
        listener.hear(
          tpv: "4\(epoch).000", more: ",\"climb\":\(part)", at: begin + 0.05 * Double(part))
      }
      if epoch < 3 {
        // Two whole epochs are known when the third begins, and one more makes the rule.
        #expect(listener.fixes.count == (epoch < 2 ? epoch : epoch + 1))
        listener.look(at: begin + 0.24)
        #expect(listener.fixes.count == (epoch < 2 ? epoch : epoch + 1))
      }
      listener.look(at: begin + 0.26)
      #expect(listener.fixes.count == epoch + 1)
      #expect(listener.fixes.last?.verticalSpeed == 2)
      #expect(listener.fixes.last?.received == Timestamp(seconds: begin))
    }
    #expect(listener.decoder.counters.repetitions == 0)
  }

  @Test("a fix that lacks what the one before had is waited for, half a second at most")
  func incomplete() {
    var listener = GPSDListener()
    listener.hear(tpv: "40.000", at: 0)
    listener.look(at: 0.2)
    listener.hear(
      "{\"class\":\"TPV\",\"mode\":2,\"time\":\"2026-11-22T07:14:41.000Z\",\"lat\":1,\"lon\":2}",
      at: 1)
    listener.look(at: 1.4)
    #expect(listener.fixes.count == 1 && listener.decoder.nextDue == Timestamp(seconds: 1.5))
    listener.look(at: 1.5)
    #expect(listener.fixes.count == 2)
  }

  @Test("a time that stands still gives one fix, and is noticed")
  func stale() {
    var listener = GPSDListener()
    for second in 0..<5 { listener.hear(tpv: "40.000", at: Double(second)) }
    listener.look(at: 5)
    #expect(listener.fixes.count == 1)
    #expect(listener.decoder.counters.repetitions == 4 && listener.decoder.standstill == 4)
    listener.hear(tpv: "45.000", at: 5)
    listener.look(at: 5.2)
    #expect(listener.fixes.count == 2 && listener.decoder.standstill == nil)
  }

  @Test("a time before the newest is late, and a new beginning when nothing newer comes")
  func late() {
    var listener = GPSDListener()
    for (time, seconds) in [("40.000", 0.0), ("40.200", 0.2), ("40.400", 0.4), ("40.000", 0.45)] {
      listener.hear(tpv: time, at: seconds)
    }
    listener.look(at: 0.8)
    #expect(listener.fixes.count == 3 && listener.decoder.counters.repetitions == 1)
    listener.hear(tpv: "39.500", at: 2)
    listener.look(at: 2.5)
    listener.hear(tpv: "30.000", at: 3)
    listener.look(at: 3.5)
    #expect(listener.fixes.map(\.received.seconds) == [0, 0.2, 0.4, 2, 3])
  }

  @Test("no fix, with and without a time, is said; mode 0 says nothing")
  func noFix() {
    var listener = GPSDListener()
    listener.hear(tpv: nil, mode: 0, at: 0)
    listener.hear(tpv: nil, mode: 1, at: 1)
    listener.look(at: 1.2)
    listener.hear(tpv: "42.000", mode: 1, at: 2)
    listener.look(at: 2.2)
    listener.hear("{\"class\":\"TPV\",\"mode\":3,\"lat\":91,\"lon\":0}", at: 3)
    listener.look(at: 3.6)
    #expect(listener.fixes.map(\.mode) == [.none, .none, .none])
    #expect(listener.fixes.allSatisfy { $0.latitude == nil && $0.utc == nil })
  }

  @Test("the receiver that is named is followed, and no other, whatever becomes of it")
  func namedReceiver() {
    var listener = GPSDListener(decoder: GPSDDecoder(device: "/dev/b"))
    listener.hear(
      "{\"class\":\"DEVICES\",\"devices\":[{\"path\":\"/dev/a\",\"activated\":1},"
        + "{\"path\":\"/dev/b\",\"activated\":0}]}", at: 0)
    #expect(listener.events == [.devices(count: 1, active: 0)])
    for second in 0..<8 {
      listener.hear(tpv: "4\(second).000", device: "/dev/a", at: Double(second))
      listener.hear("{\"class\":\"SKY\",\"device\":\"/dev/a\",\"hdop\":9}", at: Double(second))
      guard second < 2 else { continue }
      listener.hear(tpv: "4\(second).500", device: "/dev/b", at: Double(second))
    }
    listener.hear(tpv: "49.000", at: 8)
    listener.hear("{\"class\":\"DEVICE\",\"path\":\"/dev/a\",\"activated\":0}", at: 8)
    listener.finish()
    #expect(listener.fixes.compactMap { $0.timeOfDay.map { $0 - 26_040 } } == [40.5, 41.5])
    #expect(listener.fixes.allSatisfy { $0.hdop == nil })
    #expect(listener.decoder.counters.foreign == 17)
    #expect(listener.events.last == .message)
  }

  @Test("of two receivers one is followed, until it is lost or has no position")
  func twoReceivers() {
    var listener = GPSDListener()
    for second in 0..<4 {
      listener.hear(tpv: "4\(second).000", device: "/dev/a", at: Double(second))
      listener.hear(
        tpv: "4\(second).500", device: "/dev/b", more: ",\"climb\":9", at: Double(second))
      listener.hear("{\"class\":\"SKY\",\"device\":\"/dev/b\",\"hdop\":9}", at: Double(second))
    }
    listener.look(at: 4)
    #expect(listener.fixes.count == 4)
    #expect(listener.fixes.allSatisfy { $0.verticalSpeed == nil && $0.hdop == nil })
    #expect(listener.decoder.counters.foreign == 8)
    listener.hear("{\"class\":\"DEVICE\",\"path\":\"/dev/a\",\"activated\":0}", at: 4)
    #expect(listener.events.last == .device(path: "/dev/a", isActive: false))
    listener.hear(tpv: "44.500", device: "/dev/b", more: ",\"climb\":9", at: 4.1)
    listener.look(at: 5)
    #expect(listener.fixes.last?.verticalSpeed == 9)
    // /dev/b loses its fix: five seconds later the other counts.
    for second in 5..<12 {
      listener.hear(tpv: nil, mode: 1, device: "/dev/b", at: Double(second))
      listener.hear(tpv: "5\(second - 5).000", device: "/dev/a", at: Double(second))
    }
    listener.finish()
    #expect(listener.fixes.last?.latitude == 48.1)
  }
}
