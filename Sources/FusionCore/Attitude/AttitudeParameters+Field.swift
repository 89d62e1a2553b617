// Parameters of the attitude estimator that concern the magnetic field.

/// How much a field sample counts in the filter.
@_spi(Tuning) public struct MagnetometerWeightParameters: Sendable, Hashable {
  /// Strength for which `magneticCeiling` and `magnet.threshold` hold, in uT. Default 45.
  public var referenceStrength = 45.0
  /// Low pass of the error of strength, in s. Default 3.
  public var scatterTime = 3.0
  /// Low pass of the NIS, in s. Default 0.35.
  public var innovationTime = 0.35
  /// Share of the measurement's variance in the NIS. Default 1/4.
  public var innovationShare = 1.0 / 4
  /// NIS over 3 from which the variance grows; nothing is rejected wholly. Default 1.
  public var gate = 1.0
  /// Factor on the variance in a disturbed field, in motion. Default 3.
  public var disturbedFactor = 3.0
  /// The same while stationary, where the disturbance says nothing that would ever end. Default 1000000.
  public var stationaryFactor = 1_000_000.0
  /// Largest lag of the magnetometer, in s. Default 0.03.
  public var largestLag = 0.03
  /// Share of a correction by the field that tilt takes where strength is uneven; the rest is gravity's. Default 0.6.
  public var tiltShare = 0.6
  /// The same of the gyro's bias about the horizontal axes. Default 0.6.
  public var levelBiasShare = 0.6
  /// How even the field is where the shares lie half-way between these and 1, in uT^2: the slow mean of the square of
  /// strength's error. Default 0.4.
  public var evenVariance = 0.4
  /// The same of the gyro's scale and misalignment: what gravity does not see of them is then learned in an even field
  /// alone. Default 0.
  public var gyroMatrixShare = 0.0

  /// Every error is corrected by all that the gain says.
  mutating func takeWholeGains() { (tiltShare, levelBiasShare, gyroMatrixShare) = (1, 1, 1) }

  /// Of each error but the gyro's bias.
  var shares: ErrorVector {
    var shares = ErrorVector.zero
    for error in 0..<ErrorVector.count { shares[error] = 1 }
    shares[ErrorVector.attitude] = tiltShare
    shares[ErrorVector.attitude + 1] = tiltShare
    for entry in 0..<9 { shares[ErrorVector.gyroMatrix + entry] = gyroMatrixShare }
    return shares
  }
}

/// What the field says of heading alone.
@_spi(Tuning) public struct AzimuthParameters: Sendable, Hashable {
  /// Deviation of what points the field of a place elsewhere than north, at `magnetometer.referenceStrength`, where
  /// strength is the same everywhere, in uT. Default 0.45.
  public var leastDeviation = 0.45
  /// The same at most: it grows with the error of strength. Default 1.
  public var deviation = 1.0
  /// Low pass of the error of strength that it grows with, in s. Default 20.
  public var scatterTime = 20.0
  /// Largest error of strength that counts in it, at `magnetometer.referenceStrength`, in uT. Default 4.
  public var largestScatter = 4.0
  /// How long a deviation lasts for a board that moves, in s. Default 2.
  public var time = 2.0
  /// Weight of the error of strength in the variance of the east part, in s. Default 0.2.
  public var strengthWeight = 0.2
  /// Weight of the scatter of the east part in its variance, in s. Default 5.
  public var eastWeight = 5.0
  /// Least slope of the east part over heading, as a share of the horizontal field: a heading far off is corrected, too.
  /// Default 0.3.
  public var leastSlope = 0.3
}

/// A field that contradicts heading and nothing else.
@_spi(Tuning) public struct ContradictionParameters: Sendable, Hashable {
  /// Low pass of the azimuth, in s. Default 3.
  public var time = 3.0
  /// Azimuth from which the field contradicts, in rad. Default 3 deg.
  public var deviation = 3 * Double.pi / 180
  /// Time for which it contradicts until heading is doubted, in s. Default 8.
  public var least = 8.0
  /// Deviation of the gyro's bias that is added then, in shares of the azimuth, 1/s. Default 0.05.
  public var biasShare = 0.05
  /// Share of its pace at which that time runs back in a field that is not right otherwise. Default 0.5.
  public var recovery = 0.5
  /// Time for which strength and dip are right until azimuth shows in the bar, in s. Default 1.
  public var settling = 1.0
  /// Floor of the error of strength with which the field is right, in uT. Default 4.
  public var strengthFloor = 4.0
  /// The same as a share of the strength. Default 0.08.
  public var strengthShare = 0.08
  /// Largest error of dip with which the field is right, in rad. Default 0.1.
  public var largestDipError = 0.1
}

/// The field of a place as a state of the filter.
@_spi(Tuning) public struct PlaceFieldParameters: Sendable, Hashable {
  /// Horizontal field before the field is first measured, in uT. Default 20.
  public var horizontal = 20.0
  /// Vertical field before the field is first measured, up positive, in uT. Default -40.
  public var vertical = -40.0
  /// Initial deviation of the field, and after a change of record whose shift is unknown, in uT. Default 10.
  public var deviation = 10.0
  /// Deviation added to the model's field, in uT: buildings, soil, the calibration's scale. Default 3.
  public var modelDeviation = 3.0
  /// Deviation above which the field has no process noise, in uT. Default 4.
  public var largestDeviation = 4.0
  /// Random walk of the field, in uT^2/s. Default 0.004.
  public var noise = 0.004
  /// Angle of turning that halves the doubt about a field that has turned north at rest, in rad. Default 1.5.
  public var doubtAngle = 1.5
  /// Smallest horizontal field, in uT. Default 0.1.
  public var leastHorizontal = 0.1

  /// Horizontal and vertical field before the field is first measured, in uT.
  var initial: SIMD2<Double> { SIMD2(horizontal, vertical) }
}

/// When north is found, trusted and given up.
@_spi(Tuning) public struct NorthParameters: Sendable, Hashable {
  /// Smallest horizontal share of a field that north is aligned with. Default 0.02.
  public var leastHorizontalShare = 0.02
  /// Deviation of heading after an alignment, in rad. Default 0.5.
  public var deviation = 0.5
  /// Undisturbed time after which north is trusted, in s. Default 2.
  public var trustDuration = 2.0
  /// Share of the horizontal field from which a shift of the calibration has north aligned again. Default 0.5.
  public var recordShift = 0.5
  /// Angle from which a solution of the residual offset moves north, in rad. Default 0.3.
  public var solutionTurn = 0.3
  /// Heading variance after such a move, (5 deg)^2, in rad^2. Default 0.0076.
  ///
  /// At least this much is added after a change of record whose shift is unknown.
  public var solutionVariance = 0.0076
  /// A magnet found this soon was there when north was found, in s. Default 15.
  public var proofDuration = 15.0
  /// Heading variance added then, in rad^2. Default 1.
  public var magnetVariance = 1.0
  /// Ceiling of what a change of the offset adds to the variance of heading, in rad^2. Default 1.
  public var largestVariance = 1.0
  /// Deviation that a change of the offset in motion adds to the gyro's bias, in shares of the angle by which it turns the
  /// field, in 1/s. Default 0.02.
  public var biasShare = 0.02
}

/// A magnet that is attached to the board, or taken off.
@_spi(Tuning) public struct MagnetDetectorParameters: Sendable, Hashable {
  /// Means of the test, in s. Default 2.5.
  public var memory = 2.5
  /// Time between two detections, in s. Default 1.5.
  public var pause = 1.5
  /// Smallest error that is taken for a magnet, at `magnetometer.referenceStrength`, in uT. Default 4.
  public var threshold = 4.0
  /// Share of the squared error that must be fixed to the body. Default 0.5.
  public var bodyShare = 0.5
  /// Share by which the body must explain more than the earth. Default 0.25.
  public var excessShare = 0.25
  /// Residual hard iron that may be a magnet which is taken off again, in uT; more than a record leaves. Default 4.
  public var removable = 4.0
  /// Change of the hard iron after which the field test starts its means again, in uT. Default 3.
  public var reportedChange = 3.0
}

/// The residual hard iron that turning shows.
@_spi(Tuning) public struct ResidualOffsetParameters: Sendable, Hashable {
  /// Random walk of the offset in the filter, (0.004 uT)^2 a second, in uT^2/s. Default 0.000016.
  public var noise = 0.000_016
  /// Explained variance from which there is a solution. Default 2.
  public var proof = 2.0
  /// Explained variance from which the solution is taken without damping. Default 5.
  public var certainty = 5.0
  /// Largest trace of the unseen share of a solution. Default 1.8.
  public var largestUnobserved = 1.8
  /// Largest unexplained mean square of a solution, in uT^2. Default 4.
  public var unevenness = 4.0
  /// Memory of the window, in rotation, in rad. Default 20.
  public var memory = 20.0
  /// Memory of what is found, in rotation, in rad. Default 4.
  public var foundMemory = 4.0
  /// Rotation before the window says anything after a restart, in rad. Default 5.
  public var leastRotation = 5.0
  /// Entry of the observability at which an offset is half seen. Default 0.4.
  public var visibility = 0.4
  /// Entry of the observability at which half of what the record leaves open has been excluded. Default 0.23.
  public var clearance = 0.23
  /// Smallest unexplained mean square, in uT^2; no field is more even. Default 0.5.
  public var evenness = 0.5
  /// Move of the offset that inflates the covariance, in uT. Default 0.3.
  public var step = 0.3
}

/// Whether the measured field is the earth's.
@_spi(Tuning) public struct FieldTestParameters: Sendable, Hashable {
  /// Samples of the field that are judged as one span this, in s. Default 0.04.
  public var interval = 0.04
  /// Low pass of strength and field, in s. Default 0.25.
  public var timeConstant = 0.25
  /// Floor of the tolerance of strength, in uT. Default 6.
  public var strengthFloor = 6.0
  /// Tolerance of strength as a share of the expected one. Default 0.12.
  public var strengthShare = 0.12
  /// Tolerance of inclination, in rad. Default 7.5 deg.
  public var inclination = 7.5 * Double.pi / 180
  /// Tolerance of azimuth, in rad. Default 5 deg.
  public var azimuth = 5 * Double.pi / 180
  /// Deviations of model and calibration in the tolerances. Default 2.
  public var sigmas = 2.0
  /// Deviations of the tilt in the tolerance of inclination. Default 2.
  public var tiltSigmas = 2.0
  /// Largest tilt allowed for, without an acceleration that shows, in rad. Default 0.1.
  public var leastExcusedTilt = 0.1
  /// Largest tilt allowed for, with one, in rad: a magnet that comes during a tilt does not make the force longer.
  /// Default 0.15.
  public var largestExcusedTilt = 0.15
  /// Deviations of heading in the tolerance of azimuth. Default 3.
  public var headingSigmas = 3.0
  /// Share of the tolerances that a disturbed field must come back to. Default 0.8.
  public var hysteresis = 0.8
  /// Deviation until disturbed, in s. Default 0.5.
  public var suspectDuration = 0.5
  /// Tolerances of strength beyond which a field needs no second look. Default 4.
  public var plainExcess = 4.0
  /// Deviation until disturbed, then, in s. Default 0.1.
  public var plainDuration = 0.1
  /// Undisturbed time until the disturbance ends, in s. Default 1.
  public var recoveryDuration = 1.0
  /// The same after a magnet was found, in s. Default 0.3.
  public var explainedDuration = 0.3
  /// Fastest turn of a board without a gyro, in rad/s: a field that turns faster is not turned by the board. Default 6.
  public var fastestTurn = 6.0
  /// Angle from which such a turn is a disturbance, in rad. Default 0.8.
  public var leastStep = 0.8
  /// Undisturbed time until the disturbance ends that began with such a turn, in s. Default 2.
  public var stepDuration = 2.0
  /// Time until a new place, or a new north, is adopted, in s. Default 20.
  public var adoptionDuration = 20.0
  /// Learning time that survives the finding of a magnet, in s. Default 15.
  public var provenDuration = 15.0
  /// Weakest field without a reference, in uT; what occurs at the surface of the earth. Default 20.
  public var weakest = 20.0
  /// Strongest field without a reference, in uT. Default 70.
  public var strongest = 70.0
  /// Learning time until the reference counts, in s. Default 1.
  public var learningStart = 1.0
  /// Learning time over which the reference is a running mean, in s; an adopted place begins with it. Default 2.
  public var learningMean = 2.0
  /// Memory of the reference after that, in s. Default 60.
  public var learningMemory = 60.0
  /// Largest distance of a new place from the field of the calibration, in uT. Default 10.
  public var placeDistance = 10.0
  /// The same as a share of that field; the larger one counts. Default 0.25.
  public var placeShare = 0.25
  /// Constancy of the strength of a new place, in uT. Default 2.
  public var placeStrength = 2.0
  /// Constancy of the inclination of a new place, in rad. Default 0.05.
  public var placeInclination = 0.05
  /// Low pass of a new place, in s. Default 5.
  public var placeTime = 5.0
}
