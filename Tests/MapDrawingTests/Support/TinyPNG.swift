import Foundation

/// Pictures of a few colours, and what colours a picture has: PNG (ISO/IEC 15948) without a library, so that what draws
/// and what looks are two.
enum TinyPNG {
  typealias Pixel = SIMD4<UInt8>

  /// A picture, not compressed.
  static func encoded(width: Int, height: Int, _ pixel: (Int, Int) -> Pixel) -> [UInt8] {
    var rows: [UInt8] = []
    for y in 0..<height {
      rows.append(0)
      for x in 0..<width {
        let value = pixel(x, y)
        rows += [value.x, value.y, value.z, value.w]
      }
    }
    var stream: [UInt8] = [0x78, 0x01]
    var rest = rows[...]
    while !rest.isEmpty {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      let count = UInt16(block.count)
      stream += [rest.isEmpty ? 1 : 0, UInt8(count & 255), UInt8(count >> 8)]
      stream += [UInt8(~count & 255), UInt8(~count >> 8)] + block
    }
    var (a, b) = (UInt32(1), UInt32(0))
    for byte in rows {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    stream += bytes(b << 16 | a)
    let head = bytes(UInt32(width)) + bytes(UInt32(height)) + [8, 6, 0, 0, 0]
    return signature + chunk("IHDR", head) + chunk("IDAT", stream) + chunk("IEND", [])
  }

  /// A square of one colour.
  static func plain(_ pixel: Pixel, side: Int = 16) -> [UInt8] {
    encoded(width: side, height: side) { _, _ in pixel }
  }

  struct Picture {
    let width: Int
    let height: Int
    let channels: Int
    let bytes: [UInt8]

    /// The colour at a place, as long as that is in the picture.
    subscript(x: Int, y: Int) -> Pixel {
      let start = (y * width + x) * channels
      return Pixel(
        bytes[start], bytes[start + 1], bytes[start + 2], channels == 4 ? bytes[start + 3] : 255)
    }
  }

  /// A picture of 8 bits a channel that is not interlaced; nil for others.
  static func decoded(_ file: [UInt8]) -> Picture? {
    guard file.starts(with: signature) else { return nil }
    var (width, height, channels) = (0, 0, 0)
    var stream: [UInt8] = []
    var place = 8
    while place + 12 <= file.count {
      let count = file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      let name = String(decoding: file[place + 4..<place + 8], as: UTF8.self)
      guard place + 12 + count <= file.count else { return nil }
      let body = Array(file[place + 8..<place + 8 + count])
      if name == "IHDR" {
        width = body[0..<4].reduce(0) { $0 << 8 | Int($1) }
        height = body[4..<8].reduce(0) { $0 << 8 | Int($1) }
        guard body[8] == 8, body[9] == 2 || body[9] == 6, body[12] == 0 else { return nil }
        channels = body[9] == 6 ? 4 : 3
      }
      if name == "IDAT" { stream += body }
      place += 12 + count
    }
    guard var inflation = Inflation(stream.dropFirst(2)), let rows = inflation.run(),
      rows.count == height * (width * channels + 1)
    else { return nil }
    return Picture(
      width: width, height: height, channels: channels,
      bytes: unfiltered(rows, width * channels, height, channels))
  }

  private static func unfiltered(
    _ rows: [UInt8], _ length: Int, _ height: Int, _ step: Int
  ) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: length * height)
    for y in 0..<height {
      let filter = rows[y * (length + 1)]
      for x in 0..<length {
        let value = rows[y * (length + 1) + 1 + x]
        let left = x >= step ? Int(result[y * length + x - step]) : 0
        let up = y > 0 ? Int(result[(y - 1) * length + x]) : 0
        let corner = x >= step && y > 0 ? Int(result[(y - 1) * length + x - step]) : 0
        let guess: Int
        switch filter {
        case 1: guess = left
        case 2: guess = up
        case 3: guess = (left + up) / 2
        case 4:
          let sum = left + up - corner
          let (a, b, c) = (abs(sum - left), abs(sum - up), abs(sum - corner))
          guess = a <= b && a <= c ? left : (b <= c ? up : corner)
        default: guess = 0
        }
        result[y * length + x] = value &+ UInt8(guess)
      }
    }
    return result
  }

  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  private static func bytes(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(value >> UInt32($0) & 255) }
  }

  private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    let checked = Array(name.utf8) + body
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in checked {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return bytes(UInt32(body.count)) + checked + bytes(~crc)
  }
}
