import Diagnosis
import SensorTypes
import SimulatedDevices
import Testing

/// What the doctor says of chips that the kernel owns.
struct KernelDoctorTests {
  private func findings(_ keys: String, _ fault: KernelFault? = nil) throws -> [Doctor.Finding] {
    let bench = try DoctorBench { bus in
      [.init(.registers("LIS3MDL"), at: .bus(bus, address: 0x1C), kernel: .lis3mdl)]
    }
    if let fault { bench.provider.inject(.kernel(fault), chip: 0, from: bench.clock.now()) }
    return try bench.findings(
      "schema: 1\nname: boat\nsensors:\n"
        + "  - {chip: LIS3MDL, bus: \(bench.bus), address: 0x1c\(keys)}\n")
  }

  private static let line = ", interrupt: {chip: nowhere, line: GPIO1}"

  @Test(
    "a chip that the kernel owns is no problem, and its line is not asked for",
    arguments: ["", ", driver: kernel"])
  func used(driver: String) throws {
    let findings = try findings(Self.line + driver)
    let finding = try #require(findings.last)
    #expect(findings.allSatisfy { $0.level != .problem })
    #expect(finding.level == .note)
    #expect(finding.text.contains("st-magn-i2c (iio:device0, lis3mdl)"))
    #expect(finding.text.contains("is used through IIO") && finding.text.contains("mount"))
    #expect(finding.mend?.contains("/sys/bus/i2c/drivers/st-magn-i2c/unbind") == true)
  }

  @Test("where it may not be used, or cannot be, it is a problem that says so")
  func problems() throws {
    for (keys, fault, words) in [
      (", driver: own", nil, "a kernel driver (st-magn-i2c) owns this address"),
      ("", .missing("iio:device0"), "offers no IIO device"),
      ("", .missing("iio:device0/in_magn_x_raw"), "offers no in_magn*"),
      (", driver: kernel", .unbound, "demands the kernel's driver"),
    ] as [(String, KernelFault?, String)] {
      let found = try findings(keys, fault)
      #expect(found.contains { $0.level == .problem && $0.text.contains(words) }, "\(found)")
    }
  }
}
