// A u-blox receiver's I2C port as a byte stream.

import SensorBus
import SensorDrivers
import Testing

@Suite struct UBloxDDCStreamTests {
  func read(_ stream: some ByteStream, _ capacity: Int) throws(BusError) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
    defer { buffer.deallocate() }
    let count = try stream.read(into: buffer)
    return Array(buffer[..<count])
  }

  func write(_ stream: some ByteStream, _ bytes: [UInt8]) throws(BusError) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    try stream.write(UnsafeRawBufferPointer(copy))
  }

  @Test("what waits is read, high byte of the count first")
  func reads() throws {
    let device = ScriptedDevice([
      .read(0xFD, [0x00, 0x03]), .read(0xFF, [0xB5, 0x62, 0xFF]), .read(0xFD, [0x00, 0x00]),
    ])
    let stream = UBloxDDCStream(device)
    // A 0xFF inside or at the end of what was announced is data.
    #expect(try read(stream, 100) == [0xB5, 0x62, 0xFF])
    #expect(try read(stream, 100) == [])
    device.expectDone()
  }

  @Test("long answers come in chunks of at most 255, and never more than the buffer holds")
  func chunks() throws {
    let chunk = [UInt8](repeating: 1, count: 255)
    let device = ScriptedDevice([
      .read(0xFD, [0x02, 0x58]), .read(0xFF, chunk), .read(0xFF, chunk),
      .read(0xFF, [UInt8](repeating: 2, count: 90)),
      .read(0xFD, [0x02, 0x58]), .read(0xFF, [UInt8](repeating: 3, count: 10)),
    ])
    let stream = UBloxDDCStream(device)
    #expect(try read(stream, 1024).count == 600)
    #expect(try read(stream, 10) == [UInt8](repeating: 3, count: 10))
    #expect(try read(stream, 0) == [])
    device.expectDone()
  }

  @Test("a count with a flipped top bit is not believed; ten in a row are a broken port")
  func implausible() throws {
    let device = ScriptedDevice([.read(0xFD, [0x80, 0x20])])
    let stream = UBloxDDCStream(device)
    #expect(try read(stream, 100) == [])
    #expect(stream.implausibleCounts == 1)
    // A good one in between starts the count anew.
    device.then([.read(0xFD, [0x00, 0x00])])
    #expect(try read(stream, 100) == [])
    device.then([Transfer](repeating: .read(0xFD, [0xFF, 0xFF]), count: 10))
    for _ in 0..<9 { #expect(try read(stream, 100) == []) }
    #expect(throws: BusError(.disconnected, bus: "i2c", address: 0x42, register: 0xFD)) {
      try read(stream, 100)
    }
    device.expectDone()
  }

  @Test("a chunk of padding is dropped and ends the reading")
  func padding() throws {
    let device = ScriptedDevice([
      .read(0xFD, [0x01, 0x10]), .read(0xFF, [UInt8](repeating: 0xFF, count: 255)),
    ])
    let stream = UBloxDDCStream(device)
    #expect(try read(stream, 1024) == [])
    #expect(stream.emptyChunks == 1)
    device.expectDone()
  }

  @Test("an error after the first chunk does not lose the first chunk")
  func partial() throws {
    let chunk = [UInt8](repeating: 1, count: 255)
    let device = ScriptedDevice([
      .read(0xFD, [0x01, 0x10]), .read(0xFF, chunk), .readFails(0xFF, 17, .timedOut),
      .readFails(0xFD, 2, .noAnswer),
    ])
    let stream = UBloxDDCStream(device)
    #expect(try read(stream, 1024).count == 255)
    #expect(throws: device.error(.noAnswer, 0xFD)) { try read(stream, 1024) }
    device.expectDone()
  }

  @Test("a message goes out as it is, its first byte where others have a register")
  func writes() throws {
    let device = ScriptedDevice([.write(0xB5, [0x62, 0x06])])
    let stream = UBloxDDCStream(device)
    try write(stream, [0xB5, 0x62, 0x06])
    #expect(stream.messagesWritten == 1)
    #expect(stream.readiness == .never)
    device.expectDone()
    #expect(
      throws: BusError(
        .unsupported("a message of fewer than 2 bytes"), bus: "i2c", address: 0x42)
    ) { try write(stream, [0xB5]) }
  }

  @Test(
    "a long message goes in pieces, none of a single byte", arguments: [255, 256, 257, 510, 511])
  func longMessages(length: Int) throws {
    let message = (0..<length).map { UInt8($0 % 251) }
    let cuts: [Int] =
      switch length {
      case 255: [255]
      case 256: [254, 256]
      case 257: [255, 257]
      case 510: [255, 510]
      default: [255, 509, 511]
      }
    var script: [Transfer] = []
    var begin = 0
    for end in cuts {
      script.append(.write(message[begin], Array(message[begin + 1..<end])))
      begin = end
    }
    let device = ScriptedDevice(script)
    let stream = UBloxDDCStream(device)
    try write(stream, message)
    #expect(stream.messagesWritten == 1)
    device.expectDone()
  }
}
