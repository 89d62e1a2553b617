import CommandTestSupport
import CalibrationCore
import Foundation
import LinearAlgebra
import TextForms
@testable import Reports
import SensorTypes
import Testing

/// A page is read back as text, and what it draws is held against what the fixture put in: the true iron and
/// sphere, never the page's own arithmetic.
struct ReportPageTests {
  static func page(_ chips: CalibrationReport.Magnetometer...) -> String {
    ReportPage.html(ReportFixture.report(chips))
  }

  /// The drawing whose title has this name.
  static func drawing(_ name: String, in page: String) throws -> Substring {
    let title = try #require(page.range(of: "<title id=\"\(name)-t\">"))
    let end = try #require(page.range(of: "</svg>", range: title.upperBound..<page.endIndex))
    return page[title.upperBound..<end.lowerBound]
  }

  /// The places of a drawing's dots: `M12.3 45.6h0`.
  static func dots(in drawing: Substring) -> [(x: Double, y: Double)] {
    var dots: [(x: Double, y: Double)] = []
    for path in drawing.matches(of: /<path class="dots [a-z]+" d="([^"]*)"/) {
      for dot in path.1.matches(of: /M([-\d.]+) ([-\d.]+)h0/) {
        if let x = Double(dot.1), let y = Double(dot.2) { dots.append((x, y)) }
      }
    }
    return dots
  }

  /// Values at two tick marks of an axis give its scale: read off as a person would.
  static func scale(
    in drawing: Substring, _ pattern: Regex<(Substring, Substring, Substring)>
  ) throws -> (Double) -> Double {
    let ticks = drawing.matches(of: pattern).compactMap { match -> (Double, Double)? in
      guard let place = Double(match.1),
        let value = Double(match.2.replacing("\u{2212}", with: "-"))
      else { return nil }
      return (place, value)
    }
    let first = try #require(ticks.first)
    let last = try #require(ticks.last)
    try #require(first.0 != last.0)
    return { first.1 + ($0 - first.0) * (last.1 - first.1) / (last.0 - first.0) }
  }

  static func across(_ drawing: Substring) throws -> (Double) -> Double {
    try scale(
      in: drawing, /<text x="([-\d.]+)" y="[-\d.]+" text-anchor="middle">([^<]+)<\/text>/)
  }

  static func up(_ drawing: Substring) throws -> (Double) -> Double {
    // The words stand 3.5 below their mark.
    let scale = try scale(
      in: drawing, /<text x="[-\d.]+" y="([-\d.]+)" text-anchor="end">([^<]+)<\/text>/)
    return { scale($0 + 3.5) }
  }

  @Test("a record that rests on no sample, as a simulated board's, claims no coverage and no date")
  func simulatedRecord() {
    var chip = ReportFixture.bare()
    guard case .record(var record) = chip.present else {
      Issue.record("the fixture has no record")
      return
    }
    (record.samples, record.coverage, record.date) = (0, 0, "1970-01-01T00:00:00Z")
    chip.present = .record(record)
    let page = Self.page(chip)
    #expect(page.contains("<dt>Coverage</dt><dd><b>–</b> <span>no samples</span>"))
    #expect(page.contains("No sample was taken") && !page.contains("of the sphere</span>"))
    #expect(!page.contains("1970") && !page.contains("cells of equal area held"))
  }

  // Samples without noise or outliers: the truth is the sphere itself, whose points are known before any
  // distortion.
  @Test(arguments: SphereView.allCases)
  func dotsStandWhereTheFieldWas(view: SphereView) throws {
    let truth = (0..<300).map { k -> Vector3 in
      let z = 1 - (2 * Double(k) + 1) / 300
      let angle = 2.4 * Double(k)
      let r = (1 - z * z).squareRoot()
      return ReportFixture.field * Vector3(r * cos(angle), r * sin(angle), z)
    }
    let raw = truth.map { ReportFixture.distortion * $0 + ReportFixture.offset }
    let record = ReportFixture.record()
    let kept = CalibrationSamples(
      keeping: raw.enumerated().map {
        CalibrationSample(time: Timestamp(seconds: Double($0)), field: $1)
      }, of: record.applied)
    let page = Self.page(
      .init(
        chip: "LIS3MDL", position: "/dev/i2c-1:0x1e", present: .record(record),
        samples: .kept(kept)))
    func places(_ v: Vector3) -> (Double, Double) {
      switch view {
      case .xy: (v.x, v.y)
      case .xz: (v.x, v.z)
      case .yz: (v.y, v.z)
      }
    }
    for (row, points) in [("raw", raw), ("corrected", truth)] {
      let drawing = try Self.drawing("m1-\(row)-\(view.rawValue)", in: page)
      let (across, up) = (try Self.across(drawing), try Self.up(drawing))
      let dots = Self.dots(in: drawing).map { (across($0.x), up($0.y)) }
      #expect(dots.count == 300)
      // A tenth of a unit of the drawing, and as much in each of the two ticks: 0.15 units of 0.75 µT.
      for (x, y) in points.map(places) {
        #expect(dots.contains { abs($0.0 - x) < 0.15 && abs($0.1 - y) < 0.15 })
      }
    }
  }

  @Test func everySampleIsDrawnOnce() throws {
    let chip = ReportFixture.good()
    let kept = try #require(chip.samples.kept)
    let drawing = try Self.drawing("m1-residuals", in: Self.page(chip))
    let crosses = drawing.matches(of: /M[-\d.]+ [-\d.]+l4\.4 4\.4/).count
    #expect(Self.dots(in: drawing).count + crosses == kept.samples.count)
    // 4 in 100 were thrown off by 25 µT; some stay near the sphere because they moved along it.
    #expect((20...60).contains(crosses))
  }

  @Test func residualsAreTheNoise() throws {
    let page = Self.page(ReportFixture.good())
    let drawing = try Self.drawing("m1-residuals", in: page)
    let up = try Self.up(drawing)
    let residuals = Self.dots(in: drawing).map { up($0.y) }
    let mean = residuals.reduce(0, +) / Double(residuals.count)
    let rms = (residuals.reduce(0) { $0 + $1 * $1 } / Double(residuals.count)).squareRoot()
    // 0.5 µT on each raw axis; the soft iron undone stretches it by 0.9 to 1.1. Sampling: 0.5 / sqrt(1000).
    #expect(abs(mean) < 0.05)
    #expect((0.44...0.6).contains(rms))
  }

  // Each bar of the histogram is as high as its samples are many, and stands where they are, both by the axes' own marks.
  @Test func barsCountTheAgreeingSamples() throws {
    let page = Self.page(ReportFixture.good())
    let over = try Self.drawing("m1-residuals", in: page)
    let upOver = try Self.up(over)
    let residuals = Self.dots(in: over).map { upOver($0.y) }
    let drawing = try Self.drawing("m1-histogram", in: page)
    let (across, up) = (try Self.across(drawing), try Self.up(drawing))
    let bars = drawing.matches(
      of: /<rect x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)" height="([-\d.]+)"\/>/
    ).compactMap { match -> (left: Double, right: Double, count: Double)? in
      guard let x = Double(match.1), let y = Double(match.2), let width = Double(match.3),
        let height = Double(match.4)
      else { return nil }
      #expect(abs(up(y + height)) < 0.6, "a bar begins at no sample")
      return (across(x - 0.5), across(x + width + 0.5), up(y))
    }
    #expect(bars.count > 10)
    // Places are rounded to a tenth of a point, so that samples at the edge of a bar may count for its neighbour.
    var total = 0.0
    for bar in bars {
      let near = residuals.count { $0 > bar.left - 0.02 && $0 < bar.right + 0.02 }
      let inside = residuals.count { $0 > bar.left + 0.02 && $0 < bar.right - 0.02 }
      #expect(Double(inside) - 1 < bar.count && bar.count < Double(near) + 1)
      total += bar.count
    }
    #expect(abs(total - Double(residuals.count)) < 0.01 * Double(residuals.count))
  }

  @Test func gapsAreWhereNothingWasSeen() throws {
    // All directions of one half, none of the other.
    let record = ReportFixture.record()
    let samples = (0..<SphereCells.count).filter { SphereCells.center(of: $0).z > 0 }.map { k in
      CalibrationSample(
        time: Timestamp(seconds: Double(k)),
        field: ReportFixture.distortion * (ReportFixture.field * SphereCells.center(of: k))
          + ReportFixture.offset)
    }
    let page = Self.page(
      .init(
        chip: "LIS3MDL", position: "/dev/i2c-1:0x1e", present: .record(record),
        samples: .kept(CalibrationSamples(keeping: samples, of: record.applied))))
    let upper = try Self.drawing("m1-map-upper", in: page)
    let lower = try Self.drawing("m1-map-lower", in: page)
    #expect(upper.matches(of: /class="cell few"/).count == 50)
    #expect(upper.matches(of: /class="cell gap"/).isEmpty)
    #expect(lower.matches(of: /class="cell gap"/).count == 50)
    #expect(page.contains("50 cells are empty"))
  }

  // From the corners of each cell alone: half the angle times the difference of the squared radii.
  @Test(arguments: ["upper", "lower"])
  func cellsOfTheMapAreOfEqualArea(half: String) throws {
    let drawing = try Self.drawing("m1-map-\(half)", in: Self.page(ReportFixture.good()))
    let number = /[-\d.]+/
    var areas: [Double] = []
    for cell in drawing.matches(of: /<path class="cell [a-z]+" d="([^"]*)"/) {
      let v = cell.1.matches(of: number).compactMap { Double($0.0) }
      if cell.1.contains("a") {
        areas.append(.pi * v[2] * v[2])
      } else {
        let (a, b) = (Vector3(v[2] - 125, v[3] - 125, 0), Vector3(v[9] - 125, v[10] - 125, 0))
        let angle = atan2(a.cross(b).length, a.dot(b))
        let inner = Vector3(v[0] - 125, v[1] - 125, 0).lengthSquared
        areas.append(angle / 2 * (a.lengthSquared - inner))
      }
    }
    #expect(areas.count == 50)
    let whole = Double.pi * 104 * 104
    // Coordinates are rounded to a tenth of a unit: 0.1 of a cell's 16.
    for area in areas { #expect(abs(area - whole / 50) < 0.015 * whole / 50) }
  }

  @Test func pageNeedsNothingElse() {
    let page = Self.page(
      ReportFixture.good(), ReportFixture.mediocre(), ReportFixture.bare())
    #expect(!page.contains("http://") && !page.contains("https://"))
    for word in [" src=", "@import", "url(", "<iframe", "<object", "fetch(", "XMLHttp"] {
      #expect(!page.contains(word), "\(word)")
    }
    #expect(page.contains("default-src 'none'"))
    // A piece of markup that went through a string would be seen as one.
    #expect(!page.contains("Markup("))
    #expect(!page.contains("NaN") && !page.contains("nan") && !page.contains("inf "))
  }

  @Test func headingsGoDownStepByStep() {
    let page = Self.page(ReportFixture.good(), ReportFixture.bare())
    let levels = page.matches(of: /<h([1-6])/).compactMap { Int($0.1) }
    #expect(levels.first == 1 && levels.count { $0 == 1 } == 1)
    #expect(zip(levels, levels.dropFirst()).allSatisfy { $1 <= $0 + 1 })
    // Every drawing has a name or is said to be none, and no name is there twice.
    let drawings = page.matches(of: /<svg [^>]*>/).map { String($0.0) }
    #expect(drawings.allSatisfy { $0.contains("aria-labelledby") || $0.contains("aria-hidden") })
    let names = page.matches(of: /\sid="([^"]+)"/).map { String($0.1) }
    #expect(Set(names).count == names.count)
    for reference in page.matches(of: /aria-labelledby="([^"]+)"/) {
      for name in reference.1.split(separator: " ") { #expect(names.contains(String(name))) }
    }
  }

  @Test func namesAreTextWhateverTheySay() throws {
    let evil = "</title><script>alert(1)</script><img src=x onerror='a'>\"&\u{1}"
    var chip = ReportFixture.good()
    var record = ReportFixture.record(date: evil, method: evil)
    (record.board, record.chip, record.busPosition) = (evil, evil, evil)
    (chip.chip, chip.position, chip.present) = (evil, evil, .record(record))
    chip.former = [.init(record: record, isUndone: false)]
    var broken = chip
    broken.present = .unusable(evil)
    var unread = chip
    unread.samples = .unusable(evil)
    var report = ReportFixture.report([chip, broken, unread])
    report.board = evil
    report.others = [
      .init(title: evil, facts: [.init(name: evil, value: evil)], problem: evil)
    ]
    let page = ReportPage.html(report)
    // The page's own: the data of two spheres and the script that turns them.
    #expect(page.matches(of: /<script/).count == 2)
    #expect(page.matches(of: /<\/title>/).count == page.matches(of: /<title/).count)
    #expect(!page.contains("<img") && !page.contains("onerror='") && !page.contains("\u{1}"))
    #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
  }

  // A boat's circle: what a planar calibration had is a ring, and its record agrees with it.
  @Test func aCircleIsDrawnAsARing() throws {
    var numbers = SeededNumbers(11)
    let dip = ReportFixture.dip
    let samples = (0..<6_000).map { k -> CalibrationSample in
      let heading = 2.2 * Double.pi * Double(k) / 6_000
      let truth =
        ReportFixture.field
        * Vector3(-cos(dip) * sin(heading), cos(dip) * cos(heading), -sin(dip))
      let scatter = Vector3(numbers.normal(), numbers.normal(), numbers.normal())
      return CalibrationSample(
        time: Timestamp(seconds: 0.0125 * Double(k)),
        field: ReportFixture.distortion * truth + ReportFixture.offset + 0.5 * scatter,
        force: Vector3(0, 0, 9.81))
    }
    let fitter = ReferencedFitter(
      mount: .aligned, earth: EarthField(strength: ReportFixture.field, dip: dip))
    let outcome = fitter.planar(samples)
    #expect(outcome.refusal == nil)
    let fit = try #require(outcome.fit)
    var record = CalibrationRecord(
      fit: fit, chip: "LIS3MDL", busPosition: "/dev/i2c-1:0x1e", board: "boat",
      date: "2026-11-21T16:40:12Z", headingErrorBefore: 17)
    let means = ReferencedFitter.means(samples)
    // Eight samples make a tenth of a second.
    #expect((700...750).contains(means.count))
    #expect(means.allSatisfy { (($0.force ?? .zero) - Vector3(0, 0, 9.81)).length < 1e-9 })
    let kept = CalibrationSamples(keeping: means, of: fit.applied)
    let set = SampleSet(kept, of: record)
    #expect(set.inliers * 10 >= set.points.count * 9)
    // A ring at the dip's height: no fewer cells than it has round it, far from the sphere's hundred.
    #expect((6...30).contains(set.seenCells), "\(set.seenCells)")
    func page() -> String {
      Self.page(
        .init(
          chip: record.chip, position: record.busPosition, present: .record(record),
          samples: .kept(kept)))
    }
    let words = page()
    #expect(words.contains("m1-corrected-xy") && words.contains("m1-residuals"))
    #expect(words.contains("a ring of the sphere") && words.contains("Heading error before"))
    #expect(!words.contains("No samples") && !words.contains("further than"))
    #expect(!words.contains("probably another") && !words.contains("agree with this record:"))
    (record.method, record.headingErrorBefore) = ("ellipsoid", nil)
    #expect(!page().contains("a ring of the sphere") && !page().contains("Heading error before"))
  }

  @Test func whatIsMissingIsSaid() {
    let bare = Self.page(ReportFixture.bare())
    #expect(bare.contains("No samples are kept"))
    #expect(!bare.contains("m1-raw-xy") && !bare.contains("m1-residuals"))
    #expect(bare.contains("m1-after"))

    var chip = CalibrationReport.Magnetometer(chip: "LIS3MDL", position: "/dev/i2c-1:0x1e")
    #expect(Self.page(chip).contains("There is no calibration"))
    chip.present = .unusable("it is torn")
    #expect(Self.page(chip).contains("not applied: it is torn"))
    chip = ReportFixture.bare()
    chip.samples = .unusable("line 7 is no sample")
    #expect(Self.page(chip).contains("line 7 is no sample"))
    #expect(ReportPage.html(ReportFixture.report([])).contains("no magnetometer"))
  }

  @Test func samplesOfAnotherRecordAreSaidToBe() {
    var chip = ReportFixture.good()
    chip.present = .record(ReportFixture.record(offset: Vector3(-30, 40, -20)))
    #expect(Self.page(chip).contains("probably another record"))
    // Off by two residuals: nearly all lie within reach, and yet they are not this record's.
    chip.present = .record(
      ReportFixture.record(offset: ReportFixture.offset + Vector3(1.5, 0, 0)))
    #expect(Self.page(chip).contains("may be another record"))
    #expect(!Self.page(ReportFixture.good()).contains("another record"))
    #expect(!Self.page(ReportFixture.mediocre()).contains("another record"))
  }

  // Anything that a record may hold must come out as a page.
  @Test func recordsAtTheirLimits() {
    for (field, residual, sigma) in [(1.0, 0.0, 0.0), (1_000, 1_000, 5_000), (48, 0, 5_000)] {
      var record = ReportFixture.record(error: nil, residual: residual, sigma: sigma)
      record.field = field
      record.offset = Vector3(4_999, 0, 0)
      var chip = ReportFixture.good()
      chip.present = .record(record)
      let page = Self.page(chip)
      #expect(page.hasSuffix("</html>\n") && !page.contains("nan"))
    }
    var chip = ReportFixture.good()
    chip.samples = .kept(
      CalibrationSamples(
        keeping: [CalibrationSample(time: Timestamp(seconds: 0), field: .zero)],
        of: ReportFixture.record().applied))
    #expect(Self.page(chip).hasSuffix("</html>\n"))
  }

  /// For a look at the pages: LODESTONE_REPORT_FOLDER names where they go.
  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["LODESTONE_REPORT_FOLDER"] != nil,
      "LODESTONE_REPORT_FOLDER names no folder"))
  func pagesForTheEye() throws {
    let folder = ProcessInfo.processInfo.environment["LODESTONE_REPORT_FOLDER"] ?? "/tmp"
    let chips = [
      "good": ReportFixture.good(), "mediocre": ReportFixture.mediocre(),
      "bare": ReportFixture.bare(),
    ]
    for (name, chip) in chips {
      try Self.page(chip).write(toFile: "\(folder)/\(name).html", atomically: true, encoding: .utf8)
    }
  }
}
