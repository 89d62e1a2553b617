// What a heading may be measured against.

public import Foundation

/// Something with a top that headings can be measured from: see `CLLocationManager.headingBody`. A board has no views;
/// nothing conforms to it by itself.
public protocol CLBodyIdentifiable: NSObjectProtocol {}
