// The self-test of Asahi Kasei's magnetometers: an output between limits.

import LinearAlgebra

extension DeflectionTest {
  /// Asahi Kasei AK8963, AK09916 or AK09918: in self-test mode one measurement is made with a magnetic source in the chip on,
  /// which acts along Z; an AK8963's has a switch of its own (SELF of ASTC).
  ///
  /// Courses and limits: the sections "Self-test mode" of AK8963 MS1356-E-02, with the sensitivity adjusted as in service,
  /// AK09916 015007392-E-02 and AK09918 016014242-E-00. AKM's own code has the same (ak8963_self_test of its sensor library;
  /// TLIMIT_LO_SLF_RVHZ and its neighbours in its drivers). -200 to 200 counts of 0.15 microtesla on X and Y; on Z -3200 to -800, -1000 to -200 and
  /// -1000 to -150. About 0.03 s.
  ///
  /// The limits are of an output and not of a change. Whether the field around the board is in it no datasheet says: were it,
  /// 30 microtesla along X or Y would fail a sound chip. It is a reason to try again elsewhere before one is given up.
  static func akm(_ chip: AKMVariant) -> DeflectionTest {
    let registers = chip.registers
    let isOlder = chip == .ak8963
    func mode(_ code: UInt8) -> RegisterSetting { RegisterSetting(registers.mode, code) }
    func source(_ bits: UInt8) -> [RegisterSetting] {
      isOlder ? [RegisterSetting(AKMRegister.selfTest, bits)] : []
    }
    // Between two modes power-down takes 100 microseconds.
    let trim: [DeflectionStep] =
      isOlder
      ? [
        .send([mode(AKMRegister.fuseAccess)], settle: 0.0001),
        .trim(register: AKMRegister.adjustment, count: 3),
        .send([mode(AKMRegister.powerDown)], settle: 0.0001),
      ] : []
    let limits = DeflectionLimits(
      quantity: .magneticField, unit: .counts, isSigned: true, x: -200...200, y: -200...200,
      z: isOlder ? -3200 ... -800 : chip == .ak09916 ? -1000 ... -200 : -1000 ... -150
    ) { trim in
      isOlder ? try? AKMConversion.adjustment(trim) : Vector3(repeating: 1)
    }
    let overflow = registers.output + UInt8(registers.outputCount - 1)
    let identity: [DeflectionStep] = chip.identity.enumerated().map { index, value in
      .identify(register: AKMRegister.company + UInt8(index), value: value)
    }
    let begin: [RegisterSetting] =
      source(0x40) + [mode(isOlder ? AKMRegister.sixteenBits | 0x08 : 0x10)]
    let end: [RegisterSetting] = source(0x00) + [mode(AKMRegister.powerDown)]
    let measurement: [DeflectionStep] = [
      .send(begin, settle: 0.01),
      .await(
        register: registers.status, mask: AKMRegister.dataReady, value: AKMRegister.dataReady),
      .told(register: registers.output, limits),
      .overflow(register: overflow, mask: AKMRegister.overflow), .write(end, settle: 0),
    ]
    let reset: [DeflectionStep] = [.reset(register: registers.reset, bit: AKMRegister.softReset)]
    return DeflectionTest(chip: chip.rawValue, steps: identity + reset + trim + measurement)
  }
}
