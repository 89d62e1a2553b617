// What stands for an annotation on the map.

public import CoreLocation

/// Where a view is while it is dragged.
public enum MKAnnotationViewDragState: UInt, Sendable {
  /// It is not dragged.
  case none
  /// It is being taken up.
  case starting
  /// It moves.
  case dragging
  /// It goes back to where it was.
  case canceling
  /// It is put down.
  case ending
}

/// How much a view wants to be seen where several overlap.
public struct MKFeatureDisplayPriority: RawRepresentable, Hashable, Sendable {
  /// From 0 to 1000.
  public var rawValue: Float

  /// Makes a priority of a number from 0 to 1000.
  public init(rawValue: Float) { self.rawValue = rawValue }

  /// Makes a priority of a number from 0 to 1000.
  public init(_ rawValue: Float) { self.rawValue = rawValue }

  /// It is always to be seen.
  public static let required = MKFeatureDisplayPriority(1000)
  /// It is seen before those of less.
  public static let defaultHigh = MKFeatureDisplayPriority(750)
  /// It is seen after those of more.
  public static let defaultLow = MKFeatureDisplayPriority(250)
}

/// Stands for an annotation, as long as that is on the map's visible part.
///
/// A map asks its delegate for one when the annotation comes in sight, and takes it back when it goes; with a reuse
/// identifier it is kept for the next. Its middle stands over the annotation, moved by `centerOffset`.
open class MKAnnotationView: UIView {
  /// What it is kept by for another annotation; nil where it is not kept.
  public let reuseIdentifier: String?
  /// What it stands for.
  open var annotation: (any MKAnnotation)?
  /// What it shows; nil for what draws itself, as a pin does. Setting one gives the view its size.
  open var image: UIImage? {
    didSet {
      guard let image else { return }
      let middle = center
      frame.size = image.size
      center = middle
    }
  }

  /// How far its middle is from where the annotation is, points to the right and down.
  open var centerOffset = CGPoint.zero
  /// How far its callout is from where it would be.
  open var calloutOffset = CGPoint.zero
  /// Whether it can be selected by a touch.
  open var isEnabled = true
  /// Whether it is being touched.
  open var isHighlighted = false
  /// Whether its annotation is selected.
  open var isSelected = false
  /// Whether a callout with the annotation's words is shown while it is selected.
  open var canShowCallout = false
  /// What stands left in the callout.
  open var leftCalloutAccessoryView: UIView?
  /// What stands right in the callout.
  open var rightCalloutAccessoryView: UIView?
  /// What stands below the title in the callout.
  open var detailCalloutAccessoryView: UIView?
  /// Whether it can be moved by a touch.
  open var isDraggable = false
  /// Whether it is being moved.
  open var dragState = MKAnnotationViewDragState.none
  /// How much it wants to be seen. Nothing is left out on a board's map.
  open var displayPriority = MKFeatureDisplayPriority.required
  /// By what it is grouped with others. Nothing is grouped on a board's map.
  open var clusteringIdentifier: String?

  /// Makes a view for an annotation.
  public init(annotation: (any MKAnnotation)?, reuseIdentifier: String?) {
    self.annotation = annotation
    self.reuseIdentifier = reuseIdentifier
    super.init(frame: .zero)
  }

  /// Makes a view of no annotation: no archive of views is read.
  public required init?(coder: NSCoder) {
    reuseIdentifier = nil
    super.init(coder: coder)
  }

  /// Called before it stands for another annotation.
  open func prepareForReuse() {
    isHighlighted = false
    isSelected = false
    dragState = .none
  }

  /// Called before it is shown.
  open func prepareForDisplay() {}

  /// Selects it, or no longer. A map calls it; a program calls the map's `selectAnnotation`.
  open func setSelected(_ selected: Bool, animated: Bool) { isSelected = selected }

  /// Says that it is being moved, or no longer.
  open func setDragState(_ newDragState: MKAnnotationViewDragState, animated: Bool) {
    dragState = newDragState
  }

  /// Stands over a point of the map's view.
  func stand(at point: CGPoint) {
    center = CGPoint(x: point.x + centerOffset.x, y: point.y + centerOffset.y)
  }
}

/// A pin: its point is where the annotation is.
open class MKPinAnnotationView: MKAnnotationView {
  /// The colour of its head.
  open var pinTintColor: UIColor? = MKPinAnnotationView.redPinColor()
  /// Whether it would fall onto the map. It stands at once.
  open var animatesDrop = false

  /// Makes a pin for an annotation.
  public override init(annotation: (any MKAnnotation)?, reuseIdentifier: String?) {
    super.init(annotation: annotation, reuseIdentifier: reuseIdentifier)
    frame.size = CGSize(width: 20, height: 32)
    centerOffset = CGPoint(x: 0, y: -16)
  }

  /// Makes a pin of no annotation.
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  /// The colour of places to go to.
  open class func redPinColor() -> UIColor { .systemRed }
  /// The colour of places to start from.
  open class func greenPinColor() -> UIColor { .systemGreen }
  /// The colour of places that a user has set.
  open class func purplePinColor() -> UIColor { .systemPurple }
}

/// A balloon with a sign in it: its point is where the annotation is.
open class MKMarkerAnnotationView: MKAnnotationView {
  /// The colour of the balloon; nil for the usual one.
  open var markerTintColor: UIColor?
  /// The colour of the sign.
  open var glyphTintColor: UIColor?
  /// The sign, as one or two letters.
  open var glyphText: String?
  /// The sign, as an image.
  open var glyphImage: UIImage?
  /// The sign while it is selected.
  open var selectedGlyphImage: UIImage?
  /// Whether the title stands below it.
  open var titleVisibility = MKFeatureVisibility.adaptive
  /// Whether the subtitle stands below it.
  open var subtitleVisibility = MKFeatureVisibility.adaptive
  /// Whether it would fall onto the map. It stands at once.
  open var animatesWhenAdded = false

  /// Makes a balloon for an annotation.
  public override init(annotation: (any MKAnnotation)?, reuseIdentifier: String?) {
    super.init(annotation: annotation, reuseIdentifier: reuseIdentifier)
    frame.size = CGSize(width: 28, height: 36)
    centerOffset = CGPoint(x: 0, y: -18)
  }

  /// Makes a balloon of no annotation.
  public required init?(coder: NSCoder) { super.init(coder: coder) }
}

/// Whether something is shown.
public enum MKFeatureVisibility: Int, Sendable {
  /// As the map sees fit: on a board's map where it is selected, and a marker's title always.
  case adaptive
  /// Never.
  case hidden
  /// Always.
  case visible
}

/// Stands for where the board is: a dot, with the circle of its accuracy and the cone of its heading.
open class MKUserLocationView: MKAnnotationView {
  /// Makes a dot for an annotation.
  public override init(annotation: (any MKAnnotation)?, reuseIdentifier: String?) {
    super.init(annotation: annotation, reuseIdentifier: reuseIdentifier)
    frame.size = CGSize(width: 20, height: 20)
  }

  /// Makes a dot of no annotation.
  public required init?(coder: NSCoder) { super.init(coder: coder) }
}
