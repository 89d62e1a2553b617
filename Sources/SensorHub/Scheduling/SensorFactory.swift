import BoardFile
import Recording
import SensorBus
import SensorDrivers

/// Makes the driver of a board file's chip.
enum SensorFactory {
  /// Conversions a second where the board file says nothing; a chip takes its next higher one.
  static func defaultRate(_ kind: ChipKind) -> Double {
    switch kind {
    case .magnetometer: 80
    case .accelerometer: 100
    case .inertial: 200
    case .barometer: 25
    case .receiver: 5
    }
  }

  /// The schedule's entry for a sensor. A board's chips are all in the catalogue: its reader checks.
  static func task(
    index: Int, sensor: Board.Sensor
  ) -> (task: any WorkerTask, kind: DemandKind) {
    let kind = ChipCatalog.chip(named: sensor.chip)?.kind ?? .receiver
    let rate = sensor.rate ?? defaultRate(kind)
    if kind == .receiver {
      let task = ReceiverTask(index: index, sensor: sensor, rate: rate) { port throws(BusError) in
        try receiver(sensor, rate: rate, port: port)
      }
      return (task, sensor.antennas == nil ? .location : .antennas)
    }
    let task = SensorTask(index: index, sensor: sensor, rate: rate) { port, rate throws(BusError) in
      try driver(sensor, rate: rate, port: port)
    }
    switch kind {
    case .magnetometer: return (task, .heading)
    case .barometer: return (task, .altitude)
    case .accelerometer, .inertial, .receiver: return (task, .motion)
    }
  }

  private static func driver(
    _ sensor: Board.Sensor, rate: Double, port: WorkerPort
  ) throws(BusError) -> any AnySensor {
    guard case .i2c(let bus, let address) = sensor.attachment else {
      throw BusError(.unsupported("\(sensor.chip) on a serial port"), bus: sensor.attachment.bus)
    }
    guard let entry = ChipCatalog.chip(named: sensor.chip), let chip = entry.chip else {
      throw BusError(.unsupported("a chip called \(sensor.chip)"), bus: bus, address: address)
    }
    func kernels() throws(BusError) -> any AnySensor {
      BoxedSensor(
        KernelSensor(
          try port.kernelDevice(bus: bus, address: address), name: sensor.chip, kind: entry.kind,
          outputRate: rate, checks: sensor.checks))
    }
    if sensor.driver == .kernel { return try kernels() }
    let device: PortDevice
    do { device = try port.device(bus: bus, address: address) } catch {
      guard case .ownedByKernel = error.reason, sensor.driver == nil else { throw error }
      return try kernels()
    }
    func boxed(_ chip: some RegisterChip) -> any AnySensor {
      BoxedSensor(RegisterDriver(device, chip, checks: sensor.checks))
    }
    return boxed(chip(rate))
  }

  private static func receiver(
    _ sensor: Board.Sensor, rate: Double, port: WorkerPort
  ) throws(BusError) -> (receiver: any ReceiverDriver, stream: PortStream?) {
    let kind: ReceiverControl =
      switch sensor.chip {
      case "u-blox": .uBlox
      case "GNSS": .any
      default: .readOnly
      }
    switch sensor.attachment {
    case .i2c(let bus, let address):
      let stream = UBloxDDCStream(try port.device(bus: bus, address: address))
      let receiver = GNSSReceiver(
        stream, as: kind, outputRate: rate, model: sensor.dynamicModel,
        talker: sensor.talker, readsHeading: sensor.antennas != nil,
        takesCorrections: sensor.corrections != nil, base: sensor.base, baudRate: nil,
        searchesBaudRate: false)
      return (receiver, nil)
    case .serial(let path, let baudRate):
      // A rate in the board file is meant; without one the usual ones are tried.
      let rateOfLine = baudRate ?? (kind == .readOnly ? 9_600 : 38_400)
      let stream = try port.stream(path: path, baudRate: rateOfLine)
      let receiver = GNSSReceiver(
        stream, as: kind, outputRate: rate, model: sensor.dynamicModel,
        talker: sensor.talker, readsHeading: sensor.antennas != nil,
        takesCorrections: sensor.corrections != nil, base: sensor.base, baudRate: rateOfLine,
        searchesBaudRate: baudRate == nil)
      return (receiver, stream)
    case .server(let address, _) where sensor.chip != "gpsd":
      let stream = try port.connection(to: address)
      let receiver = NetworkReceiver(
        stream, from: address, outputRate: rate, talker: sensor.talker,
        readsHeading: sensor.antennas != nil)
      return (receiver, stream)
    case .server(let address, let device):
      let stream = try port.connection(to: address)
      return (GPSDReceiver(stream, at: address.description, device: device), stream)
    }
  }
}
