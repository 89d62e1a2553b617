// Rate, range, scale and buffer of IIO devices: what is set, and what is then true.

import SensorBus
import SensorTypes

/// From the kernel's numbers to our units, by lane: `(raw + offset) * gain`, strictly between the limits.
struct KernelScaling: Sendable {
  var offset = SIMD8<Double>(repeating: 0)
  var gain = SIMD8<Double>(repeating: 0)
  var low = SIMD8<Double>(repeating: -.infinity)
  var high = SIMD8<Double>(repeating: .infinity)
}

/// Sets up IIO devices, as far as it is allowed to.
struct KernelSetup {
  /// A number wider than this is not driven to its end by any sensor.
  private static let widestConverter = 24
  /// Frames that a buffer of the kernel holds: half a second of the fastest that is usual.
  private static let bufferLength = 128
  /// Hz that a sensor can have: what a hostile recording says beyond them is none.
  private static let rates = 1e-3...1e6

  let chip: any KernelDevice
  private let errata: KernelErrata
  /// Whether something could not be set for want of the right to.
  private(set) var isReadOnly = false
  /// What must stay as it is: scales.
  private(set) var watched: [(attribute: String, text: String)] = []

  /// - Parameter name: The chip's in board files.
  init(_ chip: any KernelDevice, name: String) {
    self.chip = chip
    errata = KernelErrata(name)
  }

  func text(_ attribute: String) throws(DriverError) -> String {
    do { return try chip.read(attribute) } catch { throw .bus(error) }
  }

  /// Sets what can be set. What is refused stays as it is and is read back by the caller; a device that went
  /// away is an error.
  @discardableResult
  mutating func set(_ attribute: String, _ value: String) throws(DriverError) -> Bool {
    do {
      try chip.write(attribute, value)
      return true
    } catch {
      switch error.reason {
      case .disconnected: throw .bus(error)
      case .permissionDenied: isReadOnly = true
      default: break
      }
      return false
    }
  }

  // MARK: Rate and range

  /// Takes the next rate at or above `wanted` (Hz); gives the device's, `nil` where it has none.
  mutating func rate(
    _ device: IIODevice, _ quantities: [KernelQuantity], wanted: Double
  ) throws(DriverError) -> Double? {
    var slowest: Double?
    for name in quantities.map({ "\($0.rawValue)_sampling_frequency" }) + ["sampling_frequency"]
    where device.attributes.contains(name) {
      let path = "\(device.folder)/\(name)"
      var value = Self.text(of: wanted.rounded(.up))
      if device.attributes.contains("\(name)_available") {
        value = KernelText.next(try text("\(path)_available"), atLeast: wanted) ?? value
      }
      try set(path, value)
      // Where no list says what there is, a rate between two may have become the lower one.
      if let found = KernelText.number(try text(path)), found > 0, found < wanted {
        try set(path, Self.text(of: 2 * found))
      }
      if let found = KernelText.number(try text(path)), Self.rates.contains(found) {
        slowest = min(slowest ?? found, found)
      }
    }
    return slowest
  }

  private static func text(of number: Double) -> String {
    number == number.rounded() && number < 1e6 ? "\(Int(number))" : "\(number)"
  }

  /// Takes the smallest range that is wide enough, where there is a choice, and fills the lanes of a quantity.
  mutating func scale(
    _ device: IIODevice, _ quantity: KernelQuantity, lane: Int,
    _ scaling: inout KernelScaling
  ) throws(DriverError) {
    let shared = "\(quantity.rawValue)_scale"
    let types = try quantity.channels.map { channel throws(DriverError) in
      try type(device, channel)
    }
    if let wanted = quantity.wantedRange, let type = types.first ?? nil, type.isSigned,
      type.bits <= Self.widestConverter, device.attributes.contains("\(shared)_available")
    {
      let least = wanted / (errata.limits?.high ?? Double(1 << (type.bits - 1)))
      let available = try text("\(device.folder)/\(shared)_available")
      let names = [shared] + quantity.channels.map { "\($0)_scale" }
      if let value = KernelText.next(available, atLeast: least) {
        for name in names where device.attributes.contains(name) {
          let path = "\(device.folder)/\(name)"
          // One that is right already is not set anew: that takes time, and the right to.
          if KernelText.number(try text(path)) != KernelText.number(value) {
            try set(path, value)
          }
        }
      }
    }
    for (index, channel) in quantity.channels.enumerated() {
      let place = lane + index
      scaling.gain[place] = quantity.factor * errata.sign(quantity, axis: index)
      if Self.isRaw(device, channel) {
        let value = try number(device, [channel, quantity.rawValue], "scale", watches: true)
        guard let value, value != 0 else {
          throw .notReady("\(device.folder): no scale for \(channel)")
        }
        scaling.gain[place] *= value * errata.factor(value)
        scaling.offset[place] =
          try number(device, [channel, quantity.rawValue], "offset", watches: false) ?? 0
      }
      if let limits = errata.limits {
        (scaling.low[place], scaling.high[place]) = limits
      } else if let type = types[index], type.isSigned, type.bits <= Self.widestConverter {
        let end = Double(1 << (type.bits - 1))
        (scaling.low[place], scaling.high[place]) = (-end, end - 1)
      }
    }
  }

  /// A channel's number is raw unless it comes in the ABI's unit. Where there are both, the scale of the raw one
  /// may be rounded away: bmp280's of 1/256000 kPa has four digits, 64 millionths too little.
  static func isRaw(_ device: IIODevice, _ channel: String) -> Bool {
    !device.attributes.contains("\(channel)_input")
  }

  private mutating func number(
    _ device: IIODevice, _ names: [String], _ what: String, watches: Bool
  ) throws(DriverError) -> Double? {
    for name in names where device.attributes.contains("\(name)_\(what)") {
      let path = "\(device.folder)/\(name)_\(what)"
      let text = try text(path)
      guard let value = KernelText.number(text) else {
        throw .notReady("\(path) says '\(text.prefix(20))'")
      }
      if watches { watched.append((path, text)) }
      return value
    }
    return nil
  }

  private func type(
    _ device: IIODevice, _ channel: String
  ) throws(DriverError) -> ScanType? {
    guard device.attributes.contains("scan_elements") else { return nil }
    return (try? chip.read("\(device.folder)/scan_elements/\(channel)_type")).flatMap(ScanType.init)
  }

  // MARK: Buffer

  /// Starts a device's buffer; `nil` for a device that has none, no trigger, or one that may not be used.
  mutating func buffer(
    _ device: IIODevice, lanes: [(String, lane: Int)]
  ) throws(DriverError) -> KernelBuffer? {
    let folder = device.folder
    guard device.attributes.isSuperset(of: ["buffer", "scan_elements"]),
      lanes.allSatisfy({ Self.isRaw(device, $0.0) })
    else { return nil }
    let source: any ByteSource
    do { source = try chip.buffer(of: folder) } catch {
      if case .permissionDenied = error.reason { isReadOnly = true }
      return nil
    }
    // Of a program that ended in the middle of it.
    try set("\(folder)/buffer/enable", "0")
    guard try hasTrigger(device) else { return nil }
    if device.attributes.contains("current_timestamp_clock") {
      try set("\(folder)/current_timestamp_clock", "monotonic")
    }
    guard let layout = try layout(folder, channels: lanes.map(\.0)),
      let buffer = KernelBuffer(source, folder: folder, layout: layout, lanes: lanes)
    else { return nil }
    try set("\(folder)/buffer/length", "\(Self.bufferLength)")
    try set("\(folder)/buffer/watermark", "1")
    return try set("\(folder)/buffer/enable", "1") ? buffer : nil
  }

  /// Whether something tells the device when to sample: a trigger that is set, its own, or its FIFO.
  private mutating func hasTrigger(_ device: IIODevice) throws(DriverError) -> Bool {
    guard device.attributes.contains("trigger") else { return true }
    let path = "\(device.folder)/trigger/current_trigger"
    let number = device.folder.drop { !$0.isNumber }
    for own in ["-trigger", "-dev\(number)"] {
      if !(try text(path).isEmpty) { return true }
      try set(path, device.name + own)
    }
    return !(try text(path).isEmpty)
  }

  private mutating func layout(
    _ folder: String, channels: [String]
  ) throws(DriverError) -> ScanLayout? {
    let wanted = channels + ["in_timestamp"]
    let path = "\(folder)/scan_elements"
    let names: [String]
    do { names = try chip.names(in: path) } catch { throw .bus(error) }
    let elements = names.filter { $0.hasSuffix("_en") }.sorted().prefix(64).map {
      String($0.dropLast(3))
    }
    for isWanted in [false, true] {
      for name in elements where wanted.contains(name) == isWanted {
        try set("\(path)/\(name)_en", isWanted ? "1" : "0")
      }
    }
    var enabled: [ScanElement] = []
    for name in elements {
      guard try text("\(path)/\(name)_en") == "1" else { continue }
      guard let index = Int(try text("\(path)/\(name)_index")),
        let type = ScanType(try text("\(path)/\(name)_type"))
      else { return nil }
      enabled.append(ScanElement(name: name, index: index, type: type))
    }
    return ScanLayout(enabled)
  }
}
