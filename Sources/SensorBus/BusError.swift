/// A transfer that failed, and where: bus, address, register and the kernel's own number.
package struct BusError: Error, Hashable, Sendable {
  /// What went wrong, as a person would say it.
  package enum Reason: Hashable, Sendable {
    /// Nobody acknowledged the address (`EREMOTEIO`, `ENXIO`).
    case noAnswer
    /// The transfer did not finish in time (`ETIMEDOUT`).
    case timedOut
    /// Another master or noise won the bus (`EAGAIN`).
    case arbitrationLost
    /// A kernel driver owns the address (`EBUSY`); the driver's name where it is known.
    case ownedByKernel(driver: String?)
    /// Another process owns the bus or the port; its name and number when they can be known.
    case inUse(by: String)
    /// The device node may not be opened (`EACCES`); the group that may.
    case permissionDenied(group: String)
    /// There is no such device node, chip or line (`ENOENT`, `ENODEV`).
    case notFound
    /// The device went away while open (`EIO`, hang-up, `ENODEV` on a transfer).
    case disconnected
    /// Fewer bytes came than were asked for.
    case shortTransfer(expected: Int, actual: Int)
    /// There is no connection to a server; why, in words.
    case noConnection(String)
    /// The adapter cannot do this kind of transfer.
    case unsupported(String)
    /// Any other error of the kernel.
    case system
  }

  package var reason: Reason
  /// The bus or device node, as in the board file.
  package var bus: String
  /// The chip's 7-bit address, where there is one.
  package var address: UInt8?
  /// The register of the transfer, where there is one.
  package var register: UInt8?
  /// The C error number; 0 where the kernel reported none.
  package var errno: Int32

  package init(
    _ reason: Reason, bus: String, address: UInt8? = nil, register: UInt8? = nil, errno: Int32 = 0
  ) {
    self.reason = reason
    self.bus = bus
    self.address = address
    self.register = register
    self.errno = errno
  }
}

extension BusError: CustomStringConvertible {
  /// One line: the place, what happened, what to look at.
  package var description: String {
    var place = bus
    if let address { place += " address \(hexadecimal(address))" }
    if let register { place += " register \(hexadecimal(register))" }
    let what =
      switch reason {
      case .noAnswer: "no answer at this address: check wiring, power and the address pin"
      case .timedOut: "timed out: a chip may be holding the clock or data line low"
      case .arbitrationLost: "arbitration lost: noise or a second master on the bus"
      case .ownedByKernel(let driver):
        "a kernel driver\(driver.map { " (\($0))" } ?? "") owns this address: "
          + "unbind it or remove its overlay"
      case .inUse(let owner): "in use by \(owner): one owner a bus"
      case .permissionDenied(let group):
        "permission denied: add this user to group \(group) (usermod -aG \(group) USER)"
      case .notFound: "not found"
      case .disconnected: "the device went away"
      case .shortTransfer(let expected, let actual):
        "short transfer: \(actual) of \(expected) bytes"
      case .noConnection(let why): "no connection: \(why)"
      case .unsupported(let operation): "the adapter cannot do \(operation)"
      case .system: "the transfer failed"
      }
    return errno == 0 ? "\(place): \(what)" : "\(place): \(what) (errno \(errno))"
  }
}

extension BusError {
  /// Why there is no connection, without the place: for a message that names it already.
  package var connectionWords: String {
    switch reason {
    // 111 is ECONNREFUSED.
    case .noConnection(let why) where errno == 111: "connection refused: \(why)"
    case .noConnection(let why): why
    default: description
    }
  }
}

/// A byte as `0x1e`.
package func hexadecimal(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 16)
  return digits.count == 1 ? "0x0\(digits)" : "0x\(digits)"
}
