// The receivers that the catalogue knows, on the wires that they can have, and the bench they stand on.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Synchronization
import Testing

@testable import SimulatedDevices

/// One kind of receiver on one kind of wire.
struct ReceiverContract: Sendable, CustomTestStringConvertible {
  enum Wire: String, Sendable { case serial, ddc }

  /// The name in the catalogue.
  let chip: String
  let model: ReceiverTwinModel
  let wire: Wire

  var testDescription: String { "\(model.rawValue) over \(wire.rawValue)" }

  /// What the hub does with it: any but `NMEA` is configured.
  var isConfigurable: Bool { kind != .readOnly }

  var kind: ReceiverControl {
    switch chip {
    case "u-blox": .uBlox
    case "GNSS": .any
    default: .readOnly
    }
  }

  /// Whether its epochs come in UBX.
  var speaksUBX: Bool { isConfigurable && model.isUBlox }

  /// Seconds until it is found and told what to send. One that is silent before it is told is asked when all rates of the line have been
  /// listened at.
  var findingTime: Double { model == .unicore ? 25 : 12 }

  /// The rate at which the hub opens the line.
  var firstBaudRate: Int { kind == .readOnly ? 9_600 : 38_400 }

  /// The most epochs a second of the receiver's data sheet.
  var fastestRate: Double {
    switch model {
    case .ublox5: 4
    case .ublox6: 5
    case .ublox7, .mediaTek, .airoha, .casic, .unicore, .quectel, .skyTraq, .skyTraqVenus6,
      .allystar:
      10
    case .allystarRTK: 5
    case .ubloxM8, .ubloxM9, .ubloxF9P, .ubloxM10, .ubloxX20D: 25
    case .nmea: 1
    }
  }

  static let all = [
    ReceiverContract(chip: "u-blox", model: .ublox5, wire: .serial),
    ReceiverContract(chip: "u-blox", model: .ublox6, wire: .serial),
    ReceiverContract(chip: "u-blox", model: .ublox7, wire: .serial),
    ReceiverContract(chip: "u-blox", model: .ublox6, wire: .ddc),
    ReceiverContract(chip: "u-blox", model: .ubloxM8, wire: .serial),
    ReceiverContract(chip: "u-blox", model: .ubloxM9, wire: .serial),
    ReceiverContract(chip: "u-blox", model: .ubloxM10, wire: .serial),
    ReceiverContract(chip: "u-blox", model: .ubloxM8, wire: .ddc),
    ReceiverContract(chip: "u-blox", model: .ubloxM9, wire: .ddc),
    ReceiverContract(chip: "u-blox", model: .ubloxM10, wire: .ddc),
    ReceiverContract(chip: "GNSS", model: .ubloxM10, wire: .serial),
    ReceiverContract(chip: "GNSS", model: .mediaTek, wire: .serial),
    ReceiverContract(chip: "GNSS", model: .airoha, wire: .serial),
    ReceiverContract(chip: "GNSS", model: .casic, wire: .serial),
    ReceiverContract(chip: "GNSS", model: .unicore, wire: .serial),
    ReceiverContract(chip: "GNSS", model: .quectel, wire: .serial),
    ReceiverContract(chip: "GNSS", model: .skyTraq, wire: .serial),
    ReceiverContract(chip: "GNSS", model: .skyTraqVenus6, wire: .serial),
    ReceiverContract(chip: "GNSS", model: .allystar, wire: .serial),
    ReceiverContract(chip: "NMEA", model: .nmea, wire: .serial),
  ]
}

/// A place, a speed and a course that the test gives as a function of the time since the start.
struct ScriptedTruth: TruthSource {
  struct Motion: Sendable {
    /// Degrees, WGS 84.
    var latitude = 48.1374
    var longitude = 11.5755
    /// Metres above the sea, and of the sea above the ellipsoid.
    var altitude = 519.0
    var separation = 45.7
    /// m/s over ground, degrees from north, m/s up.
    var speed = 1.5
    var course = 77.0
    var climb = 0.25
  }

  /// A spring noon of 2026.
  static let utcStart = 1_774_526_400.0

  let start: Timestamp
  let motion: @Sendable (_ seconds: Double) -> Motion

  func truth(at time: Timestamp) -> TruthState {
    let seconds = time.seconds(since: start)
    let motion = motion(seconds)
    let (sine, cosine) = Self.unit(motion.course)
    return TruthState(
      time: time, utc: Self.utcStart + seconds, attitude: .identity, angularRate: .zero,
      velocity: Vector3(motion.speed * sine, motion.speed * cosine, motion.climb),
      acceleration: .zero, specificForce: Vector3(0, 0, 9.80665), latitude: motion.latitude,
      longitude: motion.longitude, altitude: motion.altitude,
      ellipsoidalAltitude: motion.altitude + motion.separation, relativeAltitude: 0,
      heading: motion.course, magneticHeading: motion.course, declination: 0, pitch: 0, roll: 0,
      course: motion.course, speed: motion.speed, hasFix: true, magneticField: .zero,
      pressure: 101_325, temperature: 20)
  }

  /// Sine and cosine of an angle in degrees.
  private static func unit(_ degrees: Double) -> (Double, Double) {
    let rotation = Quaternion(rotationVector: Vector3(0, 0, degrees * .pi / 180))
    let direction = rotation.rotate(Vector3(1, 0, 0))
    return (direction.y, direction.x)
  }
}

/// One exact receiver under power for ten seconds, and what the hub opens of it.
final class ReceiverBench {
  static let bus = "/dev/i2c-1"
  static let port = "/dev/serial0"
  /// The hub's pace over I2C; a serial port is looked at as often here.
  private static let step = 0.1

  let clock = VirtualClock()
  let truth: ScriptedTruth
  private let contract: ReceiverContract
  private let rate: Double
  private let dynamicModel: DynamicModel?
  private let readsHeading: Bool
  private let base: BasePlace?
  private let registers: RegisterSlot?
  private let serial: SerialSlot?

  /// - Parameters:
  ///   - antennas: Of a receiver with two antennas that is asked for its heading, the angle of their line, radians.
  ///   - baudRate: The rate of its line after power-on; `nil` for its model's own.
  init(
    _ contract: ReceiverContract, rate: Double = 5, dynamicModel: DynamicModel? = nil,
    antennas: Double? = nil, readsHeading: Bool = false, base: BasePlace? = nil,
    baudRate: Int? = nil,
    motion: @escaping @Sendable (_ seconds: Double) -> ScriptedTruth.Motion = { _ in .init() }
  ) {
    self.contract = contract
    self.rate = rate
    self.dynamicModel = dynamicModel
    self.readsHeading = readsHeading
    self.base = base
    truth = ScriptedTruth(start: clock.now(), motion: motion)
    let power = clock.now().advanced(bySeconds: -10)
    var receiver = ReceiverTwin(
      contract.model, link: contract.wire == .ddc ? .i2c : .uart, source: truth,
      baudRate: baudRate, antennas: antennas, isExact: true)
    switch contract.wire {
    case .serial:
      receiver.powerOn(at: power)
      serial = SerialSlot(port: Self.port, receiver: receiver)
      registers = nil
    case .ddc:
      var twin = DDCReceiverTwin(receiver)
      twin.powerOn(at: power)
      registers = RegisterSlot(bus: Self.bus, address: 0x42, interrupt: nil, twin: twin)
      serial = nil
    }
  }

  /// Opens the wire and puts the driver on it, as the hub does.
  func open() throws(BusError) -> GNSSReceiver {
    guard let serial else {
      let device = SimulatedRegisterDevice(
        slot: registers, bus: Self.bus, address: 0x42, clock: clock)
      return GNSSReceiver(
        UBloxDDCStream(device), as: contract.kind, outputRate: rate, model: dynamicModel,
        base: base, baudRate: nil, searchesBaudRate: false)
    }
    let baudRate = contract.firstBaudRate
    let stream = try SimulatedByteStream(slot: serial, baudRate: baudRate, clock: clock)
    return GNSSReceiver(
      stream, as: contract.kind, outputRate: rate, model: dynamicModel, readsHeading: readsHeading,
      base: base, baudRate: baudRate, searchesBaudRate: true)
  }

  func begin(_ fault: SimulatedFault) {
    let now = clock.now()
    registers?.state.withLock {
      $0.faults.add(fault, from: now, until: .distantFuture, now: now)
    }
    serial?.state.withLock { $0.faults.add(fault, from: now, until: .distantFuture, now: now) }
  }

  func endFaults() {
    let now = clock.now()
    registers?.state.withLock { $0.faults.end(at: now) }
    serial?.state.withLock { $0.faults.end(at: now) }
  }

  /// What the receiver is set to.
  var configuration: ReceiverConfiguration? {
    serial?.state.withLock { $0.receiver.configuration }
  }

  /// Milliseconds from one epoch that it sends to the next.
  var period: Int? {
    configuration.map { configuration in
      contract.model == .quectel
        ? configuration.epochPeriod
          * Int(configuration.sentenceRates[SimulatedSentence.rmc.rawValue])
        : configuration.epochPeriod
    }
  }

  /// Whether the receiver sleeps.
  var isAsleep: Bool { serial?.state.withLock { $0.receiver.isAsleep } ?? false }

  /// Changes what the receiver on the serial line reports of its antenna and its surroundings.
  func change(_ change: (inout SimulatedCondition) -> Void) {
    serial?.state.withLock { change(&$0.receiver.condition) }
  }

  /// Changes what the receiver on the serial line does as a base station, and returns how often it was told to be one.
  @discardableResult
  func conduct(_ change: (inout BaseConduct) -> Void = { _ in }) -> Int {
    serial?.state.withLock {
      change(&$0.receiver.baseConduct)
      return $0.receiver.baseConduct.commands
    } ?? 0
  }

  /// The receiver on the serial line sends NMEA again and no NAV-PVT, by a hand that is not the driver's.
  func speakNMEA() {
    serial?.state.withLock {
      $0.receiver.configuration.sendsNMEA = true
      $0.receiver.configuration.positionRate = 0
      for sentence in [SimulatedSentence.rmc, .gga] {
        $0.receiver.configuration.sentenceRates[sentence.rawValue] = 1
      }
    }
  }

  /// The receiver on the serial line does not say its generation.
  func hideGeneration() { serial?.state.withLock { $0.receiver.hidesGeneration = true } }

  /// The firmware of the receiver on the serial line refuses commands, or passes them over.
  func lack(refused: Set<Int> = [], silent: Set<Int> = []) {
    serial?.state.withLock {
      ($0.receiver.refusedCommands, $0.receiver.silentCommands) = (refused, silent)
    }
  }

  /// The host's side of the serial line goes to another rate behind the driver's back.
  func listenAt(_ baudRate: Int) { serial?.state.withLock { $0.hostBaudRate = baudRate } }

  /// Polls as the hub does for so many seconds: the fixes and the failures, in order.
  func run(
    _ receiver: GNSSReceiver, seconds: Double, each: (GNSSFix) -> Void = { _ in }
  ) -> [DriverError] {
    var errors: [DriverError] = []
    for _ in 0..<Int((seconds / Self.step).rounded()) {
      clock.advance(bySeconds: Self.step)
      let now = clock.now()
      do throws(DriverError) {
        while let fix = try receiver.poll(now: now) { each(fix) }
      } catch {
        errors.append(error)
      }
    }
    return errors
  }
}
