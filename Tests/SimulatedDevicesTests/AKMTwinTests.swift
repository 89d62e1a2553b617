// AK8963, AK09916 and AK09918 against their datasheets' register maps.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("AKM twins")
struct AKMTwinTests {
  private func chip(_ chip: AKMTwinVariant, _ source: any StimulusSource) -> AKMTwin {
    AKMTwin(chip, TwinCore(source: source, errors: .none)).powered()
  }

  @Test("show who they are, and their pointers run in circles")
  func identity() {
    var old = chip(.ak8963, bench())
    #expect(old.read(0x00, count: 3, now: ms(0)) == [0x48, 0x9A, 0x00])
    #expect(old.read(0x0B, count: 4, now: ms(0)) == [0x00, 0x00, 0x48, 0x9A])
    var new = chip(.ak09916, bench())
    #expect(new.read(0x18, count: 3, now: ms(0)) == [0x00, 0x48, 0x09])
    #expect(new.read(0x02, count: 3, now: ms(0)) == [0x00, 0x00, 0x00])
    var small = chip(.ak09918, bench())
    #expect(small.read(0x00, count: 2, now: ms(0)) == [0x48, 0x0C])
    #expect(old.nextDataReady(after: ms(0)) == nil)
  }

  @Test("the fuse ROM can be read in its mode alone")
  func fuse() {
    var chip = chip(.ak8963, bench())
    #expect(chip.read(0x10, count: 3, now: ms(0)) == [0, 0, 0])
    chip.write(0x0A, 0x0F, now: ms(0))
    #expect(chip.read(0x10, count: 3, now: ms(1)) == [176, 178, 166])
  }

  @Test(
    "convert at the rate of the mode",
    arguments: [
      (AKMTwinVariant.ak8963, UInt8(0x12), 8.0), (.ak8963, 0x16, 100), (.ak09916, 0x02, 10),
      (.ak09916, 0x04, 20), (.ak09918, 0x06, 50), (.ak09918, 0x08, 100),
    ])
  func rate(kind: AKMTwinVariant, mode: UInt8, hertz: Double) throws {
    var chip = chip(kind, bench())
    chip.write(kind == .ak8963 ? 0x0A : 0x31, mode, now: ms(0))
    let first = try #require(chip.nextDataReady(after: ms(0)))
    #expect(abs(first.seconds(since: ms(0)) - 1 / hertz) < 1e-6)
  }

  @Test("give 0.15 microtesla a count, the AK8963 before its adjustment, and coarser with 14 bits")
  func scale() {
    var new = chip(.ak09916, bench(field: Vector3(15, -30, 4800)))
    new.write(0x31, 0x08, now: ms(0))
    #expect(new.read(0x11, count: 8, now: ms(11)) == [100, 0, 0x38, 0xFF, 0x00, 0x7D, 0, 0])
    var old = chip(.ak8963, bench(field: Vector3(15, 0, 0)))
    old.write(0x0A, 0x16, now: ms(0))
    // 100 / 1.1875 counts.
    #expect(old.read(0x03, count: 7, now: ms(11)) == [84, 0, 0, 0, 0, 0, 0x10])
    old.write(0x0A, 0x06, now: ms(12))
    #expect(old.read(0x03, count: 7, now: ms(23)) == [21, 0, 0, 0, 0, 0, 0x00])
  }

  @Test("say overflow when the three axes together have 4912 microtesla")
  func overflow() {
    for (x, isBeyond) in [(1637.0, false), (1638, true)] {
      var chip = chip(.ak09918, bench(field: Vector3(x, -1637, 1637)))
      chip.write(0x31, 0x08, now: ms(0))
      #expect((chip.read(0x11, count: 8, now: ms(11))[7] & 0x08 != 0) == isBeyond)
    }
  }

  @Test("hold their outputs from the first byte read until ST2 is, and count what was lost")
  func hold() {
    var chip = chip(.ak09916, Ramp())
    chip.write(0x31, 0x08, now: ms(0))
    #expect(chip.read(0x10, now: ms(9)) == 0x00)
    #expect(chip.read(0x10, now: ms(1000)) == 0x03)
    let low = chip.read(0x11, now: ms(1001))
    #expect(chip.read(0x10, now: ms(1009)) == 0x00)
    #expect(chip.read(0x10, now: ms(1011)) == 0x02)
    // 10 microtesla at 1 s, less half a measurement; at 5 s it would be 50.
    let rest = chip.read(0x12, count: 7, now: ms(5000))
    #expect(int16(low: low, high: rest[0]) == Int(((1 - 0.0036) * 10 / 0.15).rounded()))
    #expect(chip.read(0x10, now: ms(5001)) == 0x00)
    #expect(chip.read(0x10, now: ms(5011)) == 0x01)
    let next = chip.read(0x11, count: 8, now: ms(5012))
    #expect(int16(low: next[0], high: next[1]) > 330)
  }

  @Test("a single measurement and a self-test end in power-down")
  func single() {
    for (kind, control, mode, first, counts) in [
      (AKMTwinVariant.ak8963, UInt8(0x0A), UInt8(0x18), UInt8(0x03), -3200 ... -800),
      (.ak09916, 0x31, 0x10, 0x11, -1000 ... -200), (.ak09918, 0x31, 0x10, 0x11, -1000 ... -150),
    ] {
      var chip = chip(kind, bench())
      // SELF of ASTC, which the AK8963 alone has.
      if kind == .ak8963 { chip.write(0x0C, 0x40, now: ms(0)) }
      chip.write(control, mode, now: ms(0))
      let bytes = chip.read(first, count: 6, now: ms(8))
      #expect(bytes[..<4].allSatisfy { $0 == 0 })
      #expect(counts.contains(int16(low: bytes[4], high: bytes[5])))
      #expect(chip.nextDataReady(after: ms(8)) == nil)
      chip.write(control, 0x01, now: ms(9))
      #expect(chip.nextDataReady(after: ms(9)) == ms(16.2))
    }
  }

  @Test("a self-test whose source is off (AK8963) or dead puts out nothing")
  func deadSource() {
    for (kind, control, mode, first, share) in [
      (AKMTwinVariant.ak8963, UInt8(0x0A), UInt8(0x18), UInt8(0x03), 1.0),
      (.ak09916, 0x31, 0x10, 0x11, 0), (.ak09918, 0x31, 0x10, 0x11, 0),
    ] {
      var chip = chip(kind, bench(field: Vector3(10, -20, -45)))
      chip.tampering.selfTestShare.z = share
      chip.write(control, mode, now: ms(0))
      #expect(chip.read(first, count: 6, now: ms(8)).allSatisfy { $0 == 0 })
    }
  }

  @Test("a soft reset ends everything")
  func reset() {
    for (kind, control) in [(AKMTwinVariant.ak8963, UInt8(0x0A)), (.ak09918, 0x31)] {
      var chip = chip(kind, bench())
      chip.write(control, 0x02, now: ms(0))
      chip.write(control + 1, 0x01, now: ms(1))
      #expect(chip.read(control, count: 2, now: ms(1)) == [0x00, 0x00])
      #expect(chip.nextDataReady(after: ms(1)) == nil)
    }
  }

  @Test("only the AK8963 has a pin for data ready")
  func pin() {
    var old = chip(.ak8963, bench())
    old.write(0x0A, 0x16, now: ms(0))
    #expect(old.nextEdge(at: ms(0)) == ms(10))
    #expect(old.takeEdge(at: ms(11)) == ms(10))
    #expect(old.nextEdge(at: ms(12)) == nil)
    _ = old.read(0x03, count: 7, now: ms(13))
    #expect(old.nextEdge(at: ms(14)) == ms(20))
    var new = chip(.ak09916, bench())
    new.write(0x31, 0x08, now: ms(0))
    #expect(new.nextEdge(at: ms(0)) == nil)
    #expect(new.takeEdge(at: ms(11)) == nil)
  }
}
