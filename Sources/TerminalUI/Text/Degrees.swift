// Angles are radians inside, and degrees where a person reads them.

/// The number of degrees in a radian.
package let degrees = 180 / Double.pi
