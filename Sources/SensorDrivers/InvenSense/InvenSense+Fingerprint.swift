// How an MPU is told from what has its identity elsewhere: each has trim where the other has that.

import SensorBus

extension Fingerprint {
  /// An MPU, by WHO_AM_I. Where a BMI160 has the byte of its gyro's offset (OFFSET, BMI160 2.11), which a compensation may
  /// have left as any of them: what can be a BMI160 too is merely possible.
  static func mpu(
    _ values: [UInt8], _ confidence: ChipIdentification.Confidence, _ note: String,
    _ traits: [Trait]
  ) -> Fingerprint {
    var fingerprint = Fingerprint(
      reads: [.init(register: MPURegister.whoAmI, count: 1)] + BMI160Register.identifying,
      confidence: confidence
    ) { blocks in
      let found = blocks[0][0]
      guard values.contains(found) else { return nil }
      let read = "register \(hexadecimal(MPURegister.whoAmI)) is \(hexadecimal(found)); \(note)"
      return BMI160Register.fits(blocks[1...])
        ? read + "; but a BMI160 whose gyro was compensated can hold the same" : read
    }
    fingerprint.isShared = { BMI160Register.fits($0[1...]) }
    fingerprint.traits = traits
    return fingerprint
  }

  /// An identity at 0x00, where the MPU6500 and its like, which are told by another register, have a trim value that
  /// can be anything.
  static func apartFromMPU(
    _ register: UInt8, _ values: [UInt8], _ note: String? = nil, _ traits: [Trait]
  ) -> Fingerprint {
    var fingerprint = Fingerprint(
      reads: [.init(register: register, count: 1), .init(register: MPURegister.whoAmI, count: 1)],
      confidence: .certain
    ) { blocks in
      let found = blocks[0][0]
      guard values.contains(found), !MPUVariant.answers.contains(blocks[1][0]) else { return nil }
      let read = "register \(hexadecimal(register)) is \(hexadecimal(found))"
      return note.map { "\(read); \($0)" } ?? read
    }
    fingerprint.traits = traits
    return fingerprint
  }
}

extension MPUVariant {
  /// What WHO_AM_I of any of them holds.
  static let answers = allCases.flatMap { $0.identities + $0.copies }
}
