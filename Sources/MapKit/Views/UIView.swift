// What of UIKit a map without a screen needs: views are rectangles that stand in each other.

public import CoreLocation

/// A rectangle in another one. Nothing draws it: a map draws what it shows into a picture.
open class UIView: NSObject {
  /// Where it stands in the view that holds it, points from that one's upper left corner.
  open var frame: CGRect {
    didSet {
      bounds.size = frame.size
      if frame != oldValue { frameDidChange() }
    }
  }

  /// Itself, in its own coordinates.
  open var bounds: CGRect

  /// Its middle, in the coordinates of the view that holds it.
  open var center: CGPoint {
    get { CGPoint(x: frame.midX, y: frame.midY) }
    set {
      frame.origin = CGPoint(
        x: newValue.x - frame.width / 2, y: newValue.y - frame.height / 2)
    }
  }

  /// The view that holds it.
  open private(set) weak var superview: UIView?
  /// The views that it holds; the last is in front.
  open private(set) var subviews: [UIView] = []
  /// Whether it is not to be seen.
  open var isHidden = false
  /// How opaque it is, 0 to 1.
  open var alpha: CGFloat = 1
  /// What is behind what it shows.
  open var backgroundColor: UIColor?
  /// The colour of what can be touched.
  open var tintColor: UIColor? = .systemBlue
  /// A number that the program gives it.
  open var tag = 0

  /// Makes a view that stands nowhere yet.
  public init(frame: CGRect) {
    self.frame = frame
    bounds = CGRect(origin: .zero, size: frame.size)
    super.init()
  }

  /// Makes a view of no size.
  public override convenience init() { self.init(frame: .zero) }

  /// Makes a view of no size: no archive of views is read.
  public required init?(coder: NSCoder) {
    frame = .zero
    bounds = .zero
    super.init()
  }

  /// Puts a view in front of those that it holds. A view that holds this one, or is it, stays where it is.
  open func addSubview(_ view: UIView) {
    guard !view.holds(self) else { return }
    view.removeFromSuperview()
    subviews.append(view)
    view.superview = self
  }

  private func holds(_ view: UIView) -> Bool {
    var view: UIView? = view
    while let inner = view {
      if inner === self { return true }
      view = inner.superview
    }
    return false
  }

  /// Takes the view out of the one that holds it.
  open func removeFromSuperview() {
    guard let superview else { return }
    superview.subviews.removeAll { $0 === self }
    self.superview = nil
  }

  /// Where a point of this view lies in another one; with nil in the window, in which the outermost view has its frame.
  open func convert(_ point: CGPoint, to view: UIView?) -> CGPoint {
    let outside = outermost(point)
    guard let view else { return outside }
    let origin = view.outermost(.zero)
    return CGPoint(x: outside.x - origin.x, y: outside.y - origin.y)
  }

  /// Where a point of another view, with nil of the window, lies in this one.
  open func convert(_ point: CGPoint, from view: UIView?) -> CGPoint {
    let outside = view?.outermost(point) ?? point
    let origin = outermost(.zero)
    return CGPoint(x: outside.x - origin.x, y: outside.y - origin.y)
  }

  private func outermost(_ point: CGPoint) -> CGPoint {
    var point = point
    var view: UIView? = self
    while let inner = view {
      point.x += inner.frame.minX - inner.bounds.minX
      point.y += inner.frame.minY - inner.bounds.minY
      view = inner.superview
    }
    return point
  }

  /// Does nothing: what a view shows is asked for when a picture is drawn.
  open func setNeedsDisplay() {}
  /// Does nothing.
  open func setNeedsLayout() {}
  /// Does nothing.
  open func layoutIfNeeded() {}
  /// Does nothing; for views that arrange what they hold.
  open func layoutSubviews() {}

  // What a view does that shows another part of something when it grows.
  func frameDidChange() {}
}

/// A view that can be touched, on a phone: a callout's button.
open class UIControl: UIView {}

/// Distances from the sides of a rectangle, points.
public struct UIEdgeInsets: Hashable, Sendable {
  /// From the upper side.
  public var top: CGFloat
  /// From the left side.
  public var left: CGFloat
  /// From the lower side.
  public var bottom: CGFloat
  /// From the right side.
  public var right: CGFloat

  /// No distances.
  public init() { self.init(top: 0, left: 0, bottom: 0, right: 0) }

  /// Makes insets of four distances.
  public init(top: CGFloat, left: CGFloat, bottom: CGFloat, right: CGFloat) {
    self.top = top
    self.left = left
    self.bottom = bottom
    self.right = right
  }

  /// No distances.
  public static let zero = UIEdgeInsets()
}
