// The annotations of a map: where they are, and which have views.

import CoreLocation

/// What a map knows of its annotations. Views are there for those in sight alone; what has gone out of sight is kept for
/// others, by its identifier, as long as there are no more of them than in sight.
struct AnnotationShelf {
  private var index = PointIndex<any MKAnnotation>()
  /// All of them, in the order in which they came; by number, so that each is found at once.
  private var order: [Int: any MKAnnotation] = [:]
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var next = 0
  private(set) var views: [ObjectIdentifier: MKAnnotationView] = [:]
  private var queues: [String: [MKAnnotationView]] = [:]
  private var makers: [String: (any MKAnnotation) -> MKAnnotationView] = [:]
  var selected: ObjectIdentifier?

  /// All annotations, in the order in which they came.
  var all: [any MKAnnotation] {
    order.sorted { $0.key < $1.key }.map(\.value)
  }

  func holds(_ annotation: any MKAnnotation) -> Bool {
    numbers[ObjectIdentifier(annotation)] != nil
  }

  func annotation(_ id: ObjectIdentifier) -> (any MKAnnotation)? {
    numbers[id].flatMap { order[$0] }
  }

  /// What lies in a rectangle of the map, which may go on beyond its edge.
  func forEach(
    in rect: MKMapRect, _ body: (ObjectIdentifier, any MKAnnotation) -> Void
  ) {
    for part in rect.partsOfTheWorld { index.forEach(in: part, body) }
  }

  /// How many views wait for other annotations.
  var waiting: Int { queues.values.reduce(0) { $0 + $1.count } }

  // MARK: What is on the map

  /// Puts an annotation where it is now.
  mutating func place(_ annotation: any MKAnnotation) {
    let id = ObjectIdentifier(annotation)
    if numbers[id] == nil {
      numbers[id] = next
      order[next] = annotation
      next += 1
    }
    index.set(annotation, id: id, at: MKMapPoint(annotation.coordinate))
  }

  mutating func forget(_ id: ObjectIdentifier) {
    guard let number = numbers.removeValue(forKey: id) else { return }
    order[number] = nil
    index.remove(id)
  }

  // MARK: What stands for it

  mutating func show(_ view: MKAnnotationView, for id: ObjectIdentifier) { views[id] = view }

  /// Takes the view of an annotation off the map, and keeps it where it can be used again.
  mutating func hide(_ id: ObjectIdentifier) {
    guard let view = views.removeValue(forKey: id) else { return }
    view.removeFromSuperview()
    guard let identifier = view.reuseIdentifier else { return }
    view.annotation = nil
    // As many as are in sight: more are not needed at once.
    guard queues[identifier, default: []].count <= max(views.count, 8) else { return }
    queues[identifier, default: []].append(view)
  }

  mutating func dequeue(_ identifier: String) -> MKAnnotationView? {
    guard let view = queues[identifier]?.popLast() else { return nil }
    view.prepareForReuse()
    return view
  }

  mutating func register(
    _ identifier: String, _ make: @escaping (any MKAnnotation) -> MKAnnotationView
  ) { makers[identifier] = make }

  func make(_ identifier: String, for annotation: any MKAnnotation) -> MKAnnotationView? {
    makers[identifier]?(annotation)
  }

  /// Takes all views off the map and throws them away: somebody else is asked for them.
  mutating func forgetViews() {
    for view in views.values { view.removeFromSuperview() }
    views = [:]
    queues = [:]
  }
}
