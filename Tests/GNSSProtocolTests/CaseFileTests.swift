import Foundation
import GNSSProtocol
import SensorTypes
import SharedData
import Testing

/// The small inputs of other projects' bug reports, each with its right answer (`data/gnss-cases/README.md`).
struct CaseFileTests {
  private static let folder = "data/gnss-cases"

  private struct Heard {
    var fixes: [GNSSFix] = []
    var headings: [ReceiverHeading] = []
    var satellites: [GNSSSatellite] = []
    var ignored: [String] = []
  }

  private func hear(_ name: String) throws -> Heard {
    let file = SharedData.root.appending(path: "\(Self.folder)/\(name).log")
    return hear(Array(try Data(contentsOf: file)))
  }

  private func hear(_ bytes: [UInt8]) -> Heard {
    var (decoder, heard) = (GNSSDecoder(endsByRule: false), Heard())
    for event in Stream.events(bytes, by: &decoder) {
      switch event {
      case .epoch(let fix, _): heard.fixes.append(fix)
      case .heading(let heading): heard.headings.append(heading)
      case .sky: heard.satellites = decoder.satellites
      case .ignored(let talkers): heard.ignored = talkers
      case .identity, .answer, .restarted, .condition, .message: break
      }
    }
    return heard
  }

  private static var isThere: Bool { SharedData.isThere(folder) }

  // The sum of the file's RMC is not that of its characters, so the file's own gives the heading alone.
  @Test("05: a NUL before the dollar", .enabled(if: isThere))
  func nul() throws {
    let heard = try hear("05-nul-before-dollar")
    #expect(heard.headings.first?.magneticHeading == 101.1)
    let rmc = "GPRMC,120738.50,A,4518.253171,N,00310.861253,E,3.254,239.42,280321,2.00,E,F,S"
    let both = hear([0] + Stream.sentence(rmc) + Stream.sentence("HCHDG,101.1,,,7.1,W"))
    #expect(both.fixes.first?.kind == .rtkFloat && both.headings.count == 1)
  }

  @Test("07: a list of satellites over several signals", .enabled(if: isThere))
  func signals() throws {
    let satellites = try hear("07-allystar-gsv").satellites
    #expect(
      satellites.count == 7
        && Set(satellites.map { [Int($0.system.rawValue), $0.number] }).count == 7)
    #expect(satellites.allSatisfy { $0.isUsed == true })
    #expect(satellites.first { $0.system == .gps && $0.number == 6 }?.carrierToNoise == 36)
    #expect(satellites.filter { $0.system == .qzss }.map(\.number) == [7, 3])
  }

  @Test("08: a list for each signal, and RTK fixed", .enabled(if: isThere))
  func lists() throws {
    let heard = try hear("08-um980-gsv")
    #expect(heard.fixes.map(\.kind) == [.rtkFixed])
    #expect(heard.fixes.first?.corrections == FixCorrections(age: 1, station: 0))
    let names = heard.satellites.map { [Int($0.system.rawValue), $0.number] }
    #expect(Set(names).count == names.count && !names.isEmpty)
    #expect(heard.satellites.first { $0.system == .gps && $0.number == 5 }?.carrierToNoise == 47)
  }

  @Test("09: repeated fields are left out", .enabled(if: isThere))
  func airmar() throws {
    let heard = try hear("09-airmar-gsv")
    #expect(heard.satellites.count == 10)
    #expect(heard.satellites.allSatisfy { $0.isUsed == nil })
  }

  @Test("18: a flag in the number of satellites", .enabled(if: isThere))
  func flag() throws {
    #expect(try hear("18-numsv-high-bit").fixes.map(\.satellitesUsed) == [8])
  }

  @Test("19: a position that is marked as invalid", .enabled(if: isThere))
  func invalid() throws {
    let fix = try #require(try hear("19-invalid-llh").fixes.first)
    #expect(fix.latitude == nil && fix.mode == .none && fix.kind == FixKind.none)
  }

  @Test("20: time only, dead reckoning, both together", .enabled(if: isThere))
  func timeOnly() throws {
    let fixes = try hear("20-time-only").fixes
    #expect(fixes.map(\.kind) == [.timeOnly, .deadReckoning, .combined])
    #expect(fixes.map { $0.latitude != nil } == [false, true, true])
  }

  @Test("21: RTK float, RTK fixed, differential", .enabled(if: isThere))
  func carrierPhases() throws {
    #expect(try hear("21-rtk-pvt").fixes.map(\.kind) == [.rtkFloat, .rtkFixed, .differential])
  }

  // The sums of the report's RMC, GNS and GGA are not those of their characters; with the right ones there is a fix.
  @Test("24: commas behind the sum", .enabled(if: isThere))
  func commas() throws {
    #expect(try hear("24-android").fixes.isEmpty)
    let line = Stream.sentence("GNGGA,181846,2804.27565,N,8225.599374,W,1,12,0.5,9.1,M,-24,M,,")
    let fix = try #require(hear(line.dropLast(2) + Array(",,,,,,\r\n".utf8)).fixes.first)
    #expect(abs(try #require(fix.latitude) - 28.0713) < 5e-5)
    #expect(abs(try #require(fix.longitude) + 82.4267) < 5e-5)
    #expect(fix.altitude == 9.1)
  }

  @Test("27: two sources on one wire", .enabled(if: isThere))
  func sources() throws {
    let heard = try hear("27-two-sources")
    #expect(heard.ignored == ["II"])
    #expect(heard.fixes.count > 3)
    for (number, fix) in heard.fixes.enumerated() {
      #expect(abs(try #require(fix.latitude) - (50 + (0.1 + 0.0001 * Double(number)) / 60)) < 1e-9)
      #expect(fix.course == 0)
    }
  }

  @Test("28: a leap second", .enabled(if: isThere))
  func leapSecond() throws {
    let fixes = try hear("28-leap-second").fixes
    #expect(fixes.map(\.timeOfDay) == [86_399, 86_400, 0])
    #expect(fixes.map(\.isLeapSecond) == [false, true, false])
  }

  @Test("30: accuracies and attitude of Quectel's", .enabled(if: isThere))
  func quectel() throws {
    let heard = try hear("30-pqtm")
    let fix = try #require(heard.fixes.first)
    #expect(fix.kind == .rtkFixed && fix.accuracySource == .receiver)
    // Of 14 and 13 mm in two axes.
    #expect(abs(try #require(fix.horizontalAccuracy) - 0.0204) < 1e-4)
    #expect(fix.verticalAccuracy == 0.035)
    let heading = try #require(heard.headings.first)
    #expect(heading.trueHeading == 125.30 && heading.accuracy == 0.07)
    #expect(heading.pitch == -0.5 && heading.roll == 0.1)
    #expect(heading.pitchAccuracy == 0.1 && heading.rollAccuracy == 0.1)
  }

  @Test("31: PASHR", .enabled(if: isThere))
  func pashr() throws {
    let heading = try #require(try hear("31-pashr").headings.first)
    #expect(heading.trueHeading == 10.51 && heading.accuracy == 0.555)
    #expect(heading.roll == 0.39 && heading.rollAccuracy == 0.151)
    #expect(heading.pitch == -0.79 && heading.pitchAccuracy == 0.075)
  }

  @Test("32: satellites without a word on which are used", .enabled(if: isThere))
  func use() throws {
    let satellites = try hear("32-gsv-without-gsa").satellites
    #expect(satellites.count == 4 && satellites.allSatisfy { $0.isUsed == nil })
  }

  @Test("33: the accuracies of NAV-SOL", .enabled(if: isThere))
  func solution() throws {
    let fix = try #require(try hear("33-nav-sol-pacc").fixes.first)
    #expect(abs(try #require(fix.horizontalAccuracy) - 5.52) < 1e-9)
    #expect(abs(try #require(fix.speedAccuracy) - 0.18) < 1e-9)
    #expect(fix.accuracySource == .receiver)
  }

  @Test("34, 45: dead reckoning by GGA and RMC, RTK fixed by GNS", .enabled(if: isThere))
  func qualities() throws {
    #expect(try hear("34-gga-6").fixes.map(\.kind) == [.deadReckoning])
    #expect(try hear("45-gns-rtk").fixes.map(\.kind) == [.rtkFixed])
  }

  @Test(
    "46, 55: the bearing from a base is no heading",
    .enabled(if: isThere), arguments: ["46-relposned", "55-relposned-static-base"])
  func base(name: String) throws {
    let heard = try hear(name)
    #expect(heard.headings.isEmpty && heard.fixes.count == 1)
  }
}
