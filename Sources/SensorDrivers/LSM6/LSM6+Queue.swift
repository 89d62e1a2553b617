// The queue (FIFO) of ST's LSM6 family.

extension LSM6 {
  /// In continuous mode: FIFO_STATUS1 and 2 hold how many words of 7 bytes are there (LSM6DSOX: 9.44, 9.45; AN5272, "FIFO"),
  /// in the older chips of 2 (LSM6DSL: 9.37, 9.38; AN5040), bit 14 that some were lost. The pointer rolls over the outputs.
  package var queue: ChipQueue? {
    guard setting.batch > 1 else { return nil }
    let mode = chip.isTagged ? LSM6Register.queueControl4 : LSM6Register.queueControl5
    return ChipQueue(
      form: chip.isTagged ? .tagged : .samples, batch: setting.batch,
      status: LSM6Register.queueStatus, level: chip.isTagged ? 0x03FF : 0x0FFF, overrun: 0x4000,
      unit: chip.isTagged ? 7 : 2,
      output: chip.isTagged ? LSM6Register.taggedQueue : LSM6Register.plainQueue,
      sample: chip.queuedBytes,
      // Bypass mode empties it.
      restart: [RegisterSetting(mode, 0x00), RegisterSetting(mode, queueMode)])
  }

  /// FIFO_MODE continuous; the older chips have the queue's rate, which is the sensors', in the same register.
  private var queueMode: UInt8 {
    chip.isTagged ? 0x06 : UInt8(setting.rateIndex + 1) << 3 | 0x06
  }

  /// The threshold of INT1 and the rates; nothing where each sample is fetched by itself.
  var queueSettings: [RegisterSetting] {
    guard setting.batch > 1 else { return [] }
    let words = setting.batch * (chip.isTagged ? 2 : 6)
    let rate = UInt8(setting.rateIndex + 1)
    return chip.isTagged
      ? [
        RegisterSetting(LSM6Register.queueControl1, UInt8(words)),
        RegisterSetting(LSM6Register.queueControl2, 0x00),
        RegisterSetting(LSM6Register.queueControl3, rate << 4 | rate),
        RegisterSetting(LSM6Register.queueControl4, queueMode),
      ]
      : [
        RegisterSetting(LSM6Register.olderQueueControl1, UInt8(words)),
        RegisterSetting(LSM6Register.olderQueueControl2, 0x00),
        // Neither sensor is decimated.
        RegisterSetting(LSM6Register.olderQueueControl3, 0x09),
        RegisterSetting(LSM6Register.queueControl5, queueMode),
      ]
  }
}

extension LSM6Variant {
  /// Bytes of a sample: two words of a tag and six bytes from the LSM6DSO on, twelve bytes before.
  var queuedBytes: Int { isTagged ? 14 : 12 }

  /// Whether the words of its queue say what they are.
  fileprivate var isTagged: Bool {
    switch self {
    case .ism330dhcx, .lsm6dso, .lsm6dsox: true
    case .lsm6ds3, .lsm6ds33, .lsm6ds3trc, .lsm6dsl: false
    }
  }
}
