// What the attitude estimator's parameters come to in radians, squares and per second.

/// The parameters in the units that the filter computes with, and the groups as they were given.
///
/// A class, so that a filter's step is handed one reference: the values are more than a kilobyte.
final class AttitudeConstants: Sendable {
  let gravity: Double
  let attitudeNoise: Double
  let headingNoise: Double
  let turningNoise: Double
  let gyroScaleVariance: Double
  let gyroMisalignmentVariance: Double
  let ironVariance: Double
  let biasDeviation: Double
  let biasVariance: Double
  let biasNoise: Double
  /// What a bias may have become while attitude was lost.
  let biasLoosening: Double
  /// The low-passed gyro against the bias, stationary and before that is sure, in the mean over a second.
  let restVariance: Double
  let candidateVariance: Double
  let velocityNoise: Double
  let velocityVariance: Double
  let velocityWeight: Double
  let startVelocity: Double
  let unacceleratedVariance: Double
  let magneticVariance: Double
  let scatterWeight: Double
  let fieldCeiling: Double
  let fieldVariance: Double
  let placeVariance: Double
  let fieldLimit: Double
  let lagVariance: Double
  let blockDuration: Double
  let startDuration: Double
  let movingStartDuration: Double
  let headingFloor: Double

  let limits: AttitudeSampleLimits
  let alignment: AlignmentParameters
  let gyroBias: GyroBiasParameters
  let integration: GyroIntegrationParameters
  let velocity: VelocityAidingParameters
  let course: CourseParameters
  let measuredHeading: MeasuredHeadingParameters
  let divergence: DivergenceParameters
  let stationary: StationaryParameters
  let slowTurn: SlowTurnParameters
  let magnetometer: MagnetometerWeightParameters
  /// How much of each error the field corrects.
  let fieldShares: ErrorVector
  let azimuth: AzimuthParameters
  let contradiction: ContradictionParameters
  let place: PlaceFieldParameters
  let north: NorthParameters
  let magnet: MagnetDetectorParameters
  let residual: ResidualOffsetParameters
  let fieldTest: FieldTestParameters
  let direct: DirectTrackerParameters
  let acceleration: UnseenAccelerationParameters
  let heading: HeadingAccuracyParameters
  let tilt: TiltAccuracyParameters
  let transition: HeadingTransitionParameters

  init(_ given: AttitudeParameters) {
    let params = given.sound
    let degree = Double.pi / 180
    func square(_ x: Double) -> Double { x * x }
    gravity = params.gravity
    attitudeNoise = square(params.attitudeNoise * degree)
    headingNoise = square(params.headingNoise * degree)
    turningNoise = params.integration.axisShare * square(params.turningNoise)
    gyroScaleVariance = square(params.gyroScale)
    gyroMisalignmentVariance = square(params.gyroMisalignment)
    ironVariance = square(params.ironDeviation)
    biasDeviation = params.biasDeviation * degree
    biasVariance = square(params.biasDeviation * degree)
    biasNoise = square(params.biasNoise * degree)
    biasLoosening = square(params.gyroBias.restartDeviation)
    restVariance = square(params.gyroBias.stationaryDeviation)
    candidateVariance = square(params.gyroBias.candidateDeviation)
    velocityNoise = square(params.velocity.noise)
    velocityVariance = square(params.velocityDeviation)
    velocityWeight = params.velocityTime
    startVelocity = square(params.alignment.velocityDeviation)
    unacceleratedVariance = square(params.steadyDeviation)
    magneticVariance = square(params.magneticNoise)
    scatterWeight = params.disturbanceTime
    fieldCeiling = square(params.magneticCeiling)
    fieldVariance = square(params.place.deviation)
    placeVariance = square(params.place.modelDeviation)
    fieldLimit = square(params.place.largestDeviation)
    lagVariance = square(params.lagDeviation)
    blockDuration = max(params.blockDuration, 0.01)
    startDuration = max(params.startDuration, 0)
    movingStartDuration = max(params.movingStartDuration, startDuration)
    headingFloor = params.headingFloor * degree
    limits = params.limits
    alignment = params.alignment
    gyroBias = params.gyroBias
    integration = params.integration
    velocity = params.velocity
    course = params.course
    measuredHeading = params.measuredHeading
    divergence = params.divergence
    stationary = params.stationary
    slowTurn = params.slowTurn
    magnetometer = params.magnetometer
    fieldShares = params.magnetometer.shares
    azimuth = params.azimuth
    contradiction = params.contradiction
    place = params.place
    north = params.north
    magnet = params.magnet
    residual = params.residual
    fieldTest = params.fieldTest
    direct = params.direct
    acceleration = params.acceleration
    heading = params.heading
    tilt = params.tilt
    transition = params.transition
  }
}
