// Every fault of a receiver: what the driver says while it lasts, and that epochs come again, right and
// by the same messages, when it is over.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// A receiver that has been found, configured and heard.
private final class Listener {
  let contract: ReceiverContract
  let bench: ReceiverBench
  var receiver: GNSSReceiver

  init(_ contract: ReceiverContract) throws {
    self.contract = contract
    bench = ReceiverBench(contract)
    receiver = try bench.open()
    try expectEpochs(within: contract.findingTime)
  }

  /// How old an epoch can be when it comes: a receiver on I2C keeps what nobody fetches for 1.5 s; a
  /// quarter of a second more are the epoch's own way and the pace of polling.
  static let oldest = 1.75

  /// Polls for so many seconds. Whatever comes must be the truth of its moment: counted.
  func listen(
    _ seconds: Double, _ location: SourceLocation = #_sourceLocation
  ) -> (epochs: Int, errors: [DriverError]) {
    var epochs = 0
    let errors = bench.run(receiver, seconds: seconds) { fix in
      // After a loss of power a receiver says that it has no fix yet.
      guard fix.mode == .threeDimensional else { return }
      epochs += 1
      let truth = bench.truth.motion(0)
      // Of an epoch in several sentences one may be lost: then it lacks what that would have said.
      let lacking = contract.speaksUBX ? Double.nan : truth.altitude
      let age = (fix.utc ?? 0) - ScriptedTruth.utcStart
      let isNow = abs(bench.clock.now().seconds(since: bench.truth.start) - age) < Self.oldest
      let isHere =
        abs((fix.latitude ?? .nan) - truth.latitude) <= 2e-7
        && abs((fix.longitude ?? .nan) - truth.longitude) <= 2e-7
        && abs((fix.altitude ?? lacking) - truth.altitude) <= 0.1
      #expect(isNow && isHere, "\(fix)", sourceLocation: location)
    }
    return (epochs, errors)
  }

  /// After at most so many seconds nothing fails and epochs come at the rate asked for: one of five a
  /// second from a configured receiver, of one a second from one that is only read.
  func expectEpochs(
    within seconds: Double, _ location: SourceLocation = #_sourceLocation
  ) throws {
    _ = listen(seconds, location)
    let (epochs, errors) = listen(4, location)
    #expect(errors == [], sourceLocation: location)
    #expect(receiver.isConfigured == contract.isConfigurable, sourceLocation: location)
    let rate = Int(min(5, contract.fastestRate))
    let expected = contract.isConfigurable ? (4 * rate - 1)...(4 * rate + 1) : 3...5
    #expect(expected.contains(epochs), "\(epochs) epochs", sourceLocation: location)
  }

  /// The stream and the driver are made anew, as the hub does after the line itself failed.
  func reopen() throws { receiver = try bench.open() }

  /// What the driver says of a transfer over I2C that failed.
  func ddcError(_ reason: BusError.Reason, _ register: UInt8, errno: Int32 = 0) -> DriverError {
    .bus(
      BusError(
        reason, bus: ReceiverBench.bus, address: 0x42, register: register, errno: errno))
  }

  /// How long a talk takes at most that begins with nothing known: on a serial port eight rates of
  /// 1.6 s, the questions who is there and in two dialects, a faster line, and the start of the receiver itself.
  static let wholeTalk = 25.0
}

@Suite("Contract: faults of receivers") struct ReceiverFaultTests {
  static let serial = ReceiverContract.all.filter { $0.wire == .serial }
  static let ddc = ReceiverContract.all.filter { $0.wire == .ddc }

  @Test(
    "silence: no epoch and no error, and after three seconds it counts as lost",
    arguments: ReceiverContract.all)
  func silence(_ contract: ReceiverContract) throws {
    let listener = try Listener(contract)
    listener.bench.begin(.receiverSilent)
    // What had arrived before may still be said, once.
    #expect(listener.listen(2.5).epochs <= 1)
    #expect(listener.receiver.isConfigured == contract.isConfigurable)
    let (epochs, errors) = listener.listen(20)
    #expect(epochs == 0)
    #expect(errors == [])
    #expect(!listener.receiver.isConfigured)
    listener.bench.endFaults()
    try listener.expectEpochs(within: Listener.wholeTalk)
  }

  @Test(
    "garbage: not one epoch is made of it, and nothing fails", arguments: ReceiverContract.all)
  func garbage(_ contract: ReceiverContract) throws {
    let listener = try Listener(contract)
    listener.bench.begin(.receiverGarbage)
    #expect(listener.listen(2.5).epochs <= 1)
    let (epochs, errors) = listener.listen(20)
    #expect(epochs == 0)
    #expect(errors == [])
    listener.bench.endFaults()
    try listener.expectEpochs(within: Listener.wholeTalk)
  }

  @Test("a serial port that went away: said at every poll and at opening", arguments: serial)
  func unplugged(_ contract: ReceiverContract) throws {
    let listener = try Listener(contract)
    listener.bench.begin(.noAnswer)
    let (epochs, errors) = listener.listen(3)
    #expect(epochs == 0)
    #expect(errors.count == 30)
    let gone = DriverError.bus(
      BusError(.disconnected, bus: ReceiverBench.port, errno: 5))
    #expect(errors.allSatisfy { $0 == gone })
    #expect(throws: BusError(.notFound, bus: ReceiverBench.port, errno: 2)) {
      try listener.reopen()
    }
    listener.bench.endFaults()
    try listener.reopen()
    try listener.expectEpochs(within: Listener.wholeTalk)
  }

  @Test(
    "no answer on I2C: said at every poll; the same driver and a new one recover",
    arguments: ddc, Recovery.allCases)
  func noAnswer(_ contract: ReceiverContract, _ recovery: Recovery) throws {
    try refused(contract, .noAnswer, .noAnswer, errno: 121, recovery)
  }

  @Test(
    "timeout on I2C: said at every poll; the same driver and a new one recover",
    arguments: ddc, Recovery.allCases)
  func timeout(_ contract: ReceiverContract, _ recovery: Recovery) throws {
    try refused(contract, .timeout, .timedOut, errno: 110, recovery)
  }

  /// Every poll says that the bus refused the transfer, and why.
  private func refused(
    _ contract: ReceiverContract, _ fault: SimulatedFault, _ reason: BusError.Reason, errno: Int32,
    _ recovery: Recovery
  ) throws {
    let listener = try Listener(contract)
    listener.bench.begin(fault)
    let (epochs, errors) = listener.listen(2)
    #expect(epochs == 0)
    #expect(errors.count == 20)
    #expect(errors.allSatisfy { $0 == listener.ddcError(reason, 0xFD, errno: errno) })
    listener.bench.endFaults()
    if recovery == .newDriver { try listener.reopen() }
    try listener.expectEpochs(within: Listener.wholeTalk)
  }

  @Test("a serial port on which nothing moves is a silent one", arguments: serial)
  func serialTimeout(_ contract: ReceiverContract) throws {
    let listener = try Listener(contract)
    listener.bench.begin(.timeout)
    #expect(listener.listen(2.5).epochs <= 1)
    let (epochs, errors) = listener.listen(10)
    #expect(epochs == 0)
    #expect(errors == [])
    listener.bench.endFaults()
    try listener.expectEpochs(within: Listener.wholeTalk)
  }

  @Test("short read of the count on I2C: the count is not believed", arguments: ddc, [0, 1])
  func shortCount(_ contract: ReceiverContract, _ bytes: Int) throws {
    let listener = try Listener(contract)
    listener.bench.begin(.shortRead(bytes: bytes))
    let (epochs, errors) = listener.listen(2)
    #expect(epochs == 0)
    #expect(errors.count == 20)
    let short = BusError.Reason.shortTransfer(expected: 2, actual: bytes)
    #expect(errors.allSatisfy { $0 == listener.ddcError(short, 0xFD) })
    listener.bench.endFaults()
    try listener.expectEpochs(within: Listener.wholeTalk)
  }

  @Test("short read of the stream on I2C: said, and no epoch is made of torn bytes", arguments: ddc)
  func shortStream(_ contract: ReceiverContract) throws {
    let listener = try Listener(contract)
    listener.bench.begin(.shortRead(bytes: 40))
    let (epochs, errors) = listener.listen(2)
    #expect(epochs == 0)
    #expect(!errors.isEmpty)
    for error in errors {
      guard case .bus(let bus) = error, case .shortTransfer(let expected, 40) = bus.reason else {
        Issue.record("\(error)")
        continue
      }
      #expect(bus.register == 0xFF)
      #expect(expected > 40 && expected <= 255)
    }
    listener.bench.endFaults()
    try listener.expectEpochs(within: Listener.wholeTalk)
  }

  @Test(
    "short reads of a serial port: what comes in crumbs is put together or lost, never mixed",
    arguments: serial, [1, 7, 60])
  func crumbs(_ contract: ReceiverContract, _ bytes: Int) throws {
    let listener = try Listener(contract)
    listener.bench.begin(.shortRead(bytes: bytes))
    // What waits long in the line is old, and is right all the same.
    #expect(run(listener, seconds: 10) == [])
    listener.bench.endFaults()
    // The kernel's buffer of 4 KiB is read at once.
    #expect(run(listener, seconds: 0.2) == [])
    try listener.expectEpochs(within: Listener.wholeTalk)
  }

  /// The errors of a while in which every epoch has the right place, however old it is.
  private func run(_ listener: Listener, seconds: Double) -> [DriverError] {
    let truth = listener.bench.truth.motion(0)
    return listener.bench.run(listener.receiver, seconds: seconds) { fix in
      guard fix.mode == .threeDimensional else { return }
      #expect(near(fix.latitude ?? .nan, truth.latitude, 2e-7))
      #expect(near(fix.longitude ?? .nan, truth.longitude, 2e-7))
    }
  }

  @Test(
    "lost configuration: a receiver back with its defaults is found and configured again",
    arguments: ReceiverContract.all)
  func brownOut(_ contract: ReceiverContract) throws {
    let listener = try Listener(contract)
    listener.bench.begin(.brownOut)
    let (_, errors) = listener.listen(Listener.wholeTalk)
    switch contract.wire {
    case .serial: #expect(errors == [])
    case .ddc:
      // Until it has started (0.2 s) it does not answer.
      #expect(!errors.isEmpty && errors.count <= 2)
      #expect(errors.allSatisfy { $0 == listener.ddcError(.noAnswer, 0xFD, errno: 121) })
    }
    try listener.expectEpochs(within: 0)
  }

  @Test(
    "a receiver that comes back at another rate of the line is found there",
    arguments: serial.filter(\.isConfigurable))
  func otherBaudRate(_ contract: ReceiverContract) throws {
    let listener = try Listener(contract)
    let before = listener.receiver.baudRate
    // A driver that was told a wrong rate hears noise, as after a loss of the receiver's settings.
    listener.bench.listenAt(57_600)
    let (epochs, errors) = listener.listen(2.5)
    #expect(epochs <= 1)
    #expect(errors == [])
    try listener.expectEpochs(within: Listener.wholeTalk)
    #expect(listener.receiver.baudRate == before)
  }
}
