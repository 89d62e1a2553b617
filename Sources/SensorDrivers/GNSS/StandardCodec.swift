// The languages of receivers as `GNSSProtocol` knows them.

import GNSSProtocol
public import SensorBus
import SensorTypes

/// NMEA and UBX in, UBX configuration out.
struct StandardCodec: ReceiverCodec {
  private var decoder = GNSSDecoder()

  var room: Int { decoder.room }

  mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Timestamp) {
    decoder.append(bytes, at: time)
  }

  mutating func next(at now: Timestamp) -> ReceiverEvent? {
    switch decoder.next(at: now) {
    case nil: nil
    // What is not used of a receiver yet still says that it is there.
    case .message, .heading, .sky, .identity: .message
    case .epoch(let fix, let isPVT): .epoch(fix, isPVT: isPVT)
    case .answer(let accepted, _, _): .answer(accepted: accepted)
    }
  }

  func messages(
    setting item: ReceiverSetup.Item, in dialect: ReceiverSetup.Dialect, port: ReceiverPort,
    rate: Double
  ) -> [[UInt8]] {
    let place: UBXMessages.Port = port == .ddc ? .ddc : .uart1
    let milliseconds = UInt16(min(60_000, max(25, (1_000 / rate).rounded())))
    switch (item, dialect) {
    case (.enablePVT, .keys): return [UBXMessages.enablePVT(on: place)]
    case (.disableNMEA, .keys): return [UBXMessages.disableNMEA(on: place)]
    case (.rate, .keys): return [UBXMessages.rate(milliseconds: milliseconds)]
    case (.enablePVT, .messages):
      return [UBXMessages.messageRate(messageClass: 0x01, id: 0x07, every: 1)]
    case (.disableNMEA, .messages):
      return UBXMessages.defaultSentences.map {
        UBXMessages.messageRate(messageClass: 0xF0, id: $0, every: 0)
      }
    case (.rate, .messages): return [UBXMessages.legacyRate(milliseconds: milliseconds)]
    }
  }
}

extension GNSSReceiver {
  /// A receiver on a serial line, or a u-blox receiver's I2C port.
  ///
  /// - Parameters:
  ///   - stream: Open and read by nobody else.
  ///   - outputRate: Wanted epochs a second.
  ///   - isConfigurable: Whether it may be configured (u-blox); else it is only read.
  ///   - baudRate: The rate at which `stream` is open; `nil` for I2C.
  ///   - searchesBaudRate: Whether other rates may be tried when nothing is understood.
  public convenience init(
    _ stream: any ByteStream, outputRate: Double, isConfigurable: Bool, baudRate: Int?,
    searchesBaudRate: Bool
  ) {
    self.init(
      stream, codec: StandardCodec(), port: baudRate == nil ? .ddc : .uart, outputRate: outputRate,
      setup: ReceiverSetup(
        isConfigurable: isConfigurable, baudRate: baudRate, searchesBaudRate: searchesBaudRate))
  }
}
