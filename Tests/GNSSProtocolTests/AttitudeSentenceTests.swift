// Headings by antennas in makers' own sentences, against lines that makers and others have published, with their own check sums.

import GNSSProtocol
import SensorTypes
import Testing

struct AttitudeSentenceTests {
  /// The heading of a line as it stands, with its check sum.
  private func heading(_ line: String) throws -> ReceiverHeading {
    var decoder = GNSSDecoder()
    let events = Stream.events(Array("\(line)\r\n".utf8), by: &decoder)
    #expect(decoder.counters.badChecksums == 0, "\(line)")
    return try #require(
      events.compactMap { if case .heading(let heading) = $0 { heading } else { nil } }.first)
  }

  /// What must not give a heading.
  private func nothing(_ content: String) {
    #expect(Stream.headings(Stream.sentence(content)).isEmpty, "\(content)")
  }

  // 1: ArduPilot's log of a UM982. 2: a receiver that ends the sentence with a CRC-32 (height 83.6 m, both qualities 3).
  @Test("KSXT: heading and pitch where the heading's carrier phases are fixed, with either check")
  func ksxt() throws {
    let first = try heading(
      "$KSXT,20211016083433.00,116.31296102,39.95817066,49.4911,223.57,-11.32,330.19,0.024,,1,3,28,27,,,,"
        + "-0.012,0.021,0.020,,*2D")
    #expect(first.trueHeading == 223.57 && first.pitch == -11.32 && first.roll == nil)
    #expect(first.accuracy == nil)
    let second = try heading(
      "$KSXT,20201222075720.00,119.17084152,32.07387900,83.5770,269.94,1.19,207.28,0.001,,3,3,25,25,"
        + "-3.617,-4.468,-7.860,-0.000,-0.001,-0.022,1.0,56,*33736701")
    #expect(second.trueHeading == 269.94 && second.pitch == 1.19)
    // A roll stands behind the speed.
    #expect(
      try heading(
        framed("KSXT,20261009001935.90,-87.2,32.6,57.7,20.54,-1.00,140.70,0.006,0.25,3,3,27,31")
      ).roll == 0.25)
    let line = "KSXT,20211016083433.00,116.3,39.9,49.4,223.57,-11.32,330.19,0.024,,3,"
    for quality in ["0", "1", "2", "", "4", "33"] { nothing(line + quality + ",28,27") }
    for heading in ["", "361", "-1", "x"] {
      nothing("KSXT,20211016083433.00,1,2,3,\(heading),0,0,0,,3,3,28,27")
    }
    nothing("KSXT,20211016083433.00")
  }

  private func framed(_ content: String) -> String {
    String(decoding: Stream.sentence(content).dropLast(2), as: UTF8.self)
  }

  // Trimble's R7/R8 and SPSx51 user guides (the first), its OEM receiver help (the second), and a BD982's log (the third).
  @Test(
    "PTNL,AVR: yaw and tilt of a moving baseline with fixed carrier phases",
    arguments: [
      ("$PTNL,AVR,181059.6,+149.4688,Yaw,+0.0134,Tilt,,,60.191,3,2.5,6*00", 149.4688, 0.0134),
      (
        "$PTNL,AVR,212405.20,+52.1531,Yaw,-0.0806,Tilt,,,12.575,3,1.4,16*39", 52.1531, -0.0806
      ),
      ("$PTNL,AVR,094922.70,+269.0761,Yaw,+2.7909,Tilt,,,3.767,3,5.6,04*3D", 269.0761, 2.7909),
    ])
  func avr(line: String, yaw: Double, tilt: Double) throws {
    let said = try heading(line)
    #expect(said.trueHeading == yaw && said.pitch == tilt && said.roll == nil)
  }

  @Test("PTNL,AVR: a roll where it is given; nothing of a float, of one antenna, of another PTNL")
  func avrLimits() throws {
    #expect(
      try heading(
        "$PTNL,AVR,145331.50,+35.9990,Yaw,-7.8209,Tilt,-0.4305,Roll,444.232,3,1.2,17*03"
      ).roll == -0.4305)
    for quality in ["0", "1", "2", "4", ""] {
      nothing("PTNL,AVR,181059.6,+149.4688,Yaw,+0.0134,Tilt,,,60.191,\(quality),2.5,6")
    }
    nothing("PTNL,GGK,181059.6,+149.4688,Yaw,+0.0134,Tilt,,,60.191,3,2.5,6")
    nothing("PTNL,AVR,181059.6,,Yaw,,Tilt,,,,3,2.5,6")
    nothing("PTNL,AVR,25,+149.4688,Yaw,+0.0134,Tilt,,,60.191,3,2.5,6")
    nothing("PTNL")
  }

  // Marine API's test of SkyTraq's sentence, published without its sum.
  @Test("PSTI,036: a fixed solution alone")
  func skyTraq() throws {
    let said = try heading(framed("PSTI,036,054314.000,030521,191.69,-16.35,0.00,R"))
    #expect(said.trueHeading == 191.69 && said.pitch == -16.35 && said.roll == 0)
    // Of a PX1172RH, in gpsd's log of it.
    let heard = try heading("$PSTI,036,003832.000,290322,244.28,2.77,0.00,R*5D")
    #expect(heard.trueHeading == 244.28 && heard.pitch == 2.77 && heard.roll == 0)
    for mode in ["F", "N", "A", "D", ""] {
      nothing("PSTI,036,054314.000,030521,191.69,-16.35,0.00,\(mode)")
    }
    nothing("PSTI,032,054314.000,030521,191.69,-16.35,0.00,R")
    nothing("PSTI,036,054314.000,030521,,,,R")
  }

  // Unicore's protocol manual (the first), logs of a UM982 (the others).
  @Test(
    "HPR: heading, pitch and roll of a fixed solution, from any talker",
    arguments: [
      ("$GNHPR,081212.00,341.48,-00.64,000.00,4,46,0.00,0999*4F", 341.48, -0.64),
      ("$GNHPR,074615.00,320.9610,-66.1712,000.0000,4,47,0.00,0999*45", 320.961, -66.1712),
      ("$GNHPR,155812.60,291.4968,000.7811,000.0000,4,20,0.00,0999*58", 291.4968, 0.7811),
    ])
  func hpr(line: String, yaw: Double, pitch: Double) throws {
    let said = try heading(line)
    #expect(said.trueHeading == yaw && said.pitch == pitch && said.roll == 0)
    #expect(said.accuracy == nil)
  }

  @Test("HPR: nothing of any other quality, and nothing of what is no angle")
  func hprLimits() {
    for quality in ["0", "1", "2", "3", "5", "6", "", "44"] {
      nothing("GPHPR,081212.00,341.48,-00.64,000.00,\(quality),46,0.00,0999")
    }
    nothing("GNHPR,081212.00,,,,4,46,0.00,0999")
    nothing("GNHPR,081212.00,360.01,0,0,4,46,0.00,0999")
    nothing("GNHPR,996000,341.48,0,0,4,46,0.00,0999")
    nothing("GNHPR")
    nothing("PAHPR,081212.00,341.48,-00.64,000.00,4,46,0.00,0999")
  }

  // The order of the fields, and the quality (0 is no fix), are those of Trimble's OEM receiver help.
  @Test("PASHR: a heading with any fix but 0, from true north alone")
  func pashr() throws {
    let said = try heading(
      framed("PASHR,164100.190,138.24,T,+32.56,+48.49,+00.00,3.141,3.142,35.000,1,0"))
    #expect(said.trueHeading == 138.24 && said.roll == 32.56 && said.pitch == 48.49)
    #expect(said.rollAccuracy == 3.141 && said.pitchAccuracy == 3.142 && said.accuracy == 35)
    let line = "PASHR,204132.000,010.51,T,+00.39,-00.79,-00.84,0.151,0.075,0.555"
    for end in [",0,0", ",,0", ""] { nothing(line + end) }
    nothing("PASHR,204132.000,010.51,M,+00.39,-00.79,-00.84,0.151,0.075,0.555,1,0")
    nothing("PASHR,ATT,88536.0,345.9640,0.0390,-0.9052,0.0024,0.0144,0")
    // What is no angle is left out, and so is what is no accuracy.
    let odd = try heading(
      framed("PASHR,204132.000,010.51,T,+200.0,-90.5,-00.84,0,-1,180,4,0"))
    #expect(odd.trueHeading == 10.51 && odd.roll == nil && odd.pitch == nil)
    #expect(odd.accuracy == nil && odd.rollAccuracy == nil && odd.pitchAccuracy == nil)
  }

  // Logs of an LG69T or LC02H each, published with programs that read them.
  @Test("PQTMTAR: heading, pitch, roll and their accuracies of a fixed solution")
  func tar() throws {
    let level = try heading(
      "$PQTMTAR,1,012007.800,4,,1.270,-0.389622,,224.738703,0.228066,,0.072529,45*45")
    #expect(level.trueHeading == 224.738703 && level.pitch == -0.389622 && level.roll == nil)
    #expect(level.accuracy == 0.072529 && level.pitchAccuracy == 0.228066)
    #expect(level.rollAccuracy == nil)
    let tilted = try heading(
      "$PQTMTAR,1,165331.000,4,,0.232,2.321340,-6.849396,80.410065,0.081330,0.045079,0.054334,00*70"
    )
    #expect(tilted.trueHeading == 80.410065 && tilted.pitch == 2.32134 && tilted.roll == -6.849396)
    #expect(tilted.rollAccuracy == 0.045079 && tilted.accuracy == 0.054334)
    // A float, dead reckoning, and no solution.
    for line in [
      "$PQTMTAR,1,142700.000,5,,1.866,-20.043530,,287.599513,24.200729,,25.510031,23*7B",
      "$PQTMTAR,1,124907.000,6,,1.729,-1.316205,-0.713165,84.344437,0.146003,0.296450,0.045169,00*55",
      "$PQTMTAR,1,010709.000,0,,0.000,1.985139,-0.924438,,0.003247,0.003242,,00*47",
      "$PQTMTAR,1,160443.350,1,,0.000,,,,,,,23*6C",
    ] {
      var decoder = GNSSDecoder()
      #expect(Stream.events(Array("\(line)\r\n".utf8), by: &decoder) == [.message])
      #expect(decoder.counters.badChecksums == 0, "\(line)")
    }
    nothing("PQTMTAR,2,012007.800,4,,1.270,-0.389622,,224.738703,0.228066,,0.072529,45")
    nothing("PQTMTAR,1,012007.800,4,,1.270,-0.389622,,360.5,0.228066,,0.072529,45")
    nothing("PQTMTAR")
  }

  // PX4's driver (the first) and pynmea2's tests (the second): north, east and down, then the lengths of both and of all.
  @Test("PQTMEPE: expected errors of the epoch that it stands in")
  func epe() throws {
    let rmc = Stream.rmc("101010.000")
    func fix(_ line: String) throws -> GNSSFix {
      try #require(
        Stream.fixes(rmc + Array("\(line)\r\n".utf8), endsByRule: false).first)
    }
    let first = try fix("$PQTMEPE,2,1.6247,1.6247,4.0980,2.2977,4.6982*69")
    #expect(abs(try #require(first.verticalAccuracy) - 4.098) < 1e-9)
    let second = try fix("$PQTMEPE,2,3.393,3.476,12.713,4.857,13.609*5D")
    #expect(abs(try #require(second.verticalAccuracy) - 12.713) < 1e-9)
    let ratio =
      try #require(second.horizontalAccuracy) / (try #require(first.horizontalAccuracy))
    #expect(abs(ratio - 4.857 / 2.2977) < 0.01)
    for content in ["PQTMEPE,1,1,1,1,1,1", "PQTMEPE,2,-1,1,-1,1,1", "PQTMEPE,2,,,,,", "PQTMEPE"] {
      let bare = try fix(framed(content))
      #expect(bare.verticalAccuracy == nil && bare.horizontalAccuracy == nil, "\(content)")
    }
  }
}
