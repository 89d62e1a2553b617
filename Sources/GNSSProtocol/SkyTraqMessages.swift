// Messages of SkyTraq's receivers: Venus 6 and 8, and Phoenix (PX1122R, PX1172RH).
//
// Sources: application notes AN0028 (Venus 8) and AN0037 (Phoenix), "Binary Messages", as the maker's own command-line tool for
// AN0037 v1.4.69 and gpsd's list of AN0028 v1.4.42 have them; the maker's GNSS Viewer (PSTI intervals, navigation modes);
// exchanges with a Venus 8 that were captured (the answers to 0x02 and 0x64/0x02).

public import SensorTypes

/// Builds the messages that configure a SkyTraq receiver. All of them set the working memory and not the flash: what was set is
/// forgotten at the next power-up.
public enum SkyTraqMessages {
  /// Frames a payload, which begins with the identifier of the message.
  public static func frame(_ payload: [UInt8]) -> [UInt8] {
    [
      SkyTraqFrame.first, SkyTraqFrame.second, UInt8(truncatingIfNeeded: payload.count >> 8),
      UInt8(truncatingIfNeeded: payload.count),
    ] + payload + [payload.reduce(0, ^), 0x0D, 0x0A]
  }

  /// The question for the version of the software (0x02): any receiver of SkyTraq answers it.
  public static let identityQuestion = frame([0x02, 0x01])

  /// NMEA, and not the binary messages (0x09).
  public static let useNMEA = frame([0x09, 0x01, 0x00])

  /// RMC, GGA, GSA and GST with every position, GSV with every fifth (0x64/0x02). The intervals are of GGA, GSA, GSV, GLL, RMC,
  /// VTG, ZDA, GNS, GBS, GRS, DTM and GST. The application note gives them in seconds, which is right at one position a second; users
  /// report that a receiver set to 10 Hz sends sentences of interval 1 ten times a second.
  public static let sentences = frame([
    0x64, 0x02, 1, 1, 5, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0x00,
  ])

  /// The same without GST, by the message of older software (0x08).
  public static let basicSentences = frame([0x08, 1, 1, 5, 0, 1, 0, 0, 0x00])

  /// `PSTI,036`, the heading of a rover whose base moves with it, with every position (0x64/0x21).
  public static let heading = frame([0x64, 0x21, 36, 1, 0x00])

  /// How the carrier moves (0x64/0x17): auto, pedestrian, car, marine, balloon, airborne; `nil` for a carrier that stands still, for
  /// which there is no mode.
  public static func dynamicModel(_ model: DynamicModel) -> [UInt8]? {
    let mode: UInt8
    switch model {
    case .portable: mode = 0
    case .pedestrian: mode = 1
    case .automotive: mode = 2
    case .sea: mode = 3
    case .airborne: mode = 5
    case .stationary: return nil
    }
    return frame([0x64, 0x17, mode, 0x00])
  }

  /// Positions a second (0x0E); `nil` for an interval that the message does not have.
  public static func rate(milliseconds: Int) -> [UInt8]? {
    [1, 2, 4, 5, 8, 10, 20, 25, 40, 50].first { Int($0) * milliseconds == 1_000 }
      .map { frame([0x0E, $0, 0x00]) }
  }

  /// The rate of the first serial port, bits per second (0x05); `nil` for one that it has not.
  public static func baudRate(_ rate: Int) -> [UInt8]? {
    [4_800, 9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600].firstIndex(of: rate)
      .map { frame([0x05, 0x00, UInt8($0), 0x00]) }
  }
}

/// Reads what SkyTraq's receivers say of themselves and of commands.
enum SkyTraqDecoder {
  /// What a message said; `nil` for one that is not read.
  static func notice(
    _ bytes: UnsafeBufferPointer<UInt8>, into identity: inout ReceiverIdentity
  ) -> ReceiverNotice? {
    switch bytes[0] {
    // ACK and NACK: the command, and its sub-identifier where it has one.
    case 0x83...0x84 where bytes.count >= 2:
      let command = Int(bytes[1]) << 8 | (bytes.count > 2 ? Int(bytes[2]) : 0)
      return .answer(
        ReceiverAnswer(.skyTraq, command, bytes[0] == 0x83 ? .accepted : .refused))
    // Kernel, software and revision, each of four bytes. The first byte is not used.
    case 0x80 where bytes.count >= 14:
      func version(_ offset: Int) -> String {
        "\(bytes[offset]).\(bytes[offset + 1]).\(bytes[offset + 2])"
      }
      var found = ReceiverIdentity()
      found.family = .skyTraq
      found.software = "\(version(3))-\(version(7)), revision \(version(11))"
      identity = found
      return .identity
    default: return nil
    }
  }
}
