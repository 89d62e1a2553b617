// Pictures of maps, for code that wants no map view.

public import CoreLocation
import Geodesy
import MapDrawing
import Synchronization

/// What is called with a picture, or with an error.
public typealias MKMapSnapshotCompletionHandler =
  @Sendable (MKMapSnapshotter.Snapshot?, (any Error)?) -> Void
/// The name that `MKMapSnapshotter.Options` had before Swift 4.2.
public typealias MKMapSnapshotOptions = MKMapSnapshotter.Options
/// The name that `MKMapSnapshotter.Snapshot` had before Swift 4.2.
public typealias MKMapSnapshot = MKMapSnapshotter.Snapshot

/// Draws a picture of a part of the map.
///
/// Its base are the tiles of the board (`LODESTONE_TILES`) or a graticule. The picture is an SVG document, and PNG by
/// `pngData()` where `rsvg-convert` is installed.
public final class MKMapSnapshotter: NSObject, Sendable {
  /// What is to be drawn.
  public final class Options: NSObject, NSCopying {
    /// From where it is looked at. Of camera, region and rectangle what was set last counts.
    public var camera: MKMapCamera {
      get { MKMapCamera(viewport) }
      set { wanted = .camera(newValue) }
    }
    /// The rectangle of the map that is shown as a whole.
    public var mapRect: MKMapRect {
      get { viewport.mapRect }
      set { wanted = .rect(newValue) }
    }
    /// The region that is shown as a whole.
    public var region: MKCoordinateRegion {
      get { viewport.region }
      set { wanted = .region(newValue) }
    }
    /// What is shown; kept, because a board has the tiles that it has.
    public var mapType = MKMapType.standard
    /// Whether places of interest are shown; kept.
    public var showsPointsOfInterest = true
    /// Whether buildings are shown; kept.
    public var showsBuildings = true
    /// How large the picture is, points; 256 by 256 at first.
    public var size = CGSize(width: 256, height: 256)
    /// Pixels a point; 1 at first.
    public var scale: CGFloat = 1
    /// Whether its colours are for the night; false at first. Not of the SDK, where the traits say it.
    public var isDark = false
    /// The tiles below; those of the board at first.
    package var base = BaseMap.ofTheBoard

    private enum Wanted {
      case camera(MKMapCamera)
      case rect(MKMapRect)
      case region(MKCoordinateRegion)
    }
    private var wanted = Wanted.rect(.world)

    /// Options for a picture of the whole map.
    public override init() {}

    /// The same options as another object.
    public func copy(with zone: NSZone? = nil) -> Any {
      let copy = Options()
      copy.wanted = wanted
      if case .camera(let camera) = wanted { copy.wanted = .camera(camera.copied) }
      copy.mapType = mapType
      copy.showsPointsOfInterest = showsPointsOfInterest
      copy.showsBuildings = showsBuildings
      copy.size = size
      copy.scale = scale
      copy.isDark = isDark
      copy.base = base
      return copy
    }

    var viewport: Viewport {
      let side = max(min(size.width, size.height), 1)
      let whole = Viewport(
        centre: .init(x: 0.5, y: 0.5), pointsPerWorld: side, width: max(size.width, 1),
        height: max(size.height, 1))
      let view =
        switch wanted {
        case .camera(let camera): camera.applied(to: whole)
        case .rect(let rect): whole.showing(rect)
        case .region(let region): whole.showing(region)
        }
      return view ?? whole
    }
  }

  /// A picture with what is needed to draw on it.
  public final class Snapshot: NSObject, Sendable {
    /// The picture.
    public let image: UIImage
    private let viewport: Viewport

    init(image: UIImage, viewport: Viewport) {
      self.image = image
      self.viewport = viewport
    }

    /// Where a coordinate lies in the picture, points; NaN where it cannot be seen from there.
    public func point(for coordinate: CLLocationCoordinate2D) -> CGPoint {
      guard CLLocationCoordinate2DIsValid(coordinate),
        let point = viewport.picturePoint(of: MKMapPoint(coordinate).projected)
      else { return CGPoint(x: CGFloat.nan, y: .nan) }
      return CGPoint(x: point.x, y: point.y)
    }
  }

  private struct Work {
    var isLoading = false
    var number = 0
    /// Tells who waits that the picture will not come.
    var onCancel: (@Sendable () -> Void)?
  }

  private let picture: MapPicture
  private let fault: String?
  private let size: CGSize
  private let scale: CGFloat
  private let work = Mutex(Work())

  /// Makes a snapshotter of options as they are now.
  public init(options: Options) {
    var picture = MapPicture(viewport: options.viewport)
    picture.tiles = options.base.tiles
    picture.look = options.isDark ? .dark : .light
    picture.scale = options.scale
    self.picture = picture
    fault = options.base.fault.map { "\($0)" }
    size = options.size
    scale = options.scale
  }

  /// Whether a picture is being drawn.
  public var isLoading: Bool { work.withLock { $0.isLoading } }

  /// Draws, and calls back on the main queue.
  public func start(completionHandler: @escaping MKMapSnapshotCompletionHandler) {
    start(with: .main, completionHandler: completionHandler)
  }

  /// Draws, and calls back on a queue. One that is drawing already says so by an error.
  public func start(
    with queue: DispatchQueue, completionHandler: @escaping MKMapSnapshotCompletionHandler
  ) { start(with: queue, onCancel: nil, completionHandler: completionHandler) }

  private func start(
    with queue: DispatchQueue, onCancel: (@Sendable () -> Void)?,
    completionHandler: @escaping MKMapSnapshotCompletionHandler
  ) {
    let number = work.withLock { work -> Int? in
      guard !work.isLoading else { return nil }
      work.isLoading = true
      work.number += 1
      work.onCancel = onCancel
      return work.number
    }
    guard let number else {
      return queue.async { completionHandler(nil, MKError(.loadingThrottled)) }
    }
    DispatchQueue.global().async { [self] in
      let drawing = picture.drawn()
      // A cancelled one was answered, and another may be on its way.
      guard finish(number) else { return }
      guard let words = fault ?? drawing.tileFaults.first else {
        let image = UIImage(svg: drawing.svg, size: size, scale: scale)
        let snapshot = Snapshot(image: image, viewport: picture.viewport)
        return queue.async { completionHandler(snapshot, nil) }
      }
      queue.async { completionHandler(nil, TileFault(words)) }
    }
  }

  /// Draws. Throws what tiles could not be read, and `CancellationError` after `cancel()`.
  public func start() async throws -> Snapshot {
    try await withCheckedThrowingContinuation { continuation in
      // One of the two is called: whichever finds its number valid.
      let onCancel: @Sendable () -> Void = { continuation.resume(throwing: CancellationError()) }
      start(with: .global(), onCancel: onCancel) { snapshot, error in
        if let snapshot {
          continuation.resume(returning: snapshot)
        } else {
          continuation.resume(throwing: error ?? MKError(.unknown))
        }
      }
    }
  }

  /// Leaves the picture that is being drawn: its handler is not called.
  public func cancel() {
    let tell = work.withLock { work in
      work.isLoading = false
      work.number += 1
      defer { work.onCancel = nil }
      return work.onCancel
    }
    tell?()
  }

  private func finish(_ number: Int) -> Bool {
    work.withLock { work in
      guard work.number == number else { return false }
      work.isLoading = false
      work.onCancel = nil
      return true
    }
  }
}

extension MKMapCamera {
  var copied: MKMapCamera {
    MKMapCamera(
      lookingAtCenter: centerCoordinate, fromDistance: centerCoordinateDistance, pitch: pitch,
      heading: heading)
  }
}
