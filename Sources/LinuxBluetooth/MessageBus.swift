// A connection to a D-Bus, and its messages; all of it belongs to one thread.

import CLinuxIO
import Glibc

/// Why a call on the bus has failed.
struct MessageBusError: Error {
  /// The name of the error that was the reply, and its text; empty where there was no reply.
  var reply = ""
  var errno: Int32 = 0
}

/// A message that does not hold what it should.
struct MalformedMessage: Error {}

/// A connection to a bus. Every wait in it ends after two seconds.
final class MessageBus {
  static let timeout: Int32 = 2_000
  let raw: OpaquePointer

  init(address: String) throws(MessageBusError) {
    var opened: OpaquePointer?
    let result = lodestone_bus_open(address, Self.timeout, &opened)
    guard result >= 0, let opened else { throw MessageBusError(errno: -result) }
    raw = opened
  }

  deinit { lodestone_bus_close(raw) }

  var descriptor: Int32 { lodestone_bus_fd(raw) }

  /// The next message; `.some(nil)` where something else was done, `nil` where there is nothing to do.
  func next() throws(MessageBusError) -> BusMessage?? {
    var message: OpaquePointer?
    let result = lodestone_bus_process(raw, &message)
    guard result >= 0 else { throw MessageBusError(errno: -result) }
    guard result > 0 else { return nil }
    return .some(message.map { BusMessage($0) })
  }

  /// Calls a method and waits for its reply.
  @discardableResult
  func call(
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
}

/// A message, and the place in it that is read or written next.
final class BusMessage {
  /// Entries of an array that are read, at most: more than a thousand devices are in no room.
  private static let mostEntries = 1_024
  let raw: OpaquePointer

  init(_ raw: OpaquePointer) { self.raw = raw }

  deinit { lodestone_message_close(raw) }

  var isSignal: Bool { lodestone_message_is_signal(raw) != 0 }
  var sender: String? { lodestone_message_sender(raw).map { String(cString: $0) } }
  var path: String? { lodestone_message_path(raw).map { String(cString: $0) } }
  var interface: String? { lodestone_message_interface(raw).map { String(cString: $0) } }
  var member: String? { lodestone_message_member(raw).map { String(cString: $0) } }

  // MARK: Reading

  /// A text (`s`) or a path (`o`).
  func text(_ type: Character = "s") throws -> String {
    var value: UnsafePointer<CChar>?
    try check(lodestone_message_read(raw, code(type), &value))
    guard let value else { throw MalformedMessage() }
    return String(cString: value)
  }

  func boolean() throws -> Bool {
    var value: Int32 = 0
    try check(lodestone_message_read(raw, code("b"), &value))
    return value != 0
  }

  func number16() throws -> Int16 {
    var value: Int16 = 0
    try check(lodestone_message_read(raw, code("n"), &value))
    return value
  }

  func unsigned16() throws -> UInt16 {
    var value: UInt16 = 0
    try check(lodestone_message_read(raw, code("q"), &value))
    return value
  }

  /// Bytes (`ay`); `nil` for more than an advertisement holds.
  func bytes(atMost most: Int) throws -> [UInt8]? {
    var start: UnsafeRawPointer?
    var count = 0
    try check(lodestone_message_bytes(raw, &start, &count))
    guard count <= most else { return nil }
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// What stands in a variant, where it is of the type; else it is passed over.
  func variant<Value>(_ contents: String, _ body: () throws -> Value) throws -> Value? {
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
  func entries(_ contents: String, _ body: () throws -> Void) throws {
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
  func texts() throws -> [String] {
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

  func skip(_ types: String) throws { try check(lodestone_message_skip(raw, types)) }

  // MARK: Writing

  func write(_ text: String, as type: Character = "s") throws {
    try check(text.withCString { lodestone_message_append(raw, code(type), $0) })
  }

  /// A dictionary of texts and variants.
  func writeDictionary(_ body: () throws -> Void) throws {
    try container("a", "{sv}", body)
  }

  func writeEntry(_ key: String, _ contents: String, _ body: () throws -> Void) throws {
    try container("e", "sv") {
      try write(key)
      try container("v", contents, body)
    }
  }

  func write(_ value: Bool) throws {
    var value: Int32 = value ? 1 : 0
    try check(lodestone_message_append(raw, code("b"), &value))
  }

  func container(_ type: Character, _ contents: String, _ body: () throws -> Void) throws {
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
