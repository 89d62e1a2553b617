// The files of an IIO device, written from the ABI's description.

import SensorTypes
import TextForms

/// A chip behind a kernel driver: attributes by their paths from the chip's folder, and frames.
struct KernelTwin: Sendable {
  /// What is set of one device.
  struct Settings: Sendable {
    var rate = 0
    var scales: [Int]
    var enabled: Set<String> = []
    var isRunning = false
    var trigger = ""
    var clock = "realtime"
    var length = 2
    var schedule = ConversionSchedule()
    var queue: [[UInt8]] = []
  }

  let view: KernelView
  var core: TwinCore
  var settings: [Settings]

  init(_ view: KernelView, _ core: TwinCore) {
    self.view = view
    self.core = core
    settings = view.devices.map { device in
      var settings = Settings(scales: device.groups.map { _ in 0 })
      if case .trigger(let name, true) = device.filling { settings.trigger = name }
      return settings
    }
  }

  // MARK: Files

  static func split(_ path: String) -> (device: Int, rest: String)? {
    guard path.hasPrefix("iio:device") else { return nil }
    let parts = path.dropFirst(10).split(separator: "/", maxSplits: 1)
    guard let first = parts.first, let number = Int(first) else { return nil }
    return (number, parts.count > 1 ? String(parts[1]) : "")
  }

  /// The names in a folder; `nil` where there is none.
  func names(in folder: String) -> [String]? {
    if folder.isEmpty {
      return ["uevent", "name", "driver"] + view.devices.indices.map { "iio:device\($0)" }
    }
    guard let (index, rest) = Self.split(folder), view.devices.indices.contains(index) else {
      return nil
    }
    let device = view.devices[index]
    switch rest {
    case "":
      var names = ["name", "dev", "uevent", "in_mount_matrix"]
      if !device.rates.isEmpty { names += ["sampling_frequency", "sampling_frequency_available"] }
      if device.filling != .none {
        names += ["buffer", "scan_elements", "current_timestamp_clock"]
      }
      if case .trigger = device.filling { names.append("trigger") }
      for group in device.groups {
        for channel in group.quantity.channels {
          names.append(channel + (group.scales.isEmpty ? "_input" : "_raw"))
          if group.isProcessedToo { names.append("\(channel)_input") }
          if group.hasScalePerAxis { names.append("\(channel)_scale") }
        }
        let shared = "in_\(group.quantity.rawValue)"
        if !group.scales.isEmpty, !group.hasScalePerAxis { names.append("\(shared)_scale") }
        if group.scales.count > 1 { names.append("\(shared)_scale_available") }
        if group.offset != nil { names.append("\(shared)_offset") }
      }
      return names
    case "scan_elements" where device.filling != .none:
      return elements(index).flatMap { ["\($0.name)_en", "\($0.name)_index", "\($0.name)_type"] }
    case "buffer" where device.filling != .none: return ["enable", "length", "watermark"]
    default: return nil
    }
  }

  /// What a file says at a moment; `nil` where there is none.
  func read(_ path: String, at now: Int64) -> String? {
    if path == "uevent" { return "DRIVER=\(view.driver)\nMODALIAS=i2c:twin" }
    guard let (index, rest) = Self.split(path), view.devices.indices.contains(index) else {
      return nil
    }
    let device = view.devices[index]
    let settings = settings[index]
    switch rest {
    case "name": return device.name
    case "in_mount_matrix": return "1, 0, 0; 0, 1, 0; 0, 0, 1"
    case "sampling_frequency" where !device.rates.isEmpty: return device.rates[settings.rate]
    case "sampling_frequency_available" where !device.rates.isEmpty:
      return device.rates.joined(separator: " ")
    case "current_timestamp_clock" where device.filling != .none: return settings.clock
    case "buffer/enable": return settings.isRunning ? "1" : "0"
    case "buffer/length": return "\(settings.length)"
    case "buffer/watermark": return "1"
    case "trigger/current_trigger": return settings.trigger
    default: break
    }
    if rest.hasPrefix("scan_elements/") {
      for (place, element) in elements(index).enumerated() {
        switch rest.dropFirst(14) {
        case "\(element.name)_en": return settings.enabled.contains(element.name) ? "1" : "0"
        case "\(element.name)_index": return "\(place)"
        case "\(element.name)_type": return element.type
        default: continue
        }
      }
      return nil
    }
    for (place, group) in device.groups.enumerated() {
      let shared = "in_\(group.quantity.rawValue)"
      if rest == "\(shared)_scale_available" { return group.scales.joined(separator: " ") }
      if rest == "\(shared)_offset" { return group.offset }
      for (axis, channel) in group.quantity.channels.enumerated() {
        if rest == "\(group.hasScalePerAxis ? channel : shared)_scale", !group.scales.isEmpty {
          return group.scales[settings.scales[place]]
        }
        let value = { converted(index, place, axis, at: now, UInt64(bitPattern: now)) }
        if rest == "\(channel)_raw", !group.scales.isEmpty {
          return "\(raw(value(), group, scale: settings.scales[place]))"
        }
        if rest == "\(channel)_input", group.scales.isEmpty || group.isProcessedToo {
          return DecimalText.steady(value(), group.quantity == .temp ? 0 : 9)
        }
      }
    }
    return nil
  }

  /// Sets a file; false for a value that the driver does not take.
  mutating func write(_ path: String, _ value: String, at now: Int64) -> Bool {
    guard let (index, rest) = Self.split(path), view.devices.indices.contains(index) else {
      return false
    }
    let device = view.devices[index]
    switch rest {
    case "sampling_frequency":
      guard let place = Self.place(of: value, in: device.rates) else { return false }
      settings[index].rate = place
      return true
    case "current_timestamp_clock":
      settings[index].clock = value
      return ["realtime", "monotonic", "boottime"].contains(value)
    case "buffer/length":
      settings[index].length = Int(value) ?? 2
      return Int(value).map { $0 > 0 } ?? false
    case "buffer/watermark": return value == "1"
    case "trigger/current_trigger":
      guard case .trigger(value, _) = device.filling else { return false }
      settings[index].trigger = value
      return true
    case "buffer/enable": return run(index, value == "1", at: now)
    default: break
    }
    if rest.hasPrefix("scan_elements/"), rest.hasSuffix("_en") {
      let name = String(rest.dropFirst(14).dropLast(3))
      guard elements(index).contains(where: { $0.name == name }) else { return false }
      if value == "1" {
        settings[index].enabled.insert(name)
      } else {
        settings[index].enabled.remove(name)
      }
      return true
    }
    for (place, group) in device.groups.enumerated() {
      let names =
        group.hasScalePerAxis ? group.quantity.channels : ["in_\(group.quantity.rawValue)"]
      guard names.contains(where: { rest == "\($0)_scale" }) else { continue }
      guard let scale = Self.place(of: value, in: group.scales) else { return false }
      settings[index].scales[place] = scale
      return true
    }
    return false
  }

  private static func place(of value: String, in values: [String]) -> Int? {
    values.firstIndex { Double($0) == Double(value) }
  }
}
