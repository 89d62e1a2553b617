import Foundation
import Testing

@testable import LinuxIO

/// Whose datagrams are read, and how they are joined to lines.
struct SenderChoiceTests {
  /// A choice that an expectation may change.
  private final class Chooser {
    private(set) var choice = SenderChoice()
    func takes(_ sender: DatagramSender, hasPosition: Bool, at time: Int64) -> Bool {
      choice.takes(sender, hasPosition: hasPosition, at: time)
    }
  }

  private static let second: Int64 = 1_000_000_000
  private let gps = DatagramSender(high: 0, low: 1, port: 1_000)
  private let ais = DatagramSender(high: 0, low: 2, port: 1_000)

  @Test("one sender is followed until it has been silent for five seconds")
  func follows() {
    let chooser = Chooser()
    let plotter = DatagramSender(high: 0, low: 3, port: 1_000)
    for second in 0..<10 {
      let time = Int64(second) * Self.second
      #expect(chooser.takes(gps, hasPosition: true, at: time))
      #expect(!chooser.takes(plotter, hasPosition: true, at: time + 1))
    }
    #expect(chooser.choice.ignored == 10 && chooser.choice.followed == gps)
    #expect(!chooser.takes(plotter, hasPosition: true, at: 13 * Self.second))
    #expect(chooser.takes(plotter, hasPosition: true, at: 14 * Self.second))
    #expect(!chooser.takes(gps, hasPosition: true, at: 15 * Self.second))
    #expect(chooser.choice.followed == plotter && chooser.choice.ignored == 12)
  }

  @Test("one that gives positions takes the place of one that gives none, and keeps it")
  func positions() {
    let chooser = Chooser()
    #expect(chooser.takes(ais, hasPosition: false, at: 0))
    #expect(chooser.takes(gps, hasPosition: true, at: 1))
    #expect(!chooser.takes(ais, hasPosition: false, at: 2))
    // A datagram without one is not the end of it.
    #expect(chooser.takes(gps, hasPosition: false, at: 3))
    #expect(!chooser.takes(ais, hasPosition: true, at: 4))
  }

  @Test("a sender with another port for every datagram is one; two programs of one machine are two")
  func ports() {
    func sender(_ port: UInt16) -> DatagramSender { DatagramSender(high: 7, low: 7, port: port) }
    let chooser = Chooser()
    for port in 1...200 {
      #expect(
        chooser.takes(sender(UInt16(port)), hasPosition: true, at: Int64(port) * Self.second / 10))
    }
    #expect(chooser.choice.ignored == 0)
    let two = Chooser()
    var taken: [UInt16] = []
    for index in 0..<20 {
      let port = UInt16(index % 2 + 1)
      if two.takes(sender(port), hasPosition: true, at: Int64(index) * Self.second / 4) {
        taken.append(port)
      }
    }
    // Each was heard once, then one of them is followed.
    #expect(Set(taken.dropFirst(2)).count == 1 && taken.count == 11, "\(taken)")
  }

  @Test("strangers without number cost a bounded table, and not the one that is followed")
  func flood() {
    let chooser = Chooser()
    _ = chooser.takes(gps, hasPosition: true, at: 0)
    for stranger in 0..<10_000 {
      let sender = DatagramSender(high: 9, low: UInt64(stranger), port: 9)
      #expect(!chooser.takes(sender, hasPosition: true, at: Int64(stranger) * 1_000))
    }
    #expect(
      chooser.takes(gps, hasPosition: true, at: Self.second) && chooser.choice.ignored == 10_000)
  }
}

/// The text of datagrams.
struct DatagramTextTests {
  private static let gga = "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47"
  private static let ais = "!AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0*24"

  /// The stream that comes of datagrams, as `DatagramStream` puts it together.
  private func joined(_ datagrams: [String]) -> String {
    var text = DatagramText()
    var stream = ""
    for datagram in datagrams {
      let bytes = Array(datagram.utf8)
      guard let piece = bytes.withUnsafeBytes({ text.take($0) }) else { continue }
      stream += piece.endsLineBefore ? "|" : ""
      stream += String(decoding: bytes[piece.range], as: UTF8.self)
      stream += piece.endsLineBehind ? "|" : ""
    }
    return stream
  }

  @Test("whole sentences, several a datagram, and halves are joined as they come")
  func whole() {
    let (gga, ais) = (Self.gga + "\r\n", Self.ais + "\r\n")
    #expect(joined([gga, ais + gga]) == gga + ais + gga)
    // As socat cuts a serial line.
    for cut in 1..<gga.utf8.count {
      let (head, tail) = (String(gga.prefix(cut)), String(gga.dropFirst(cut)))
      let stream = joined([head, tail]).replacingOccurrences(of: "|", with: "")
      #expect(stream == gga, "\(cut)")
    }
  }

  @Test("a sentence without a line end is ended, behind it or by the next beginning")
  func ends() {
    #expect(joined([Self.gga, Self.gga]) == "\(Self.gga)|\(Self.gga)|")
    #expect(joined(["$GPGGA,1", Self.ais]) == "$GPGGA,1|\(Self.ais)|")
    #expect(joined(["$GPGGA,1", "\\s:x*00\\$GP"]) == "$GPGGA,1|\\s:x*00\\$GP")
    // Half a sentence that goes on is not ended, and what is no sentence neither.
    #expect(joined(["$GPGGA,1", "23,*4", "7"]) == "$GPGGA,123,*47")
    #expect(joined(["\u{1}*47", "x"]) == "\u{1}*47x")
  }

  @Test("the header of IEC 61162-450 is taken off, and datagrams of other content are none")
  func headers() {
    let line = "\\s:GP0001,n:1*00\\" + Self.gga + "\r\n"
    #expect(joined(["UdPbC\0" + line, "UdPbC\0" + line]) == line + line)
    #expect(joined(["UdPbC\0", "RaUdP\0" + line, "RrUdP\0x", "NkPgN\0x", ""]) == "")
    #expect(joined(["$GPGGA,1", "UdPbC\0" + line]) == "$GPGGA,1|" + line)
  }

  @Test("a position is known by its sentence, of any talker")
  func positions() {
    func has(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes(DatagramText.hasPosition) }
    #expect(has(Self.gga) && has(Self.ais + "\r\n$GNRMC,") && has("$IIGLL,") && has("$GNGNS,1"))
    #expect(
      !has(Self.ais) && !has("$HCHDG,101.1") && !has("$GPGGA") && !has("") && !has("$GPGGAX,"))
    let pvt: [UInt8] = [0xB5, 0x62, 0x01, 0x07, 0x5C, 0x00, 0x00]
    #expect(pvt.withUnsafeBytes(DatagramText.hasPosition))
  }
}
