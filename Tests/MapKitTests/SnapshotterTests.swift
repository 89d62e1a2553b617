import Dispatch
import MapDrawing
import Testing

@testable import MapKit

/// Pictures without a map view.
@Suite struct SnapshotterTests {
  func options() -> MKMapSnapshotter.Options {
    let options = MKMapSnapshotter.Options()
    options.region = region(berlin, 0.02)
    options.size = CGSize(width: 400, height: 300)
    options.base = BaseMap()
    return options
  }

  @Test("a picture has what was asked for in its middle, and says where coordinates lie")
  func snapshot() async throws {
    let snapshot: MKMapSnapshotter.Snapshot = try await MKMapSnapshotter(options: options()).start()
    #expect(snapshot.image.size == CGSize(width: 400, height: 300))
    let middle = snapshot.point(for: berlin)
    #expect(abs(middle.x - 200) < 1e-9 && abs(middle.y - 150) < 1e-9)
    #expect(snapshot.point(for: place(52.52, 13.38)).x > 200)
    #expect(snapshot.point(for: place(95, 0)).x.isNaN)
    #expect(snapshot.image.svgData() != nil && snapshot.image.scale == 1)
    let fine = options()
    fine.scale = 2
    #expect(try await MKMapSnapshotter(options: fine).start().image.scale == 2)
  }

  @Test("of camera, region and rectangle what was set last counts; a copy is one's own")
  func wanted() {
    let options = options()
    #expect(abs(options.region.center.latitude - berlin.latitude) < 1e-9)
    options.camera = MKMapCamera(
      lookingAtCenter: place(10, 20), fromDistance: 1000, pitch: 30, heading: 40)
    #expect(abs(options.region.center.latitude - 10) < 0.01)
    #expect(abs(options.camera.heading - 40) < 1e-9)
    let copy = options.copy() as? MKMapSnapshotter.Options
    options.mapRect = MKMapRect(x: 0, y: 0, width: 1e6, height: 1e6)
    #expect(options.mapRect.contains(MKMapRect(x: 0, y: 0, width: 1e6, height: 1e6)))
    #expect(abs((copy?.camera.heading ?? 0) - 40) < 1e-9)
    #expect(copy?.size == options.size)
  }

  @Test("a dark picture is another one, also of copied options")
  func dark() async throws {
    func picture(_ options: MKMapSnapshotter.Options) async throws -> Data? {
      try await MKMapSnapshotter(options: options).start().image.svgData()
    }
    let options = options()
    let light = try await picture(options)
    options.isDark = true
    let dark = try await picture(options)
    #expect(light != nil && dark != nil && dark != light)
    let copy = try #require(options.copy() as? MKMapSnapshotter.Options)
    #expect(try await picture(copy) == dark)
  }

  @Test("a second start while one draws is an error; one that is cancelled is not answered")
  func twice() async throws {
    let gate = DispatchSemaphore(value: 0)
    let options = options()
    options.base = BaseMap(
      tiles: TileStore(minimumZoom: 0, maximumZoom: 18) { _, _, _ in
        gate.wait()
        gate.signal()
        return nil
      })
    let snapshotter = MKMapSnapshotter(options: options)
    let first = AsyncStream<String>.makeStream()
    snapshotter.start(with: .global()) { _, _ in first.continuation.yield("first") }
    #expect(snapshotter.isLoading)
    let second: MKError? = await withCheckedContinuation { continuation in
      snapshotter.start(with: .global()) { _, error in
        continuation.resume(returning: error as? MKError)
      }
    }
    #expect(second?.code == .loadingThrottled)
    snapshotter.cancel()
    #expect(!snapshotter.isLoading)
    gate.signal()
    // What comes after it is answered, and nothing before.
    let third = try await snapshotter.start()
    #expect(third.image.svgData() != nil)
    first.continuation.finish()
    var answers: [String] = []
    for await answer in first.stream { answers.append(answer) }
    #expect(answers.isEmpty)
  }

  @Test("who waits for a picture that is cancelled is told so", .timeLimit(.minutes(10)))
  func cancelled() async throws {
    let (gate, drawing) = (DispatchSemaphore(value: 0), AsyncStream<Void>.makeStream())
    let options = options()
    options.base = BaseMap(
      tiles: TileStore(minimumZoom: 0, maximumZoom: 18) { _, _, _ in
        drawing.continuation.yield()
        gate.wait()
        gate.signal()
        return nil
      })
    let snapshotter = MKMapSnapshotter(options: options)
    let waiting = Task { try await snapshotter.start() }
    for await _ in drawing.stream { break }
    snapshotter.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    gate.signal()
  }

  @Test("a handler is called on its queue, with what the options say at the start")
  func handlers() async {
    let options = options()
    let snapshotter = MKMapSnapshotter(options: options)
    options.size = CGSize(width: 1, height: 1)
    let size: CGSize? = await withCheckedContinuation { continuation in
      snapshotter.start(completionHandler: { snapshot, error in
        dispatchPrecondition(condition: .onQueue(.main))
        continuation.resume(returning: error == nil ? snapshot?.image.size : nil)
      })
    }
    #expect(size == CGSize(width: 400, height: 300))
  }

  @Test("tiles that cannot be opened are an error")
  func fault() async {
    let options = options()
    options.base = BaseMap(fault: CocoaError(.fileNoSuchFile))
    await #expect(throws: (any Error).self) { try await MKMapSnapshotter(options: options).start() }
  }
}
