// What a u-blox receiver says besides its position and heading: satellites, its name.

import SensorTypes

extension UBXDecoder {
  /// NAV-SAT, NAV-SVINFO or NAV-SIG into the sky; returns false for another message.
  static func satellites(
    id: UInt8, _ bytes: UnsafeBufferPointer<UInt8>, into sky: inout SkyAssembler
  ) -> Bool {
    let payload = Payload(bytes: bytes)
    switch id {
    case 0x35 where bytes.count >= 8:
      sky.begin(group: 0x3500)
      for start in places(count: Int(payload.u1(5)), size: 12, in: bytes) {
        guard let system = GNSSSystem(rawValue: payload.u1(start)) else { continue }
        var satellite = GNSSSatellite(system, Int(payload.u1(start + 1)))
        satellite.set(
          strength: payload.u1(start + 2), elevation: payload.i1(start + 3),
          azimuth: payload.i2(start + 4))
        satellite.isUsed = payload.u1(start + 8) & 0x08 != 0
        sky.add(satellite)
      }
    case 0x30 where bytes.count >= 8:
      sky.begin(group: 0x3000)
      for start in places(count: Int(payload.u1(4)), size: 12, in: bytes) {
        guard var satellite = satellite(old: Int(payload.u1(start + 1))) else { continue }
        satellite.set(
          strength: payload.u1(start + 4), elevation: payload.i1(start + 5),
          azimuth: payload.i2(start + 6))
        satellite.isUsed = payload.u1(start + 2) & 0x01 != 0
        sky.add(satellite)
      }
    case 0x43 where bytes.count >= 8:
      // Beside a NAV-SAT of the epoch it adds the other bands.
      sky.begin(group: 0x4300)
      for start in places(count: Int(payload.u1(5)), size: 16, in: bytes) {
        guard let system = GNSSSystem(rawValue: payload.u1(start)) else { continue }
        var satellite = GNSSSatellite(system, Int(payload.u1(start + 1)))
        let strength = payload.u1(start + 6)
        satellite.carrierToNoise = strength > 0 ? Double(strength) : nil
        satellite.isUsed = payload.u2(start + 10) & 0x08 != 0
        sky.add(satellite)
      }
    default: return false
    }
    return true
  }

  /// Where the blocks of a list begin that are really there.
  private static func places(count: Int, size: Int, in bytes: UnsafeBufferPointer<UInt8>)
    -> StrideTo<Int>
  {
    stride(from: 8, to: 8 + min(count, (bytes.count - 8) / size) * size, by: size)
  }

  /// A satellite by the one number that all systems shared (u-blox 8 protocol description, annex A).
  private static func satellite(old number: Int) -> GNSSSatellite? {
    switch number {
    case 1...32: GNSSSatellite(.gps, number)
    case 33...64: GNSSSatellite(.beidou, number - 27)
    case 65...96: GNSSSatellite(.glonass, number - 64)
    case 120...158: GNSSSatellite(.sbas, number)
    case 159...163: GNSSSatellite(.beidou, number - 158)
    case 193...202: GNSSSatellite(.qzss, number - 192)
    case 211...246: GNSSSatellite(.galileo, number - 210)
    default: nil
    }
  }

  /// MON-VER and SEC-UNIQID: who the receiver is. Returns false for another message.
  static func identity(
    messageClass: UInt8, id: UInt8, _ bytes: UnsafeBufferPointer<UInt8>,
    into identity: inout ReceiverIdentity
  ) -> Bool {
    let payload = Payload(bytes: bytes)
    switch (messageClass, id) {
    case (0x0A, 0x04) where bytes.count >= 40:
      identity.family = .uBlox
      identity.software = payload.text(0, 30)
      identity.hardware = payload.text(30, 10)
      // As many as a receiver may have to say.
      identity.extensions = stride(from: 40, to: min(bytes.count, 40 + 30 * 16) - 29, by: 30).map {
        payload.text($0, 30)
      }
    case (0x27, 0x03) where bytes.count >= 9:
      identity.uniqueID = bytes[4..<min(bytes.count, 10)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    default: return false
    }
    return true
  }
}

extension GNSSSatellite {
  fileprivate mutating func set(strength: UInt8, elevation: Int8, azimuth: Int16) {
    carrierToNoise = strength > 0 ? Double(strength) : nil
    // An unknown place is said as -91, or as north on the horizon by a satellite that is not heard.
    guard (-90...90).contains(elevation), (0...360).contains(azimuth),
      strength > 0 || elevation != 0 || azimuth != 0
    else { return }
    (self.elevation, self.azimuth) = (Double(elevation), azimuth == 360 ? 0 : Double(azimuth))
  }
}
