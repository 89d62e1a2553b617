// What a location could do under another name.

extension CLLocation {
  /// The older spelling of `distance(from:)`.
  @available(*, deprecated, renamed: "distance(from:)")
  public func getDistanceFrom(_ location: CLLocation) -> CLLocationDistance {
    distance(from: location)
  }
}
