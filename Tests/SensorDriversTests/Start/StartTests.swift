// Starts of all chips against their twins: the datasheet's order, and what becomes of a start in which something is
// wrong.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite("Contract: starts") struct StartTests {
  /// The error of a start with a fault, and what went over the bus.
  private func start(
    _ line: StartLine, _ fault: WatchedDevice.Fault
  ) throws -> (error: DriverError?, log: [WatchedDevice.Event]) {
    let device = try WatchedDevice(line)
    device.fault = fault
    let driver = device.driver(line)
    return (failure { () throws(DriverError) in try device.start(driver) }, device.log)
  }

  @Test("every register chip has its line, and another one with its queue")
  func complete() {
    let names = Set(StartLine.all.map(\.chip.name))
    #expect(names == Set(FaultContract.all.map(\.chip)))
    let gathering = StartLine.all.filter { $0.chip.batch > 1 }.map(\.chip.name)
    #expect(Set(gathering) == Set(ChipContract.gathering.map(\.faults.chip)))
  }

  @Test(
    "the order is the datasheet's, and the check goes round the whole image",
    arguments: StartLine.all)
  func order(_ line: StartLine) throws {
    let device = try WatchedDevice(line)
    let driver = device.driver(line)
    try device.start(driver)
    #expect(device.log == line.events)
    device.forget()
    let image = line.image
    // Nothing can be read back, or nothing is kept.
    if image.isEmpty { try driver.verify() }
    for _ in 0..<2 * image.count { try driver.verify() }
    #expect(device.log == (image + image).map { .read($0.register, 1) })
  }

  @Test(
    "a look is the datasheet's, and while a bit of the flag is missing nothing is fetched",
    arguments: StartLine.lookedAt)
  func look(_ line: StartLine) throws {
    let events = line.look.flatMap(StartLine.events)
    /// What comes of a look at the conversion after a reading, when bits of what is read first are others.
    func look(_ bits: UInt8, of byte: Int) throws -> (isReading: Bool, log: [WatchedDevice.Event]) {
      let device = try WatchedDevice(line)
      let driver = device.driver(line)
      try device.start(driver)
      #expect(try device.nextReading(driver) != nil)
      device.convert(driver)
      device.forget()
      device.fault = WatchedDevice.Fault(place: 0, flips: bits, byte: byte)
      return (try driver.poll() != nil, device.log)
    }
    let usual = try look(0, of: 0)
    #expect(usual.log == events)
    for flag in line.flags {
      for bit in (0..<8).map({ UInt8(1) << UInt8($0) }) {
        let (isReading, log) = try look(bit, of: flag.byte)
        let isMissing = flag.mask & bit != 0
        #expect(isReading == (isMissing ? false : usual.isReading))
        #expect(log == (isMissing ? Array(events.prefix(1)) : events))
      }
    }
  }

  @Test(
    "a conversion comes once, however often the chip is looked at", arguments: StartLine.lookedAt)
  func once(_ line: StartLine) throws {
    // A chip that was told to convert is looked at when that is done, and not before.
    guard line.chip.conversionTime == nil else { return }
    let device = try WatchedDevice(line)
    let driver = device.driver(line)
    try device.start(driver)
    #expect(try device.nextReading(driver) != nil)
    for _ in 0..<3 { #expect(try driver.poll() == nil) }
  }

  @Test("sleep is told in the datasheet's words", arguments: StartLine.all)
  func sleep(_ line: StartLine) throws {
    let device = try WatchedDevice(line)
    let driver = device.driver(line)
    try device.start(driver)
    device.forget()
    try driver.sleep()
    #expect(device.log == line.sleep.map { .write($0.register, [$0.value]) })
  }

  @Test(
    "a transfer that fails comes out with its register, wherever it is, and the start begins anew",
    arguments: StartLine.all)
  func failures(_ line: StartLine) throws {
    for (place, event) in line.events.enumerated() {
      let register: UInt8
      switch event {
      case .read(let at, _), .write(let at, _): register = at
      case .wait: continue
      }
      let device = try WatchedDevice(line)
      device.fault = WatchedDevice.Fault(place: place, reason: .timedOut)
      let driver = device.driver(line)
      #expect(
        failure { () throws(DriverError) in try device.start(driver) }
          == .bus(device.error(.timedOut, register)))
      device.fault = nil
      device.forget()
      try device.start(driver)
      #expect(device.log == line.events)
    }
  }

  @Test(
    "no answer is a failure, but to a reset that need not be acknowledged", arguments: StartLine.all
  )
  func unanswered(_ line: StartLine) throws {
    for (step, place) in line.places {
      let register: UInt8
      switch step {
      case .write(let setting), .unanswered(let setting): register = setting.register
      default: continue
      }
      var isReset = false
      if case .unanswered = step { isReset = true }
      let (error, log) = try start(line, WatchedDevice.Fault(place: place, reason: .noAnswer))
      guard !isReset else {
        #expect(error == nil)
        #expect(log == line.events)
        continue
      }
      guard case .bus(let error) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(error.reason == .noAnswer && error.register == register)
    }
  }

  @Test(
    "each bit of an identity counts, and to a stranger nothing more is written",
    arguments: StartLine.all)
  func identity(_ line: StartLine) throws {
    for (step, place) in line.places {
      guard case .identity(let register, let allowed) = step, let usual = allowed.first else {
        continue
      }
      for byte in usual.indices {
        for bit in 0..<8 {
          var found = usual
          found[byte] ^= 1 << UInt8(bit)
          let (error, log) = try start(line, WatchedDevice.Fault(place: place, bytes: found))
          if allowed.contains(found) { continue }
          #expect(
            error
              == .wrongIdentity(
                chip: line.chip.name, register: register + UInt8(byte), expected: usual[byte],
                found: found[byte]))
          #expect(log == Array(line.events[...place]))
        }
      }
      for other in allowed.dropFirst() {
        let (error, log) = try start(
          line, WatchedDevice.Fault(place: place, bytes: other, lasts: true))
        #expect(error == nil)
        #expect(log == line.events)
      }
    }
  }

  @Test(
    "what a chip needs time for is waited for, by the bits that say so, and given up at last",
    arguments: StartLine.all)
  func awaits(_ line: StartLine) throws {
    let events = line.events
    for (step, place) in line.places {
      guard case .await(let awaited, let looks, let every) = step else { continue }
      let again: [WatchedDevice.Event] = [.init(waited: every), events[place]]
      for bit in (0..<8).map({ UInt8(1) << UInt8($0) }) {
        let other = [awaited.value ^ bit]
        let isAwaited = awaited.mask & bit != 0
        if looks > 1 || !isAwaited {
          let (error, log) = try start(line, WatchedDevice.Fault(place: place, bytes: other))
          #expect(error == nil)
          #expect(log == events[...place] + (isAwaited ? again : []) + events[(place + 1)...])
        }
        guard isAwaited else { continue }
        let never = WatchedDevice.Fault(place: place, bytes: other, lasts: true)
        let (error, log) = try start(line, never)
        #expect(error == .notReady("\(line.chip.name): \(line.lack(of: awaited))"))
        #expect(log.count == place + 2 * looks - 1)
      }
    }
  }

  @Test("a bit of the configuration that is not kept ends the start", arguments: StartLine.all)
  func kept(_ line: StartLine) throws {
    for (step, place) in line.places {
      guard case .kept(let settings, let identifies) = step else { continue }
      for (index, setting) in settings.enumerated() {
        for bit in 0..<8 {
          let found = setting.value ^ 1 << UInt8(bit)
          let (error, log) = try start(
            line, WatchedDevice.Fault(place: place + settings.count + index, bytes: [found]))
          guard setting.mask & 1 << UInt8(bit) != 0 else {
            #expect(error == nil)
            #expect(log == line.events)
            continue
          }
          #expect(
            error
              == (identifies
                ? .wrongIdentity(
                  chip: line.chip.name, register: setting.register, expected: setting.value,
                  found: found)
                : .configurationLost(
                  register: setting.register, expected: setting.value, found: found)))
        }
      }
    }
  }
}
