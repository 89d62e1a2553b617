// A chip that expects an exact list of transfers, answers them, and can fail any of them.

import SensorBus
import Testing

/// One transfer that a test expects, and what the bus makes of it.
enum Transfer: Equatable {
  /// A read that gives these bytes; their number is the expected length.
  case read(UInt8, [UInt8])
  /// A write of these bytes.
  case write(UInt8, [UInt8])
  /// A read of so many bytes that fails.
  case readFails(UInt8, Int, BusError.Reason)
  /// A write of these bytes that fails.
  case writeFails(UInt8, [UInt8], BusError.Reason)
}

/// A device that takes a script. A transfer that is not the next in the script is recorded as an issue
/// and fails on the bus; `expectDone` sees to it that none is left over.
final class ScriptedDevice: RegisterDevice {
  private var script: [Transfer]
  private let address: UInt8

  init(_ script: [Transfer], address: UInt8 = 0x1C) {
    self.script = script
    self.address = address
  }

  func then(_ more: [Transfer]) { script += more }

  func expectDone(_ location: SourceLocation = #_sourceLocation) {
    #expect(script.isEmpty, "transfers that never came", sourceLocation: location)
    script = []
  }

  func error(_ reason: BusError.Reason, _ register: UInt8) -> BusError {
    BusError(reason, bus: "scripted", address: address, register: register)
  }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    let next = script.isEmpty ? nil : script.removeFirst()
    switch next {
    case .read(register, let bytes) where bytes.count == buffer.count:
      buffer.copyBytes(from: bytes)
    case .readFails(register, buffer.count, let reason):
      throw error(reason, register)
    default:
      Issue.record("read of \(buffer.count) at \(hexadecimal(register)), not \(next as Any)")
      throw error(.unsupported("a transfer that the script does not have"), register)
    }
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    let next = script.isEmpty ? nil : script.removeFirst()
    switch next {
    case .write(register, let expected) where expected == Array(bytes):
      break
    case .writeFails(register, let expected, let reason) where expected == Array(bytes):
      throw error(reason, register)
    default:
      Issue.record("write of \(Array(bytes)) at \(hexadecimal(register)), not \(next as Any)")
      throw error(.unsupported("a transfer that the script does not have"), register)
    }
  }
}

/// A block that begins with `bytes`.
func block(_ bytes: [UInt8]) -> RegisterBlock {
  var block = RegisterBlock()
  for (index, byte) in bytes.enumerated() { block[index] = byte }
  return block
}

/// Parts of a script, one after another. A sum of many arrays takes Swift 6.0 more than its time.
func script(_ parts: [Transfer]...) -> [Transfer] { Array(parts.joined()) }

/// The writes of a configuration followed by reads that give back what was written.
func written(_ settings: [(UInt8, UInt8)]) -> [Transfer] {
  settings.map { .write($0.0, [$0.1]) } + settings.map { .read($0.0, [$0.1]) }
}
