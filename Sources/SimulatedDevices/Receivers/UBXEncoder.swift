// UBX messages of an epoch, and the receiver's answers.

import LinearAlgebra

extension MessageBuilder {
  /// UBX-NAV-PVT, 92 bytes (UBX-13003221, UBX-NAV-PVT), or 84 of a u-blox 7 (GPS.G7-SW-12001).
  mutating func writePVT(_ s: ReceiverSolution, length: Int = 92) {
    beginUBX(0x01, 0x07)
    append(Int64(s.time.timeOfWeek), bytes: 4)
    append(Int64(s.knowsTime ? s.time.year : 2015), bytes: 2)
    append(Int64(s.knowsTime ? s.time.month : 10), bytes: 1)
    append(Int64(s.knowsTime ? s.time.day : 18), bytes: 1)
    append(Int64(s.time.hour), bytes: 1)
    append(Int64(s.time.minute), bytes: 1)
    append(Int64(s.time.second), bytes: 1)
    // validDate, validTime, fullyResolved.
    append(s.knowsTime ? 0x07 : 0x00, bytes: 1)
    append(s.knowsTime ? 25 : 0xFFFF_FFFF, bytes: 4)
    append(Int64(s.time.millisecond) * 1_000_000, bytes: 4)
    // fixType 3D, or 5 for time alone; flags gnssFixOK, diffSoln, carrSoln (UBX-21022436); flags2 confirmed date and time.
    append(s.hasFix ? s.isAtFixedPlace ? 5 : 3 : 0, bytes: 1)
    let carrier = Int64(s.corrections.carrier)
    append(s.hasFix ? 1 | (carrier > 0 ? 2 : 0) | carrier << 6 : 0, bytes: 1)
    append(s.knowsTime ? 0xE0 : 0x20, bytes: 1)
    append(Int64(s.satellites), bytes: 1)
    append(rounded(s.hasFix ? s.longitude * 1e7 : 0), bytes: 4)
    append(rounded(s.hasFix ? s.latitude * 1e7 : 0), bytes: 4)
    append(rounded(s.hasFix ? (s.altitude + s.geoidSeparation) * 1000 : 0), bytes: 4)
    append(rounded(s.hasFix ? s.altitude * 1000 : -17000), bytes: 4)
    append(s.hasFix ? rounded(s.horizontalAccuracy * 1000) : 0xFFFF_FFFF, bytes: 4)
    append(s.hasFix ? rounded(s.verticalAccuracy * 1000) : 0xFFFF_FFFF, bytes: 4)
    append(rounded(s.hasFix ? s.velocityNorth * 1000 : 0), bytes: 4)
    append(rounded(s.hasFix ? s.velocityEast * 1000 : 0), bytes: 4)
    append(rounded(s.hasFix ? s.velocityDown * 1000 : 0), bytes: 4)
    append(rounded(s.hasFix ? s.speed * 1000 : 0), bytes: 4)
    append(rounded(s.hasFix ? s.course * 1e5 : 0), bytes: 4)
    append(rounded((s.hasFix ? s.speedAccuracy : 20) * 1000), bytes: 4)
    append(rounded((s.hasFix ? s.courseAccuracy : 180) * 1e5), bytes: 4)
    append(s.hasFix ? 144 : 9999, bytes: 2)
    // flags3 of the longer one: lastCorrectionAge.
    append(s.hasFix && length > 84 ? Int64(s.corrections.ageClass) << 1 : 0, bytes: 2)
    for _ in 0..<(length - 80) { append(0, bytes: 1) }
    endUBX()
  }

  /// UBX-NAV-RELPOSNED, version 1, 64 bytes (u-blox F9 HPG interface description UBX-21022436), of antennas a meter apart that
  /// move together.
  ///
  /// - Parameter line: The angle from the body's y axis to the line from base to rover, radians.
  mutating func writeRelativePosition(_ s: ReceiverSolution, line: Double) {
    let heading = s.heading(ofLine: line)
    let angle = heading * Double.pi / 180
    beginUBX(0x01, 0x3C)
    append(1, bytes: 1)
    append(0, bytes: 1)
    append(0, bytes: 2)
    append(Int64(s.time.timeOfWeek), bytes: 4)
    append(rounded(s.hasFix ? 100 * cos(angle) : 0), bytes: 4)
    append(rounded(s.hasFix ? 100 * sin(angle) : 0), bytes: 4)
    append(0, bytes: 4)
    append(s.hasFix ? 100 : 0, bytes: 4)
    append(rounded(s.hasFix ? heading * 1e5 : 0), bytes: 4)
    // Reserved, and the digits below a centimetre.
    append(0, bytes: 8)
    for _ in 0..<4 { append(50, bytes: 4) }
    append(rounded((s.hasFix ? s.headingAccuracy : 180) * 1e5), bytes: 4)
    append(0, bytes: 4)
    // gnssFixOK, diffSoln, relPosValid, fixed ambiguities, isMoving, relPosHeadingValid.
    append(s.hasFix ? 0x137 : 0, bytes: 4)
    endUBX()
  }

  /// UBX-NAV-DAHEADING, version 2, 60 bytes (u-blox X20 HDG 2.00 interface description UBXDOC-304424225-21470), of antennas a meter
  /// apart: as NAV-RELPOSNED, in millimeters.
  ///
  /// - Parameter line: The angle from the body's y axis to the line from the first antenna to the second, radians.
  mutating func writeAntennaHeading(_ s: ReceiverSolution, line: Double) {
    let heading = s.heading(ofLine: line)
    let angle = heading * Double.pi / 180
    beginUBX(0x01, 0x45)
    append(2, bytes: 1)
    append(0, bytes: 3)
    append(Int64(s.time.timeOfWeek), bytes: 4)
    append(rounded(s.hasFix ? 1_000 * cos(angle) : 0), bytes: 4)
    append(rounded(s.hasFix ? 1_000 * sin(angle) : 0), bytes: 4)
    append(0, bytes: 4)
    append(s.hasFix ? 1_000 : 0, bytes: 4)
    append(rounded(s.hasFix ? heading * 1e5 : 0), bytes: 4)
    append(0, bytes: 4)
    for _ in 0..<4 { append(5, bytes: 4) }
    append(rounded((s.hasFix ? s.headingAccuracy : 180) * 1e5), bytes: 4)
    append(0, bytes: 4)
    // gnssFixOK, diffSoln, relPosValid, fixed ambiguities, relPosHeadingValid.
    append(s.hasFix ? 0x57 : 0, bytes: 4)
    endUBX()
  }

  private func rounded(_ value: Double) -> Int64 { Int64(value.rounded()) }

  /// UBX-ACK-ACK or UBX-ACK-NAK for a message.
  mutating func writeAcknowledge(_ isAccepted: Bool, _ messageClass: UInt8, _ identity: UInt8) {
    beginUBX(0x05, isAccepted ? 0x01 : 0x00)
    append(Int64(messageClass), bytes: 1)
    append(Int64(identity), bytes: 1)
    endUBX()
  }

  /// UBX-MON-VER: software and hardware version and one extension a line of 30 characters.
  mutating func writeVersion(_ model: ReceiverTwinModel, hidesGeneration: Bool) {
    func hardware(_ version: StaticString) -> StaticString {
      hidesGeneration ? "00000000" : version
    }
    beginUBX(0x0A, 0x04)
    switch model {
    case .ublox5:
      append("5.00", width: 30)
      append(hardware("00040005"), width: 10)
    case .ublox6:
      append("7.03 (45969)", width: 30)
      append(hardware("00040007"), width: 10)
    case .ublox7:
      append("1.00 (59842)", width: 30)
      append(hardware("00070000"), width: 10)
      append("PROTVER 14.00", width: 30)
    case .ubloxM8, .mediaTek, .airoha, .casic, .unicore, .quectel, .skyTraq, .skyTraqVenus6,
      .allystar,
      .allystarRTK, .nmea:
      append("ROM CORE 3.01 (107888)", width: 30)
      append(hardware("00080000"), width: 10)
      append("FWVER=SPG 3.01", width: 30)
      append("PROTVER=18.00", width: 30)
    case .ubloxM9:
      append("EXT CORE 4.04 (7f89f7)", width: 30)
      append("00190000", width: 10)
      append("FWVER=SPG 4.04", width: 30)
      append("PROTVER=32.01", width: 30)
    case .ubloxF9P:
      append("EXT CORE 1.00 (3fda8e)", width: 30)
      append(hardware("00190000"), width: 10)
      append("FWVER=HPG 1.32", width: 30)
      append("PROTVER=27.31", width: 30)
      append("MOD=ZED-F9P", width: 30)
    case .ubloxM10:
      append("ROM SPG 5.10 (7b202e)", width: 30)
      append(hardware("000A0000"), width: 10)
      append("FWVER=SPG 5.10", width: 30)
      append("PROTVER=34.10", width: 30)
    case .ubloxX20D:
      append("EXT CORE 2.00 (4be2e1)", width: 30)
      append(hardware("000C0000"), width: 10)
      append("FWVER=HDG 2.00", width: 30)
      append("PROTVER=57.02", width: 30)
      append("MOD=ZED-X20D", width: 30)
    }
    if (model.generation ?? 8) >= 8 { append("GPS;GLO;GAL;BDS", width: 30) }
    endUBX()
  }
}
