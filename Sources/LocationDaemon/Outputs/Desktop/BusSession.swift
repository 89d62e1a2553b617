// A connection to the system's D-Bus. It has a thread, and reconnects after each loss.

import CLinuxIO
import Glibc
import LinuxIO
import SensorBus
import SensorTypes

/// What somebody does with a connection to the system's D-Bus. All of it is called on the thread of the session.
protocol BusClient: AnyObject {
  /// Does what a new connection needs. Every call in it ends after two seconds.
  func begin(_ bus: MessageBus) throws
  /// Handles one message that the bus has delivered.
  func take(_ message: BusMessage, _ bus: MessageBus) throws
  /// Does what is due. Returns when something is due next.
  func advance(_ bus: MessageBus, at now: Timestamp) throws -> Timestamp
  /// Called when the connection is lost or cannot be made.
  ///
  /// - Parameter problem: The reason, as one line for messages.
  func lose(_ problem: String)
}

/// An error of a client of the bus, with its reason in one line.
struct BusClientError: Error { var problem: String }

/// Keeps a connection to the system's D-Bus.
final class BusSession: BusWork {
  /// The number of messages that are taken in one step.
  private static let messagesAStep = 64
  /// The first and the longest pause before another attempt, in seconds.
  private static let (shortest, longest) = (1.0, 60.0)

  private let address: String
  private let client: any BusClient
  private var bus: MessageBus?
  private var pause = shortest
  private var nextAttempt = Timestamp(nanoseconds: .min)

  /// - Parameter address: The address of the bus, as D-Bus writes it; the system's bus if it is `nil`.
  init(address: String?, _ client: any BusClient) {
    let variable = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
    self.address = address ?? variable ?? "unix:path=/run/dbus/system_bus_socket"
    self.client = client
  }

  static var now: Timestamp { Timestamp(nanoseconds: lodestone_monotonic()) }

  func step() -> Timestamp {
    if bus == nil, Self.now < nextAttempt { return nextAttempt }
    do {
      let bus = try self.bus ?? open()
      for _ in 0..<Self.messagesAStep {
        guard let step = try bus.next() else {
          let due = try client.advance(bus, at: Self.now)
          pause = Self.shortest
          return due
        }
        if let message = step { try client.take(message, bus) }
      }
      return Self.now
    } catch {
      bus = nil
      nextAttempt = Self.now.advanced(bySeconds: pause)
      pause = min(2 * pause, Self.longest)
      client.lose(Self.words(error, address))
      return nextAttempt
    }
  }

  func forEachReadiness(_ body: (Readiness) -> Void) {
    if let bus { body(.descriptor(bus.descriptor)) }
  }

  func finish() { bus = nil }

  private func open() throws -> MessageBus {
    let opened = try MessageBus(address: address)
    bus = opened
    try client.begin(opened)
    return opened
  }

  private static func words(_ error: any Error, _ address: String) -> String {
    if let error = error as? BusClientError { return error.problem }
    guard let error = error as? MessageBusError else { return "a message of D-Bus is malformed" }
    guard error.reply.isEmpty else { return "D-Bus: \(error.reply.prefix(160))" }
    switch error.errno {
    case ENOSYS: return "D-Bus needs libsystemd.so.0: `apt install libsystemd0`"
    case ENOENT, ECONNREFUSED: return "there is no D-Bus at \(address): `apt install dbus`"
    case EACCES, EPERM: return "the system's D-Bus does not admit this user"
    case ETIMEDOUT: return "D-Bus does not answer in 2 s"
    default: return "the connection to D-Bus has ended (error \(error.errno))"
    }
  }
}
