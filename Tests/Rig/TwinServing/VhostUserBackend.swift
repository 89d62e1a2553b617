// The back-end of vhost-user (QEMU documentation, docs/interop/vhost-user.rst): which queues, which memory,
// which files. What stands in the queues is the device's affair.

import Glibc
import SensorTypes

/// A message of the peer.
struct VhostUserMessage {
  var request: UInt32
  var flags: UInt32 = 1
  var payload: [UInt8] = []
  /// Files that came with it; who handles the message owns them.
  var files: [Int32] = []

  /// Bytes of a header: request, flags, size of what follows.
  static let headerSize = 12
  /// The longest message here is the table of eight memory regions.
  static let longestPayload = 4096
  static let wantsReply: UInt32 = 1 << 3
}

/// One peer: the state that its messages set up. Reads no socket, so that tests can speak to it.
final class VhostUserBackend {
  private enum Request: UInt32 {
    case getFeatures = 1
    case setFeatures, setOwner, resetOwner, setMemoryTable, setLogBase, setLogFile, setRingSize
    case setRingAddresses, setRingBase, getRingBase, setRingKick, setRingCall, setRingError
    case getProtocolFeatures, setProtocolFeatures, getQueueCount, setRingEnable
    case setBackendFile = 21
    case getConfiguration = 24
    case setConfiguration = 25
  }

  /// What a message asks for cannot be done; said to the peer as a number and to a person as text.
  private struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  // Feature bits 28 (indirect descriptors), 30 (this protocol's own features) and 32 (version 1).
  private static let commonFeatures: UInt64 = 1 << 28 | 1 << 30 | 1 << 32
  // REPLY_ACK, BACKEND_REQ (User-Mode Linux gets its interrupt with that file) and CONFIG.
  private static let protocolFeatures: UInt64 = 1 << 3 | 1 << 5 | 1 << 9
  private static let mostRegions = 8

  let rings: [Ring]
  private let device: any VirtioDevice
  private let log: Log
  private var memory: GuestMemory?
  // Kept open and never written: closed, the peer takes it for the end of the device.
  private var backendFile: Int32 = -1

  init(_ device: any VirtioDevice, name: String, log: Log) {
    self.device = device
    self.log = log
    rings = (0..<device.queueCount).map { Ring(name: "\(name) queue \($0)", log: log) }
  }

  deinit { if backendFile >= 0 { close(backendFile) } }

  /// Does what a message says. The answer is the payload of a reply, `nil` where none is wanted.
  func handle(_ message: VhostUserMessage) -> [UInt8]? {
    var files = message.files
    defer { for file in files { close(file) } }
    let wantsReply = message.flags & VhostUserMessage.wantsReply != 0
    do throws(Refused) {
      if let reply = try answer(message, &files) { return reply }
      return wantsReply ? Self.number(0) : nil
    } catch {
      log("vhost-user request \(message.request): \(error)")
      // A peer that waits for a particular answer gets an empty one, any other an error's number.
      switch Request(rawValue: message.request) {
      case .getConfiguration, .getRingBase: return []
      default: return wantsReply ? Self.number(1) : nil
      }
    }
  }

  private static func number(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(number: value)
    return bytes
  }

  private func answer(
    _ message: VhostUserMessage, _ files: inout [Int32]
  ) throws(Refused) -> [UInt8]? {
    let payload = message.payload
    switch Request(rawValue: message.request) {
    case .getFeatures: return Self.number(device.features | Self.commonFeatures)
    case .setFeatures:
      let wanted = try number(payload, 0, as: UInt64.self)
      guard wanted & ~(device.features | Self.commonFeatures) == 0 else {
        throw Refused(description: "features that were not offered: 0x\(String(wanted, radix: 16))")
      }
      // Without this protocol's own features a ring needs no enabling.
      if wanted & 1 << 30 == 0 { for ring in rings { ring.isEnabled = true } }
    case .getProtocolFeatures: return Self.number(Self.protocolFeatures)
    case .setProtocolFeatures, .setOwner, .setConfiguration: break
    case .resetOwner: stop()
    case .getQueueCount: return Self.number(UInt64(rings.count))
    case .setMemoryTable: try map(payload, files)
    case .setRingSize:
      let ring = try ring(payload)
      ring.size = Int(try number(payload, 4, as: UInt32.self))
    case .setRingAddresses:
      let ring = try ring(payload)
      ring.addresses = Virtqueue.Addresses(
        descriptors: try number(payload, 8, as: UInt64.self),
        available: try number(payload, 24, as: UInt64.self),
        used: try number(payload, 16, as: UInt64.self))
    case .setRingBase:
      let ring = try ring(payload)
      ring.stop()
      ring.base = UInt16(truncatingIfNeeded: try number(payload, 4, as: UInt32.self))
    case .getRingBase:
      let ring = try ring(payload)
      ring.stop()
      ring.setKick(-1)
      device.reset()
      var reply = Array(payload.prefix(4))
      reply.append(number: UInt32(ring.base))
      return reply
    case .setRingKick:
      let ring = try ring(payload, mask: 0xFF)
      ring.setKick(take(&files))
      guard let memory else { throw Refused(description: "a ring without memory") }
      do throws(Virtqueue.Defect) { try ring.start(in: memory) } catch {
        throw Refused(description: "\(error)")
      }
    case .setRingCall: try ring(payload, mask: 0xFF).setCall(take(&files))
    case .setRingError: break
    case .setRingEnable:
      let ring = try ring(payload)
      ring.isEnabled = try number(payload, 4, as: UInt32.self) != 0
    case .setBackendFile:
      if backendFile >= 0 { close(backendFile) }
      backendFile = take(&files)
    case .getConfiguration: return try configuration(payload)
    case .setLogBase, .setLogFile, nil: throw Refused(description: "not known here")
    }
    return nil
  }

  private func number<Value: FixedWidthInteger>(
    _ payload: [UInt8], _ offset: Int, as type: Value.Type
  ) throws(Refused) -> Value {
    guard let value = payload.number(offset, as: type) else {
      throw Refused(description: "\(payload.count) bytes are too few")
    }
    return value
  }

  private func ring(_ payload: [UInt8], mask: UInt32 = .max) throws(Refused) -> Ring {
    let index = Int(try number(payload, 0, as: UInt32.self) & mask)
    guard rings.indices.contains(index) else {
      throw Refused(description: "there is no queue \(index)")
    }
    return rings[index]
  }

  private func take(_ files: inout [Int32]) -> Int32 { files.isEmpty ? -1 : files.removeFirst() }

  private func map(_ payload: [UInt8], _ files: [Int32]) throws(Refused) {
    let count = Int(try number(payload, 0, as: UInt32.self))
    guard count <= Self.mostRegions else {
      throw Refused(description: "\(count) memory regions are too many")
    }
    var regions: [GuestMemory.Region] = []
    for index in 0..<count {
      let at = 8 + 32 * index
      regions.append(
        GuestMemory.Region(
          guest: try number(payload, at, as: UInt64.self),
          size: try number(payload, at + 8, as: UInt64.self),
          user: try number(payload, at + 16, as: UInt64.self),
          offset: try number(payload, at + 24, as: UInt64.self)))
    }
    do throws(GuestMemory.Refused) {
      let mapped = try GuestMemory(regions, files: files)
      memory = mapped
      for ring in rings where ring.isRunning {
        do throws(Virtqueue.Defect) { try ring.start(in: mapped) } catch {
          ring.stop()
          throw GuestMemory.Refused(description: "\(error)")
        }
      }
    } catch {
      throw Refused(description: "\(error)")
    }
  }

  /// The reply repeats offset, size and flags and brings the bytes; Linux reads from the beginning.
  private func configuration(_ payload: [UInt8]) throws(Refused) -> [UInt8] {
    let offset = Int(try number(payload, 0, as: UInt32.self))
    let size = Int(try number(payload, 4, as: UInt32.self))
    let space = device.configuration
    guard offset + size <= max(space.count, 256), size > 0, payload.count >= 12 else {
      throw Refused(description: "configuration bytes \(offset) to \(offset + size)")
    }
    // QEMU asks for more than there is: what is beyond reads as zero.
    let padded = space + [UInt8](repeating: 0, count: max(0, offset + size - space.count))
    return Array(payload.prefix(12)) + padded[offset..<offset + size]
  }

  private func stop() {
    for ring in rings {
      ring.stop()
      ring.isEnabled = false
    }
    device.reset()
  }

  /// Lets the device work with its rings, and wakes the guest where something came back.
  func serve(now: Timestamp) {
    device.serve(rings, now: now)
    for ring in rings { ring.callIfOwed() }
  }
}
