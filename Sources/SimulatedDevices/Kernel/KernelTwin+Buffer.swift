// What a kernel driver's chip measures, and the frames of its buffers, packed as the ABI says.

import LinearAlgebra
import SensorTypes

extension KernelTwin {
  /// The noise of one number, in the stimulus' units.
  private static let noise: [IIOChannelType: Double] = [
    .magn: 0.3, .accel: 0.01, .anglvel: 0.001, .pressure: 1, .temp: 0.01,
  ]
  /// Seconds that the date is ahead of the monotonic clock.
  private static let dateOffset: Int64 = 1_795_000_000_000_000_000

  // MARK: Conversions

  /// A quantity on one axis in the ABI's unit.
  func converted(
    _ device: Int, _ group: Int, _ axis: Int, at time: Int64, _ number: UInt64
  ) -> Double {
    let quantity = view.devices[device].groups[group].quantity
    let done = Conversions(first: time, last: time, count: 1, index: number)
    let sigma = Self.noise[quantity] ?? 0
    let stream = UInt64(20 + group)
    let stimulus = core.stimulus(at: time)
    var random = core.random(stream: stream, done)
    let air = core.errors.pressure
    let value: Double =
      switch quantity {
      case .magn:
        core.field(at: time, sigma: Vector3(repeating: sigma), stream: stream, done)[axis] / 100
      case .accel: core.force(at: time, sigma: sigma, stream: stream, done)[axis]
      case .anglvel: core.rate(at: time, sigma: sigma, stream: stream, done)[axis]
      case .pressure:
        (stimulus.pressure + air.pressureBias + air.noise * sigma * random.gaussian()) / 1000
      case .temp:
        (stimulus.temperature + air.temperatureBias + air.noise * sigma * random.gaussian()) * 1000
      }
    return view.devices[device].groups[group].mirrored == axis ? -value : value
  }

  func raw(_ value: Double, _ group: KernelView.Group, scale: Int) -> Int64 {
    let said = group.scales.indices.contains(scale) ? Double(group.scales[scale]) ?? 1 : 1
    let offset = group.offset.flatMap(Double.init) ?? 0
    let counts = (value / (said / group.mistaken) - offset).rounded()
    let end = Double(Int64(1) << (group.bits - 1))
    if let overflow = group.overflow {
      let limit = Double(overflow.limit)
      return counts > limit || counts < -limit - 1 ? overflow.mark : Int64(counts)
    }
    return Int64(min(end - 1, max(-end, counts)))
  }

  // MARK: Buffer

  func elements(_ device: Int) -> [TwinScanElement] {
    var elements: [TwinScanElement] = []
    for (place, group) in view.devices[device].groups.enumerated() where !group.scales.isEmpty {
      for (axis, channel) in group.quantity.channels.enumerated() {
        elements.append(
          TwinScanElement(
            name: channel, group: place, axis: axis, bits: group.bits, storage: group.storage,
            shift: group.shift, isBigEndian: group.isBigEndian))
      }
    }
    return elements + [
      TwinScanElement(
        name: "in_timestamp", group: -1, axis: 0, bits: 64, storage: 64, shift: 0,
        isBigEndian: false)
    ]
  }

  mutating func run(_ device: Int, _ on: Bool, at now: Int64) -> Bool {
    settings[device].schedule.stop()
    settings[device].queue = []
    settings[device].isRunning = false
    guard on else { return true }
    if case .trigger = view.devices[device].filling, settings[device].trigger.isEmpty {
      return false
    }
    guard !settings[device].enabled.isEmpty else { return false }
    let rates = view.devices[device].rates
    let rate = rates.isEmpty ? 10 : Double(rates[settings[device].rate]) ?? 10
    settings[device].schedule.start(
      at: now, firstAfter: core.period(1 / rate), every: core.period(1 / rate))
    settings[device].isRunning = true
    return true
  }

  /// Whether raw numbers cannot be read because the buffer has the device.
  func isBusy(_ path: String) -> Bool {
    guard let (device, _) = Self.split(path), settings.indices.contains(device) else {
      return false
    }
    return settings[device].isRunning
  }

  /// Lets conversions that are complete by `now` into the buffers; what finds one full is lost.
  mutating func advance(to now: Int64) {
    for device in settings.indices {
      guard let done = settings[device].schedule.take(until: now) else { continue }
      for step in 0..<done.count where settings[device].queue.count < settings[device].length {
        let time = done.first + Int64(step) * settings[device].schedule.period
        settings[device].queue.append(
          frame(device, at: time, done.index &- done.count &+ 1 &+ step))
      }
    }
  }

  private func frame(_ device: Int, at time: Int64, _ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var largest = 1
    for element in elements(device) where settings[device].enabled.contains(element.name) {
      let size = element.storage / 8
      largest = max(largest, size)
      while bytes.count % size != 0 { bytes.append(0xA5) }
      var word: Int64
      if element.group < 0 {
        word = time + (settings[device].clock == "monotonic" ? 0 : Self.dateOffset)
      } else {
        let group = view.devices[device].groups[element.group]
        // What the chip measured is half a period old.
        let middle = time - settings[device].schedule.period / 2
        word = raw(
          converted(device, element.group, element.axis, at: middle, number), group,
          scale: settings[device].scales[element.group])
        word <<= Int64(element.shift)
      }
      let little = (0..<size).map { UInt8(truncatingIfNeeded: word >> Int64(8 * $0)) }
      bytes += element.isBigEndian ? little.reversed() : little
    }
    while bytes.count % largest != 0 { bytes.append(0xA5) }
    return bytes
  }

  /// Takes the oldest frame, if it has at most so many bytes.
  mutating func takeFrame(_ device: Int, upTo room: Int) -> [UInt8]? {
    guard let first = settings[device].queue.first, first.count <= room else { return nil }
    settings[device].queue.removeFirst()
    return first
  }
}

/// A number in a frame.
struct TwinScanElement {
  var name: String
  var group: Int
  var axis: Int
  var bits: Int, storage: Int, shift: Int
  var isBigEndian: Bool
  var type: String {
    "\(isBigEndian ? "be" : "le"):s\(bits)/\(storage)>>\(shift)"
  }
}
