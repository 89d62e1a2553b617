// What a client says that the board moves like, and what follows from it.

/// The kind of movement that a client expects; the SDK's activity types.
package enum Activity: String, Hashable, Codable, Sendable, CaseIterable {
  /// None of the others.
  case other
  /// In a car, on roads.
  case automotiveNavigation
  /// On foot or on a bicycle.
  case fitness
  /// Any other vehicle: a boat, a train.
  case otherNavigation
  case airborne

  /// Whether it is a vehicle that points the way it goes: its course is then a measurement of heading.
  var followsCourse: Bool { self == .automotiveNavigation || self == .otherNavigation }

  /// What the board can do between two looks. The greatest speeds are those of the receivers' dynamic models
  /// (u-blox ZED-F9R integration manual, table of the dynamic platform models: portable 310 m/s, pedestrian 30,
  /// automotive 100, airborne below 4 g 500; a train keeps to the automotive one, a boat does by far). How speed
  /// wanders is an assumption, which `PositionAgeTests` holds against recorded drives and rides.
  var dynamics: Dynamics {
    switch self {
    case .other: Dynamics(topSpeed: 310, wander: 1)
    case .automotiveNavigation, .otherNavigation: Dynamics(topSpeed: 100, wander: 1)
    case .fitness: Dynamics(topSpeed: 30, wander: 1)
    case .airborne: Dynamics(topSpeed: 500, wander: 3)
    }
  }

  /// The speed for which the rate of fixes is made, m/s: a run or a ride, a motorway, a cruise by air. What is
  /// faster gets its fixes at larger distances.
  var cruisingSpeed: Double {
    switch self {
    case .fitness: 5
    case .other, .automotiveNavigation, .otherNavigation: 30
    case .airborne: 250
    }
  }

  /// How long the board has to stand before updates may pause, seconds: longer than a traffic light and a level
  /// crossing, a station and a lock, a wait for the slot.
  var standstill: Double {
    switch self {
    case .fitness: 180
    case .automotiveNavigation: 300
    case .other, .otherNavigation: 600
    case .airborne: 900
    }
  }
}

/// How a board may move while nobody looks.
struct Dynamics: Sendable, Hashable {
  /// The greatest speed, m/s.
  var topSpeed: Double
  /// How speed wanders, in each direction: its change has a variance of so many (m/s)^2 a second.
  var wander: Double
}
