import GNSSProtocol
import SensorTypes
import Testing

@testable import SensorDrivers

/// Two sources of positions on one wire, a second apart from epoch to epoch and half of one from source to source.
struct TwoSourcesTests {
  private struct Bench {
    let stream = FedStream()
    let receiver: GNSSReceiver
    var fixes: [GNSSFix] = []

    init(talker: String? = nil) {
      receiver = GNSSReceiver(
        stream, as: .readOnly, outputRate: 1, talker: talker, baudRate: 9_600,
        searchesBaudRate: false)
    }

    /// A receiver is a minute of latitude north of the other source.
    mutating func say(_ talker: String, second: Int, status: String = "A", at seconds: Double)
      throws
    {
      let minutes = talker == "II" ? "10.0000" : "11.0000"
      let place = status == "A" ? "50\(minutes),N,00700.0000,E" : ",,,"
      let time = 101_000 + second / 60 * 100 + second % 60
      stream.incoming += ReceiverSentences.frame(
        "\(talker)RMC,\(time),\(status),\(place),5.0,0.0,140621,,\(status == "A" ? "A" : "N")")
      while let fix = try receiver.poll(now: Timestamp(seconds: seconds)) { fixes.append(fix) }
    }

    /// The minutes of the latitudes, one for each change.
    var places: [Double?] {
      var places: [Double?] = []
      for fix in fixes {
        let minutes: Double? = fix.latitude.map { (($0 - 50) * 60_000).rounded() / 1_000 }
        if places.last != .some(minutes) { places.append(minutes) }
      }
      return places
    }
  }

  @Test("a receiver is followed and the instrument beside it named", arguments: [true, false])
  func receiverFirst(isFirst: Bool) throws {
    var bench = Bench()
    for second in 0..<40 {
      for (talker, offset) in isFirst ? [("GP", 0.0), ("II", 0.5)] : [("II", 0), ("GP", 0.5)] {
        try bench.say(talker, second: second, at: Double(second) + offset)
      }
    }
    // An instrument that was heard first is followed until the receiver has had a fix for a while, and then for good.
    #expect(bench.places == (isFirst ? [11] : [10, 11]))
    let note = try #require(bench.receiver.note)
    #expect(note.contains("another source of positions") && note.contains("'talker'"))
    #expect(note.contains("II,") && !note.contains("GP"))
  }

  @Test("a receiver without a fix is left for another source, and found again")
  func lost() throws {
    var bench = Bench()
    for second in 0..<120 {
      let hasFix = !(20..<60).contains(second)
      try bench.say("GP", second: second, status: hasFix ? "A" : "V", at: Double(second))
      try bench.say("II", second: second, at: Double(second) + 0.5)
    }
    #expect(bench.places == [11, nil, 10, 11])
  }

  @Test("two instruments that both have fixes do not take turns")
  func instruments() throws {
    var bench = Bench()
    for second in 0..<100 {
      try bench.say("IN", second: second, at: Double(second))
      try bench.say("II", second: second, at: Double(second) + 0.5)
    }
    #expect(bench.places == [11])
  }

  @Test("the board file's talker is read alone", arguments: [("II", 10.0), ("GP", 11)])
  func chosen(talker: String, place: Double) throws {
    var bench = Bench(talker: talker)
    for second in 0..<60 {
      let hasFix = second < 30
      try bench.say("GP", second: second, status: hasFix ? "A" : "V", at: Double(second))
      try bench.say("II", second: second, at: Double(second) + 0.5)
    }
    #expect(bench.places.first == place && !bench.places.contains(talker == "II" ? 11 : 10))
  }

  @Test(
    "an instrument that speaks ten times as often does not win, and a flickering receiver does not either"
  )
  func pace() throws {
    var bench = Bench()
    for second in 0..<60 {
      try bench.say("GP", second: second, at: Double(second))
      for tenth in 1..<10 {
        try bench.say("II", second: second, at: Double(second) + Double(tenth) / 10)
      }
    }
    #expect(bench.places == [11])
    var flickering = Bench()
    for second in 0..<100 {
      let status = second % 10 == 0 ? "A" : "V"
      try flickering.say("GP", second: second, status: status, at: Double(second))
      try flickering.say("II", second: second, at: Double(second) + 0.5)
    }
    #expect(
      flickering.places.last == 10 && flickering.fixes.filter { $0.latitude != nil }.count > 80)
  }

  @Test("a source that never gives a position is none, and one that falls silent is left after 5 s")
  func silent() throws {
    var bench = Bench()
    bench.stream.incoming += ReceiverSentences.frame("ZCZDA,101000,14,06,2021,,")
    bench.stream.incoming += ReceiverSentences.frame("IIVTG,0.0,T,,M,5.0,N,9.3,K")
    for second in 0..<20 { try bench.say("GP", second: second, at: Double(second)) }
    #expect(bench.fixes.count >= 19 && bench.receiver.note == nil)
    let before = bench.fixes.count
    for second in 20..<40 { try bench.say("II", second: second, at: Double(second)) }
    #expect((13...15).contains(bench.fixes.count - before))
  }

  @Test("the other source's accuracies and a receiver's own sentences are not mixed in")
  func parts() throws {
    var bench = Bench(talker: "II")
    for second in 0..<10 {
      bench.stream.incoming += ReceiverSentences.frame(
        "GPGSA,A,3,01,02,03,04,,,,,,,,,1.0,0.5,0.9")
      bench.stream.incoming += ReceiverSentences.frame(
        "PUBX,00,1010\(second / 10)\(second % 10).00,4800.0,N,01100.0,E,500,G3,2,3,0,0,0,,1,1,1,8,0,0"
      )
      try bench.say("II", second: second, at: Double(second))
    }
    #expect(bench.places == [10])
    #expect(bench.fixes.allSatisfy { $0.hdop == nil && $0.mode == .twoDimensional })
  }

  @Test("a receiver of several constellations is one source")
  func constellations() throws {
    var bench = Bench()
    for second in 0..<10 {
      try bench.say(["GP", "GN", "GL", "GA"][second % 4], second: second, at: Double(second))
    }
    #expect(bench.receiver.note == nil && bench.fixes.count >= 9)
  }
}
