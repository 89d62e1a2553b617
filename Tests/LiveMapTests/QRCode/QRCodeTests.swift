@testable import LiveMap
import Testing

@Suite struct QRCodeTests {
  @Test("a code is the one of another encoder, its mask too", arguments: QRVector.all)
  func otherEncoder(vector: QRVector) throws {
    let code = try #require(QRCode(Array(vector.text.utf8), level: vector.level))
    #expect(code.version == vector.version && code.mask == vector.mask)
    #expect(code.size == vector.rows.count)
    for (row, bits) in vector.rows.enumerated() {
      for column in 0..<code.size {
        let isDark = bits >> UInt64(code.size - 1 - column) & 1 == 1
        #expect(code.isDark(row: row, column: column) == isDark, "\(row), \(column)")
      }
    }
  }

  @Test("the example of ISO/IEC 18004, annex I")
  func correction() {
    let data: [UInt8] = [
      0x10, 0x20, 0x0C, 0x56, 0x61, 0x80, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC,
      0x11,
    ]
    #expect(
      QRCodewords.correction(of: data, count: 10) == [
        0xA5, 0x24, 0xD4, 0xC1, 0xED, 0x36, 0xC7, 0x87, 0x2C, 0x55,
      ])
  }

  @Test("format and version as ISO/IEC 18004 works them out in annexes C and D")
  func information() {
    #expect(QRLayout(version: 1, level: .medium).formatBits(mask: 5) == 0b100_0000_1100_1110)
    #expect(QRLayout(version: 7, level: .low).versionBits == 0b00_0111_1100_1001_0100)
    #expect(QRLayout(version: 6, level: .low).versionBits == nil)
  }

  @Test("the capacities of ISO/IEC 18004, table 7, in byte mode")
  func capacities() throws {
    let low = [17, 32, 53, 78, 106, 134, 154, 192, 230, 271]
    let medium = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213]
    for (level, counts) in [(ErrorCorrectionLevel.low, low), (.medium, medium)] {
      for (index, count) in counts.enumerated() {
        let bytes = [UInt8](repeating: 0x61, count: count + 1)
        #expect(QRCode(Array(bytes.dropLast()), level: level)?.version == index + 1)
        #expect(QRCode(bytes, level: level)?.version == (index < 9 ? index + 2 : nil))
      }
    }
  }

  @Test("every mask is another code, and the one with the least penalty is taken")
  func masks() throws {
    let bytes = Array("http://127.0.0.1:8080/".utf8)
    let codes = try (0..<8).map { try #require(QRCode(bytes, mask: $0)) }
    for (index, code) in codes.enumerated() {
      #expect(code.mask == index)
      #expect(!codes[..<index].contains(code))
    }
    let chosen = try #require(QRCode(bytes))
    #expect(codes.contains(chosen))
  }

  @Test("text has two modules in a character, and a quiet zone of four")
  func text() throws {
    let code = try #require(QRCode(Array("lodestone".utf8)))
    let lines = QRText.lines(of: code, isColoured: false)
    #expect(QRText.width(of: code) == 29)
    #expect(lines.count == 15 && lines.allSatisfy { $0.count == 29 })
    func isDark(_ row: Int, _ column: Int) -> Bool {
      let characters = Array(lines[(row + 4) / 2])
      let dark: String = (row + 4) % 2 == 0 ? " \u{2584}" : " \u{2580}"
      return dark.contains(characters[column + 4])
    }
    for row in -4..<25 {
      for column in -4..<25 {
        #expect(isDark(row, column) == code.isDark(row: row, column: column))
      }
    }
    let coloured = QRText.lines(of: code, isColoured: true)
    #expect(coloured == lines.map { "\u{1B}[97;40m\($0)\u{1B}[0m" })
  }
}
