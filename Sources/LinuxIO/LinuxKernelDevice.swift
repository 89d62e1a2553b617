import Glibc
import SensorBus

/// A chip's folder in sysfs, and the buffers of its IIO devices.
final class LinuxKernelDevice: KernelDevice {
  /// What sysfs shows at once.
  static let page = 4_096
  /// No folder of a chip has as many names.
  private static let mostNames = 512

  private let folder: String
  private let nodes: String
  private let registry: RoundsRegistry

  init(folder: String, nodes: String, registry: RoundsRegistry) {
    self.folder = folder
    self.nodes = nodes
    self.registry = registry
  }

  func names(in folder: String) throws(BusError) -> [String] {
    let path = path(folder)
    guard access(path, F_OK) == 0 else { throw Self.error(errno, path) }
    return Array(PortHolder.entries(path).prefix(Self.mostNames))
  }

  func read(_ attribute: String) throws(BusError) -> String {
    let file = try Self.open(path(attribute), O_RDONLY)
    return try withUnsafeTemporaryAllocation(byteCount: Self.page, alignment: 1) { memory in
      Result { () throws(BusError) in
        let count = try Self.text(of: file, path(attribute), into: memory)
        return String(decoding: memory[..<count], as: UTF8.self)
      }
    }.get()
  }

  func write(_ attribute: String, _ value: String) throws(BusError) {
    let path = path(attribute)
    let file = try Self.open(path, O_WRONLY)
    let bytes = Array(value.utf8)
    guard posixWrite(file.raw, bytes, bytes.count) == bytes.count else {
      throw Self.error(errno, path)
    }
  }

  func buffer(of device: String) throws(BusError) -> any ByteSource {
    let node = "\(nodes)/\(device)"
    return BufferFile(
      try Self.open(node, O_RDONLY | O_NONBLOCK), path: node,
      switchPath: path("\(device)/buffer/enable"))
  }

  func poll(_ attributes: [String], every seconds: Double) throws(BusError) -> any ByteSource {
    try registry.rounds(attributes.map(path), every: seconds, of: folder)
  }

  private func path(_ name: String) -> String { name.isEmpty ? folder : "\(folder)/\(name)" }

  static func open(_ path: String, _ flags: Int32) throws(BusError) -> Descriptor {
    guard let file = Descriptor(posixOpen(path, flags | O_CLOEXEC)) else {
      throw error(errno, path)
    }
    return file
  }

  /// What a file says from its beginning on, without the newlines at its end.
  static func text(
    of file: borrowing Descriptor, _ path: String, into memory: UnsafeMutableRawBufferPointer
  ) throws(BusError) -> Int {
    var count = pread(file.raw, memory.baseAddress, memory.count, 0)
    guard count >= 0 else { throw error(errno, path) }
    while count > 0, memory[count - 1] == 10 || memory[count - 1] == 0 { count -= 1 }
    return count
  }

  static func error(_ errno: Int32, _ path: String) -> BusError {
    BusError(result: -errno, .iio, bus: path)
  }
}

/// An IIO device's buffer. When it goes the buffer is switched off, so that the attributes can be read again.
final class BufferFile: ByteSource {
  private let file: Descriptor
  private let path: String
  private let switchPath: String

  init(_ file: consuming Descriptor, path: String, switchPath: String) {
    self.file = file
    self.path = path
    self.switchPath = switchPath
  }

  deinit {
    guard let file = Descriptor(open(switchPath, O_WRONLY | O_CLOEXEC)) else { return }
    _ = posixWrite(file.raw, "0", 1)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let count = posixRead(file.raw, buffer.baseAddress, buffer.count)
    if count >= 0 { return count }
    if errno == EAGAIN || errno == EINTR { return 0 }
    throw LinuxKernelDevice.error(errno, path)
  }
}
