// A connection to a D-Bus, and its messages; all of it belongs to one thread.

import CLinuxIO
import Glibc

/// Why a call on the bus has failed.
package struct MessageBusError: Error {
  /// The name of the error that was the reply, and its text; empty where there was no reply.
  package var reply = ""
  package var errno: Int32 = 0

  package init(reply: String = "", errno: Int32 = 0) { (self.reply, self.errno) = (reply, errno) }
}

/// A message that does not hold what it should.
package struct MalformedMessage: Error {
  package init() {}
}

/// A connection to a bus. Every wait in it ends after two seconds.
package final class MessageBus {
  package static let timeout: Int32 = 2_000
  package let raw: OpaquePointer

  package init(address: String) throws(MessageBusError) {
    var opened: OpaquePointer?
    let result = lodestone_bus_open(address, Self.timeout, &opened)
    guard result >= 0, let opened else { throw MessageBusError(errno: -result) }
    raw = opened
  }

  deinit { lodestone_bus_close(raw) }

  package var descriptor: Int32 { lodestone_bus_fd(raw) }

  /// The next message; `.some(nil)` where something else was done, `nil` where there is nothing to do.
  package func next() throws(MessageBusError) -> BusMessage?? {
    var message: OpaquePointer?
    let result = lodestone_bus_process(raw, &message)
    guard result >= 0 else { throw MessageBusError(errno: -result) }
    guard result > 0 else { return nil }
    return .some(message.map { BusMessage($0) })
  }

  /// Calls a method and waits for its reply.
  @discardableResult
  package func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String,
    _ write: (BusMessage) throws -> Void = { _ in }
  ) throws(MessageBusError) -> BusMessage {
    var made: OpaquePointer?
    let result = lodestone_message_new(raw, destination, path, interface, member, &made)
    guard result >= 0, let made else { throw MessageBusError(errno: -result) }
    let message = BusMessage(made)
    do { try write(message) } catch { throw MessageBusError(errno: EINVAL) }
    var reply: OpaquePointer?
    var text = [CChar](repeating: 0, count: 256)
    let answer = lodestone_bus_call(raw, message.raw, Self.timeout, &reply, &text, text.count)
    guard answer >= 0, let reply else {
      let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      throw MessageBusError(reply: String(decoding: bytes, as: UTF8.self), errno: -answer)
    }
    return BusMessage(reply)
  }

  // MARK: Serving

  /// Becomes the owner of a name. The error is EEXIST where another program is.
  package func claim(_ name: String) throws(MessageBusError) {
    let result = lodestone_bus_claim(raw, name)
    guard result >= 0 else { throw MessageBusError(errno: -result) }
  }

  /// Sends the reply of a method to the program that has called it.
  package func reply(
    to call: BusMessage, _ write: (BusMessage) throws -> Void = { _ in }
  ) throws(MessageBusError) {
    var made: OpaquePointer?
    let result = lodestone_message_reply(call.raw, &made)
    try send(made, result, write)
  }

  /// Answers a call with an error.
  package func refuse(
    _ call: BusMessage, _ name: String, _ text: String
  ) throws(MessageBusError) {
    var made: OpaquePointer?
    let result = lodestone_message_refuse(call.raw, name, text, &made)
    try send(made, result) { _ in }
  }

  /// Sends a signal to all who listen for it.
  package func signal(
    _ path: String, _ interface: String, _ member: String, _ write: (BusMessage) throws -> Void
  ) throws(MessageBusError) {
    var made: OpaquePointer?
    let result = lodestone_message_signal(raw, path, interface, member, &made)
    try send(made, result, write)
  }

  private func send(
    _ made: OpaquePointer?, _ result: Int32, _ write: (BusMessage) throws -> Void
  ) throws(MessageBusError) {
    guard result >= 0, let made else { throw MessageBusError(errno: -result) }
    let message = BusMessage(made)
    do { try write(message) } catch { throw MessageBusError(errno: EINVAL) }
    let sent = lodestone_bus_send(raw, message.raw)
    guard sent >= 0 else { throw MessageBusError(errno: -sent) }
  }
}

/// A message, and the place in it that is read or written next.
package final class BusMessage {
  /// Entries of an array that are read, at most: more than a thousand devices are in no room.
  private static let mostEntries = 1_024
  package let raw: OpaquePointer

  package init(_ raw: OpaquePointer) { self.raw = raw }

  deinit { lodestone_message_close(raw) }

  package var isSignal: Bool { lodestone_message_is_signal(raw) != 0 }
  package var isCall: Bool { lodestone_message_is_call(raw) != 0 }
  package var sender: String? { lodestone_message_sender(raw).map { String(cString: $0) } }
  package var path: String? { lodestone_message_path(raw).map { String(cString: $0) } }
  package var interface: String? { lodestone_message_interface(raw).map { String(cString: $0) } }
  package var member: String? { lodestone_message_member(raw).map { String(cString: $0) } }

  // MARK: Reading

  /// A text (`s`) or a path (`o`).
  package func text(_ type: Character = "s") throws -> String {
    var value: UnsafePointer<CChar>?
    try check(lodestone_message_read(raw, code(type), &value))
    guard let value else { throw MalformedMessage() }
    return String(cString: value)
  }

  package func boolean() throws -> Bool {
    var value: Int32 = 0
    try check(lodestone_message_read(raw, code("b"), &value))
    return value != 0
  }

  package func number32() throws -> Int32 {
    var value: Int32 = 0
    try check(lodestone_message_read(raw, code("i"), &value))
    return value
  }

  package func unsigned32() throws -> UInt32 {
    var value: UInt32 = 0
    try check(lodestone_message_read(raw, code("u"), &value))
    return value
  }

  package func double() throws -> Double {
    var value = 0.0
    try check(lodestone_message_read(raw, code("d"), &value))
    return value
  }

  package func number16() throws -> Int16 {
    var value: Int16 = 0
    try check(lodestone_message_read(raw, code("n"), &value))
    return value
  }

  package func unsigned16() throws -> UInt16 {
    var value: UInt16 = 0
    try check(lodestone_message_read(raw, code("q"), &value))
    return value
  }

  /// Bytes (`ay`); `nil` for more than an advertisement holds.
  package func bytes(atMost most: Int) throws -> [UInt8]? {
    var start: UnsafeRawPointer?
    var count = 0
    try check(lodestone_message_bytes(raw, &start, &count))
    guard count <= most else { return nil }
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// What stands in a variant, where it is of the type; else it is passed over.
  package func variant<Value>(_ contents: String, _ body: () throws -> Value) throws -> Value? {
    var type: CChar = 0
    var found: UnsafePointer<CChar>?
    try check(lodestone_message_peek(raw, &type, &found))
    guard type == code("v"), let found, String(cString: found) == contents else {
      try check(lodestone_message_skip(raw, "v"))
      return nil
    }
    try enter("v", contents)
    let value = try body()
    try exit()
    return value
  }

  /// Everything in a dictionary; `body` has to read key and value.
  package func entries(_ contents: String, _ body: () throws -> Void) throws {
    try enter("a", "{\(contents)}")
    var count = 0
    while try enter("e", contents, isOptional: true) {
      count += 1
      guard count <= Self.mostEntries else { throw MalformedMessage() }
      try body()
      try exit()
    }
    try exit()
  }

  /// All texts of an array.
  package func texts() throws -> [String] {
    try enter("a", "s")
    var all: [String] = []
    var value: UnsafePointer<CChar>?
    while true {
      let result = lodestone_message_read(raw, code("s"), &value)
      try check(result)
      guard result > 0, let value else { break }
      guard all.count < Self.mostEntries else { throw MalformedMessage() }
      all.append(String(cString: value))
    }
    try exit()
    return all
  }

  package func skip(_ types: String) throws { try check(lodestone_message_skip(raw, types)) }

  // MARK: Writing

  package func write(_ text: String, as type: Character = "s") throws {
    try check(text.withCString { lodestone_message_append(raw, code(type), $0) })
  }

  /// A dictionary of texts and variants.
  package func writeDictionary(_ body: () throws -> Void) throws {
    try container("a", "{sv}", body)
  }

  package func writeEntry(_ key: String, _ contents: String, _ body: () throws -> Void) throws {
    try container("e", "sv") {
      try write(key)
      try container("v", contents, body)
    }
  }

  package func write(_ value: Bool) throws {
    var value: Int32 = value ? 1 : 0
    try check(lodestone_message_append(raw, code("b"), &value))
  }

  package func write(_ value: Int32) throws {
    var value = value
    try check(lodestone_message_append(raw, code("i"), &value))
  }

  package func write(_ value: UInt32) throws {
    var value = value
    try check(lodestone_message_append(raw, code("u"), &value))
  }

  package func write(_ value: UInt16) throws {
    var value = value
    try check(lodestone_message_append(raw, code("q"), &value))
  }

  package func write(_ value: Double) throws {
    var value = value
    try check(lodestone_message_append(raw, code("d"), &value))
  }

  /// Writes an array of bytes (`ay`).
  package func write(bytes: [UInt8]) throws {
    try container("a", "y") {
      for byte in bytes {
        var byte = byte
        try check(lodestone_message_append(raw, code("y"), &byte))
      }
    }
  }

  package func container(_ type: Character, _ contents: String, _ body: () throws -> Void) throws {
    try check(lodestone_message_begin(raw, code(type), contents))
    try body()
    try check(lodestone_message_end(raw))
  }

  @discardableResult
  private func enter(_ type: Character, _ contents: String, isOptional: Bool = false) throws -> Bool
  {
    let result = lodestone_message_enter(raw, code(type), contents)
    try check(result)
    if result == 0, !isOptional { throw MalformedMessage() }
    return result > 0
  }

  private func exit() throws { try check(lodestone_message_exit(raw)) }

  private func check(_ result: Int32) throws { if result < 0 { throw MalformedMessage() } }

  private func code(_ type: Character) -> CChar { CChar(bitPattern: type.asciiValue ?? 0) }
}
