// Parameters of relative altitude: what a user may tune, and the groups for experiments.

/// Every threshold and noise of relative altitude, independent of sample rates.
///
/// The plain values describe a board and its use, the groups after them the estimator's tests and models.
/// `Documentation/filter.md` lists all of them. For a value outside its range, or not a number, the
/// default is used.
public struct RelativeAltitudeParameters: Sendable, Hashable {
  /// Least noise of one pressure sample, Pa rms; samples that show more have more. Default 1, chosen.
  public var pressureNoise = 1.0
  /// Steady spread of vertical acceleration while nothing measures it, m/s^2. Default 0.6:
  /// stairs, lifts.
  public var acceleration = 0.6
  /// How long an acceleration lasts, seconds. Default 1.
  public var accelerationTime = 1.0
  /// Steady spread of the accelerometer's bias, tilt and scale seen vertically, m/s^2. Default 0.03.
  public var bias = 0.03
  /// How long such a bias lasts, seconds. Default 20.
  public var biasTime = 20.0
  /// Noise of measured acceleration at rest, m/s^2 per root hertz. Default 0.005.
  public var accelerationNoise = 0.005
  /// Further noise as a share of the acceleration, for scale and timing. Default 0.05.
  public var accelerationShare = 0.05
  /// One sigma of the climb rate at the first sample, m/s. Default 0.7.
  public var initialSpeed = 0.7
  /// Growth of the altitude's uncertainty with time (weather), m per root hour. Default 1, chosen: 12 Pa
  /// in an hour. A front moves more and is not in it.
  public var drift = 1.0
  /// One sigma of the chip's temperature coefficient, Pa/K, either sign. Default 0.9, chosen between the
  /// chips' 1.5 and 0.5.
  public var temperatureCoefficient = 0.9
  /// Temperature of the air outside, degrees Celsius, where something measures it.
  public var airTemperature: Double?
  /// One sigma of `airTemperature`, kelvin. Default 2.
  public var airTemperatureDeviation = 2.0

  /// What relative altitude takes of its sensors.
  @_spi(Tuning) public var limits = PressureSampleLimits()
  /// The noise that pressure samples show themselves.
  @_spi(Tuning) public var noise = PressureNoiseParameters()
  /// Which vertical accelerations are believed.
  @_spi(Tuning) public var accelerometer = VerticalAccelerometerParameters()
  /// Process noise of relative altitude besides the plain values.
  @_spi(Tuning) public var process = VerticalProcessParameters()
  /// Pressure transients by doors and fans.
  @_spi(Tuning) public var doors = DoorDetectorParameters()
  /// The stationary detector of relative altitude.
  @_spi(Tuning) public var stationary = VerticalStationaryParameters()
  /// Height without an accelerometer.
  @_spi(Tuning) public var unaided = UnaidedParameters()
  /// The temperature of the air, where nothing measures it.
  @_spi(Tuning) public var air = AirParameters()

  /// Makes the defaults.
  public init() {}

  /// The same with the default for every number that is out of its range in `numbers`.
  @_spi(Tuning) public var sound: RelativeAltitudeParameters {
    var sound = self
    ParameterNumber.mend(&sound, Self.numbers, usual: RelativeAltitudeParameters())
    return sound
  }
}

/// What relative altitude takes of its sensors.
@_spi(Tuning) public struct PressureSampleLimits: Sendable, Hashable {
  /// Smallest pressure that is taken, in Pa. Default 30000.
  public var leastPressure = 30_000.0
  /// Largest pressure that is taken, in Pa. Default 120000.
  public var largestPressure = 120_000.0
  /// Vertical acceleration from which a sample is dropped, in m/s^2. Default 160.
  public var acceleration = 160.0
  /// Longest pause that is bridged by prediction, in s; after a longer one height follows the pressure, with climb
  /// rate unknown. Default 5.
  public var longestGap = 5.0
  /// NIS from which a pressure is an outlier, together with a step of `doors.largestStep`. Default 36.
  public var outlierGate = 36.0
  /// Time after which an outlier that stays is followed, in s. Default 0.6.
  public var outlierTime = 0.6
}

/// The noise that pressure samples show themselves.
@_spi(Tuning) public struct PressureNoiseParameters: Sendable, Hashable {
  /// Interval of samples up to which they show their noise, in s; further apart they show movement. Default 0.12.
  public var longestInterval = 0.12
  /// Samples after which the noise is known. Default 8.
  public var leastCount = 8.0
  /// Samples that are remembered. Default 60.
  public var memory = 60.0
  /// Variances beyond which a difference counts as this many. Default 9.
  public var outlier = 9.0
  /// Variance before the noise is known, in Pa^2; chosen, as 2 Pa lie between the chips. Default 4.
  public var unknown = 4.0
  /// Floor of the variance in `outlier`, Pa^2. Without it, repeated equal values would reduce the noise to zero for ever.
  /// Default 0.01.
  public var least = 0.01
}

/// Which vertical accelerations are believed.
@_spi(Tuning) public struct VerticalAccelerometerParameters: Sendable, Hashable {
  /// Silence after which an accelerometer no longer aids, in s. Default 0.25.
  public var timeout = 0.25
  /// Time for which one value repeats after which the accelerometer is dead, in s. Default 0.3.
  public var frozenTime = 0.3
  /// How long an accelerometer that did not feel a lift is not believed, in s. Default 30.
  public var distrustTime = 30.0
  /// Low pass of the acceleration and of its variance, in s. Default 1.
  public var timeConstant = 1.0
  /// Deviation below which the accelerometer feels nothing, in m/s^2. Default 0.05.
  public var unacceleratedDeviation = 0.05
  /// Mean below which the accelerometer feels nothing, times the slack, in m/s^2. Default 0.05.
  public var unacceleratedMean = 0.05
}

/// Process noise of relative altitude besides the plain values.
@_spi(Tuning) public struct VerticalProcessParameters: Sendable, Hashable {
  /// Share of `drift` that the filter follows; faster, it would swallow a slow rise. The rest goes into the error
  /// bar. Default 0.4.
  public var filteredDrift = 0.4
  /// Share of the deviation of the acceleration that is added to its noise. Default 0.02.
  public var shakingShare = 0.02
  /// White noise of the acceleration that nothing measures, in m/s^2/√Hz. Default 0.05.
  public var unaidedNoise = 0.05
  /// Growth of the disturbance's variance while a door is open, in m^2/s. Default 1.
  public var openDrift = 1.0
  /// Times `bias` that the acceleration is uncertain by when an accelerometer comes. Default 3.
  public var renewalFactor = 3.0
  /// Deviation from which no climb rate is given, in m/s. Default 0.5.
  public var largestSpeedDeviation = 0.5
}

/// Pressure transients by doors and fans.
@_spi(Tuning) public struct DoorDetectorParameters: Sendable, Hashable {
  /// Largest transient, in Pa; a larger step is height. Chosen. Default 80.
  public var largestStep = 80.0
  /// Transient of a door in a tight building, for the error bar. Chosen, in Pa. Default 30.
  public var usualStep = 30.0
  /// Smallest transient with an accelerometer, per second of the track's age from one second on, in m. Default 0.4.
  public var leastStep = 0.4
  /// Smallest transient without an accelerometer, in m. Default 1.3.
  public var leastStepAlone = 1.3
  /// Age of the track that a step is judged by, once to twice this, in s. Default 1.
  public var trackTime = 1.0
  /// The same without an accelerometer, in s. Default 0.2.
  public var trackTimeAlone = 0.2
  /// Oldest track, in times of `trackTime`. Default 2.5.
  public var longestTrack = 2.5
  /// Climb rate of the track from which nothing is a transient, without an accelerometer, in m/s. Default 0.7.
  public var fastestAlone = 0.7
  /// NIS of the step from which it is a candidate. Default 20.
  public var gate = 20.0
  /// Smallest change of the innovation that is sharp, in m. Default 0.5.
  public var sharpStep = 0.5
  /// NIS of that change from which it is sharp. Default 25.
  public var sharpGate = 25.0
  /// Share of a step that the track has moved against it from which the acceleration is wrong. Default 0.5.
  public var opposedShare = 0.5
  /// Smallest age in the correction of a wrong acceleration, in times of `trackTime`. Default 0.5.
  public var leastAgeShare = 0.5
  /// Low pass of the innovation that a step stands out from, in s. Default 0.5.
  public var innovationTime = 0.5
  /// How long a door takes to open, in s: the disturbance takes the rest of the step. Default 1.2.
  public var openTime = 1.2
  /// The same without an accelerometer, in s. Default 0.4.
  public var openTimeAlone = 0.4
  /// Share of the squared step added to the height's variance, without an accelerometer. Default 0.1.
  public var heightShare = 0.1
  /// Fading of the count of steps in one direction, in s. Default 10.
  public var countMemory = 10.0
  /// Count below which the next step begins a new series. Default 0.4.
  public var leastCount = 0.4
  /// Count beyond which the steps are a lift that the accelerometer does not feel. Default 2.1.
  public var liftCount = 2.1
  /// Share of the squared lift added to the height's variance. Default 0.25.
  public var liftShare = 0.25
  /// Deviation added to the climb rate after a lift, in m/s. Default 2.
  public var liftSpeed = 2.0
}

/// The stationary detector of relative altitude.
@_spi(Tuning) public struct VerticalStationaryParameters: Sendable, Hashable {
  /// How long nothing speaks against it before the board is stationary, in s. Default 2.
  public var duration = 2.0
  /// Time in which a pressure that begins to move has to prove to be a door, in s. Default 1.
  public var doorTime = 1.0
  /// Factor on the thresholds while stationary. Default 1.5.
  public var slack = 1.5
  /// Faster low pass of the measured height, in s. Default 1.
  public var fastTime = 1.0
  /// Slower low pass of the measured height, in s. Default 4.
  public var slowTime = 4.0
  /// Low pass of both while a door is open, in s. Default 0.2.
  public var openTime = 0.2
  /// Climb rate from acceleration below which the board has not moved, in m/s. Default 0.04.
  public var gained = 0.04
  /// Climb rate below which the board is level, in m/s. Default 0.05.
  public var speed = 0.05
  /// Difference of the two low passes below which the board is level, 0.03 m/s over 3 s, in m. Default 0.09.
  public var rise = 3 * 0.03
  /// Deviation that moves from the disturbance to the height after a slow rise, in m. Default 0.15.
  public var swallowed = 0.15
  /// Deviation of the zero climb rate while stationary, over a second, in m/s. Default 0.003.
  public var speedDeviation = 0.003
  /// Deviation added to the height when a stationary board sets off, in m. Default 0.1.
  public var setOffHeight = 0.1
  /// Deviation added to the climb rate then, in m/s. Default 0.07.
  public var setOffSpeed = 0.07
}

/// Height without an accelerometer.
@_spi(Tuning) public struct UnaidedParameters: Sendable, Hashable {
  /// Share of the range of height that may have been a pressure transient. Default 0.6.
  public var share = 0.6
}

/// The temperature of the air, where nothing measures it.
@_spi(Tuning) public struct AirParameters: Sendable, Hashable {
  /// Chip temperature from which a sample is taken, in deg C. Default -60.
  public var coldestChip = -60.0
  /// Chip temperature up to which a sample is taken, in deg C. Default 120.
  public var warmestChip = 120.0
  /// Lowest `airTemperature` that is used, in deg C. Default -90.
  public var coldest = -90.0
  /// Highest `airTemperature` that is used, in deg C. Default 70.
  public var warmest = 70.0
  /// Weight of the standard atmosphere's temperature, by the variances of 16 K and 12 K. Default 0.36.
  public var standardWeight = 0.36
  /// Weight of the chip's temperature. Default 0.64.
  public var chipWeight = 0.64
  /// How much warmer the chip is than the air, in K; assumed. Default 8.
  public var chipExcess = 8.0
  /// Smallest ratio of the air's temperature to the standard one. Default 0.8.
  public var leastScale = 0.8
  /// Largest ratio. Default 1.2.
  public var largestScale = 1.2
  /// Deviation with the chip's temperature, in K; chosen. Default 12.
  public var chipDeviation = 12.0
  /// Deviation with the standard atmosphere alone, in K; chosen. Default 16.
  public var standardDeviation = 16.0
}
