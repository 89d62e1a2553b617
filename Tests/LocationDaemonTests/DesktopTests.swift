// The compass of desktops and the publication of ports, on a private D-Bus.

import Foundation
import LinearAlgebra
import LinuxIO
import LocationServices
import OutputProtocols
import SensorTypes
import Synchronization
import Testing

@testable import LocationDaemon

/// A D-Bus for one test.
private final class TestBus {
  static let program = "/usr/bin/dbus-daemon"
  static var isThere: Bool { FileManager.default.isExecutableFile(atPath: program) }
  let address: String
  private let process = Process()
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-desktop-\(UUID().uuidString.prefix(8))")
    address = "unix:path=\(folder.path)/bus"
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "bus.conf")
    try """
    <busconfig><type>system</type><listen>\(address)</listen><policy context="default">
    <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/>
    <allow send_type="signal"/></policy></busconfig>
    """.write(to: file, atomically: true, encoding: .utf8)
    process.executableURL = URL(filePath: Self.program)
    process.arguments = [
      "--config-file=\(file.path)", "--nofork", "--nopidfile", "--print-address",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // It prints its address as soon as it listens.
    try #require(!output.fileHandleForReading.availableData.isEmpty)
  }

  deinit {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }
}

/// A program that reads the compass.
private final class Desktop {
  let bus: MessageBus
  private(set) var headings: [Double] = []
  private(set) var presences: [Bool] = []

  init(_ address: String) throws {
    bus = try MessageBus(address: address)
    try bus.call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch"
    ) {
      try $0.write("type='signal',interface='org.freedesktop.DBus.Properties'")
    }
  }

  @discardableResult
  func call(
    _ member: String, _ path: String = SensorProxyClient.compass,
    interface: String = SensorProxyClient.compassInterface,
    _ write: (BusMessage) throws -> Void = { _ in }
  ) throws(MessageBusError) -> BusMessage {
    try bus.call(SensorProxyClient.service, path, interface, member, write)
  }

  func property(_ name: String) throws -> BusMessage {
    try call("Get", interface: "org.freedesktop.DBus.Properties") { message in
      try message.write(SensorProxyClient.compassInterface)
      try message.write(name)
    }
  }

  /// Takes the signals that have come.
  func listen() {
    while let step = try? bus.next() {
      guard let message = step, message.member == "PropertiesChanged",
        let found = try? read(message)
      else { continue }
      headings += found.heading.map { [$0] } ?? []
      presences += found.has.map { [$0] } ?? []
    }
  }

  private func read(_ message: BusMessage) throws -> (has: Bool?, heading: Double?) {
    var (has, heading): (Bool?, Double?)
    #expect(try message.text() == SensorProxyClient.compassInterface)
    try message.entries("sv") {
      switch try message.text() {
      case "HasCompass": has = try message.variant("b") { try message.boolean() }
      case "CompassHeading": heading = try message.variant("d") { try message.double() }
      default: try message.skip("v")
      }
    }
    return (has, heading)
  }
}

@Suite(.enabled(if: TestBus.isThere, "LEFT OUT: dbus-daemon is not installed"))
struct DesktopTests {
  private func state(
    _ degrees: Double?, accuracy: Double = 0.05, at now: Timestamp
  ) -> PublishedState {
    var state = PublishedState()
    if let degrees {
      state.take(
        .heading(
          HeadingEstimate(
            time: now, magneticHeading: degrees * .pi / 180, accuracy: accuracy, field: nil,
            attitude: .identity)))
    }
    return state
  }

  /// Waits for a condition, ten seconds at most.
  private func eventually(_ condition: () -> Bool) -> Bool {
    let end = Date(timeIntervalSinceNow: 10)
    while !condition() {
      guard Date() < end else { return false }
      sched_yield()
    }
    return true
  }

  @Test("a compass is claimed, turns, is lost, and is released by a program that ends")
  func compass() throws {
    let bus = try TestBus()
    let output = SensorProxyOutput(address: bus.address)
    output.begin {}
    let now = BusSession.now
    var desktop: Desktop? = try Desktop(bus.address)
    #expect(eventually { (try? desktop?.property("HasCompass")) != nil })
    #expect(output.demand == Demand(), "chips sleep until somebody claims the compass")
    try desktop?.call("ClaimCompass")
    #expect(eventually { output.demand == Demand(heading: true) })
    #expect(output.summary.listeners == 1 && output.summary.problem == nil)
    #expect(throws: MessageBusError.self) { try desktop?.property("CompassHeading") }
    _ = output.advance(state(359.97, at: now), to: now)
    #expect(
      eventually {
        desktop?.listen(); return desktop?.headings == [0]
      })
    _ = output.advance(state(90, at: now), to: now)
    #expect(
      eventually {
        desktop?.listen(); return desktop?.headings == [0, 90]
      })
    let reply = try desktop?.property("CompassHeading")
    #expect(try reply?.variant("d") { try reply?.double() } == 90)
    // Nothing but a heading that is known to 23 degrees, which the interface cannot say: after three seconds there is no compass, and no
    // number.
    _ = output.advance(state(45, accuracy: 0.4, at: now), to: now)
    #expect(
      eventually {
        desktop?.listen(); return desktop?.presences == [false]
      })
    #expect(throws: MessageBusError.self) { try desktop?.property("CompassHeading") }
    _ = output.advance(state(90, at: now), to: now)
    #expect(
      eventually {
        desktop?.listen(); return desktop?.presences == [false, true]
      })
    #expect(
      eventually {
        desktop?.listen(); return desktop?.headings == [0, 90, 90]
      })
    desktop = nil
    #expect(eventually { output.demand == Demand() })
  }

  @Test("a desktop that asks for other sensors sees that there are none; nonsense is refused")
  func others() throws {
    let bus = try TestBus()
    let output = SensorProxyOutput(address: bus.address)
    output.begin {}
    let desktop = try Desktop(bus.address)
    #expect(eventually { (try? desktop.property("HasCompass")) != nil })
    let (root, service) = (SensorProxyClient.root, SensorProxyClient.service)
    try desktop.call("ClaimAccelerometer", root, interface: service)
    let all = try desktop.call(
      "GetAll", root, interface: "org.freedesktop.DBus.Properties"
    ) { try $0.write(service) }
    var flags: [String: Bool] = [:]
    try all.entries("sv") {
      let name = try all.text()
      if let flag = try all.variant("b", { try all.boolean() }) { flags[name] = flag }
    }
    #expect(flags == ["HasAccelerometer": false, "HasAmbientLight": false, "HasProximity": false])
    for member in ["Explode", "SetCompass"] {
      #expect(throws: MessageBusError.self) { try desktop.call(member) }
    }
    #expect(throws: MessageBusError.self) {
      try desktop.call("Get", interface: "org.freedesktop.DBus.Properties")
    }
    #expect(output.summary.dropped >= 3)
  }

  @Test(
    "where another program owns the name, the status says so, and the name is taken when it is free"
  )
  func taken() throws {
    let bus = try TestBus()
    var other: MessageBus? = try MessageBus(address: bus.address)
    try other?.claim(SensorProxyClient.service)
    let output = SensorProxyOutput(address: bus.address)
    output.begin {}
    #expect(eventually { output.summary.problem?.contains("iio-sensor-proxy") == true })
    other = nil
    #expect(eventually { output.summary.problem == nil })
  }

  @Test("one process gets four claims of the compass, and its next one when it has released one")
  func claims() throws {
    let bus = try TestBus()
    let output = SensorProxyOutput(address: bus.address)
    output.begin {}
    var desktops = try (0..<5).map { _ in try Desktop(bus.address) }
    #expect(eventually { (try? desktops[0].property("HasCompass")) != nil })
    for desktop in desktops.prefix(4) { try desktop.call("ClaimCompass") }
    // A second claim of a program is none.
    try desktops[0].call("ClaimCompass")
    #expect(throws: MessageBusError.self) { try desktops[4].call("ClaimCompass") }
    #expect(output.summary.listeners == 4 && output.summary.dropped == 1)
    desktops.removeFirst()
    #expect(eventually { (try? desktops[3].call("ClaimCompass")) != nil })
    #expect(eventually { output.summary.listeners == 4 })
  }

  @Test("without a bus the status says so, and nothing waits")
  func noBus() {
    let output = SensorProxyOutput(address: "unix:path=/nonexistent/bus")
    output.begin {}
    #expect(eventually { output.summary.problem?.contains("there is no D-Bus") == true })
    #expect(output.advance(PublishedState(), to: BusSession.now) == nil)
  }

  // MARK: Avahi

  /// An avahi-daemon by its D-Bus interfaces.
  private final class FakeAvahi: Sendable {
    struct State: Sendable {
      var services: [String] = []
      var commits = 0
      /// The connection that has called last.
      var caller = ""
      var isEnding = false
    }
    let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    init(_ address: String, collisions: Int) throws {
      let ready = DispatchSemaphore(value: 0)
      Thread.detachNewThread { [self] in
        defer { ended.signal() }
        guard let bus = try? MessageBus(address: address),
          (try? bus.claim("org.freedesktop.Avahi")) != nil
        else {
          ready.signal()
          return
        }
        ready.signal()
        var collisions = collisions
        while !state.withLock({ $0.isEnding }) {
          while let step = try? bus.next() {
            if let call = step, call.isCall { answer(call, bus, &collisions) }
          }
          sched_yield()
        }
      }
      ready.wait()
    }

    func end() {
      state.withLock { $0.isEnding = true }
      ended.wait()
    }

    private func answer(_ call: BusMessage, _ bus: MessageBus, _ collisions: inout Int) {
      call.sender.map { sender in state.withLock { $0.caller = sender } }
      switch call.member {
      case "EntryGroupNew":
        try? bus.reply(to: call) { try $0.write("/Client1/EntryGroup1", as: "o") }
      case "AddService":
        for type in ["i", "i", "u"] { try? call.skip(type) }
        let words = [try? call.text(), try? call.text(), try? call.text(), try? call.text()]
        let port = (try? call.unsigned16()) ?? 0
        let text = words.map { $0 ?? "?" }.joined(separator: "|")
        state.withLock { $0.services.append("\(text)|\(port)") }
        try? bus.reply(to: call)
      case "Reset":
        state.withLock { $0.services = [] }
        try? bus.reply(to: call)
      case "Commit":
        state.withLock { $0.commits += 1 }
        try? bus.reply(to: call)
        let isTaken = collisions > 0
        collisions -= 1
        try? bus.signal(
          "/Client1/EntryGroup1", "org.freedesktop.Avahi.EntryGroup", "StateChanged"
        ) { message in
          try message.write(Int32(isTaken ? 3 : 2))
          try message.write(isTaken ? "org.freedesktop.Avahi.CollisionError" : "")
        }
      default: try? bus.refuse(call, "org.freedesktop.DBus.Error.UnknownMethod", "no")
      }
    }
  }

  @Test(
    "ports are published, under another name where the first is taken, and again after a restart")
  func avahi() throws {
    let bus = try TestBus()
    let nmea = try #require(PublishedPort("nmea0183", address: "0.0.0.0", port: 10_110))
    let signalK = try #require(PublishedPort("signalk", address: "::", port: 8_375))
    // Of a port that another program has, nobody is to be led there.
    let closed = try #require(
      PublishedPort("nmea0183", address: "0.0.0.0", port: 10_111, report: PortReport()))
    let publication = AvahiPublication(
      [nmea, closed, signalK], label: "boat", address: bus.address)
    publication.begin {}
    #expect(eventually { publication.summary.problem?.contains("avahi-daemon") == true })
    let first = try FakeAvahi(bus.address, collisions: 1)
    #expect(eventually { publication.summary.sent == 1 && publication.summary.problem == nil })
    #expect(
      first.state.withLock { $0.services } == [
        "boat #2|_nmea-0183._tcp|||10110", "boat #2|_signalk-tcp._tcp|||8375",
      ])
    first.end()
    #expect(eventually { publication.summary.problem?.contains("has ended") == true })
    let second = try FakeAvahi(bus.address, collisions: 0)
    #expect(eventually { publication.summary.sent == 2 && publication.summary.problem == nil })
    #expect(second.state.withLock { $0.services.count } == 2)
    second.end()
    #expect(publication.demand == Demand())
  }

  private static let sender = "/usr/bin/dbus-send"

  @Test(
    "a signal of another program that looks like one of Avahi changes nothing",
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: sender),
      "LEFT OUT: dbus-send is not installed"))
  func impostor() throws {
    let bus = try TestBus()
    let nmea = try #require(PublishedPort("nmea0183", address: "0.0.0.0", port: 10_110))
    let first = try FakeAvahi(bus.address, collisions: 0)
    let publication = AvahiPublication([nmea], label: "boat", address: bus.address)
    publication.begin {}
    #expect(eventually { publication.summary.sent == 1 })
    let process = Process()
    process.executableURL = URL(filePath: Self.sender)
    process.arguments = [
      "--bus=\(bus.address)", "--type=signal", "--dest=\(first.state.withLock { $0.caller })",
      "/Client1/EntryGroup1", "org.freedesktop.Avahi.EntryGroup.StateChanged", "int32:3",
      "string:taken",
    ]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    first.end()
    #expect(eventually { publication.summary.problem?.contains("has ended") == true })
    let second = try FakeAvahi(bus.address, collisions: 0)
    #expect(eventually { publication.summary.sent == 2 })
    #expect(second.state.withLock { $0.services } == ["boat|_nmea-0183._tcp|||10110"])
    second.end()
  }

  @Test("what only this machine reaches is not published")
  func loopback() {
    for address in ["127.0.0.1", "127.0.1.1", "::1", "::ffff:127.0.0.1"] {
      #expect(PublishedPort("nmea0183", address: address, port: 10_110) == nil)
    }
    #expect(PublishedPort("gpsd", address: "0.0.0.0", port: 2_947) == nil)
    for (positions, word) in [(PositionLimit.exact, "exact"), (.reduced, "city"), (.none, "none")] {
      let port = PublishedPort("nmea0183", address: "::", port: 1, positions: positions)
      #expect(port?.texts == ["accuracy=\(word)"])
    }
    #expect(PublishedPort("nmea0183", address: "192.168.1.7", port: 10_110) != nil)
  }
}
