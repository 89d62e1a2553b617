// What the help of `lodestone serve` says of serve.yaml. Lines have at most 78 columns: longer ones would be broken on a terminal of 80.

/// The parts of the help about the configuration.
enum ServeHelp {
  /// An example with every key of the file itself, and an output of each kind.
  static let example = """
      schema: 1
      board: gy-87-hmc5883l      # a name or a path
      socket: /run/lodestone/lodestone.sock
      stream: /run/lodestone/stream.sock
      tcp: {address: 0.0.0.0, port: 2950, positions: none}
      web: {address: 0.0.0.0, port: 8080, positions: exact}
      outputs:
        - {protocol: gpsd, positions: exact}
        - {protocol: nmea0183, address: 0.0.0.0, positions: exact}
        - protocol: nmea0183
          transport: udp
          address: 192.168.1.255
          positions: exact
          sentences: {HDG: 0.1, RMC: 1}
          talker: II
        - protocol: nmea0183
          transport: serial
          device: /dev/ttyUSB0
          baudRate: 4800
          positions: exact
        - protocol: nmea0183
          transport: pty
          path: /run/lodestone/nmea
          group: dialout
          positions: exact
        - protocol: nmea2000
          interface: can0
          pgns: {127250: 0.1, 129025: 0.2}
          reference: magnetic
          positions: exact
        - {protocol: signalk, address: 0.0.0.0, positions: exact}
        - protocol: signalk
          server: "http://boat.local:3000"
          label: mast
          positions: exact
        - protocol: mqtt
          address: broker.example
          tls: true
          credentials: /etc/lodestone/mqtt
          name: boat
          positions: exact
        - protocol: mavlink
          address: 192.168.1.7
          messages: {GPS_INPUT: 0.2}
          positions: exact
        - {protocol: foxglove, address: 0.0.0.0, positions: exact}
        - {protocol: openmetrics, address: 0.0.0.0, positions: exact}
        - protocol: influxdb
          server: "https://database.example:8086"
          organization: home
          bucket: boat
          tokenFile: /etc/lodestone/influxdb.token
          positions: exact
        - {protocol: sensorproxy}
      group: location
      agents: [pi]
      realtime: 20
      connections: {total: 1024, perUser: 256}
    """

  /// The keys of an entry of `outputs`, protocol by protocol.
  static let outputs = """
    Keys of every output:

      protocol         one of those below
      positions        how much of the position goes there: exact, reduced or
                       none (the default)
      transport        the way, where a protocol has several
      address          a numeric address: of this machine, to listen at (by
                       default 127.0.0.1; 0.0.0.0 for all networks), or the one
                       to which datagrams go. A server may have a name
      port             instead of the usual one

    gpsd: for programs that are written for gpsd, at port 2947

    nmea0183: sentences at port 10110
      transport        tcp (the default), udp, serial or pty
      sentences        which, each with the seconds from one to the next
      talker           two letters for all of them
      outsideAir       true: the barometer is outside, so that its temperature
                       and humidity are sent (XDR, MDA)
      device           of serial: the port, which may be plugged in later
      baudRate         of serial: 4800 by default. More than the line carries
                       is an error
      path             of pty: where programs find the pseudo terminal
      group            of pty: whose users may open it

    nmea2000: a device of a boat's CAN bus
      transport        can
      interface        the CAN interface, which must be up with 250000 bit/s
      pgns             which, each with the seconds from one to the next
      reference        of the heading: magnetic (the default) or "true"
      surroundings     where the barometer is: outside, inside, mainCabin or
                       engineRoom. Without it no temperature is sent
      instance         tells several boards of a boat apart, 0 to 252
      uniqueNumber     that no other device of the bus has, 0 to 2097151. By
                       default it follows from the machine

    signalk: deltas at port 8375, or to a server
      transport        tcp (the default) or udp; with server neither
      server           http://HOST:PORT or https://HOST:PORT of a server
      label            the name of the source, under which the board asks the
                       server for access (lodestone)
      credentials      a file of mode 600 with USER:PASSWORD, to log in instead
      rate             the most values of one path in a second (10)
      vessel           urn:mrn:imo:mmsi:NUMBER or urn:mrn:signalk:uuid:UUID,
                       if the board is the vessel's own server
      outsideAir       as with nmea0183

    mqtt: to a broker of MQTT 5, where Home Assistant discovers the board
      address          the name or address of the broker; must be there
      port             1883 by default, with tls 8883
      tls              true: encrypted. Without it everybody on the way can read
                       the password
      caFile           authorities of the broker's certificate, instead of the
                       system's
      credentials      a file of mode 600 with USER:PASSWORD
      name             tells boards, and outputs to one broker, apart. By
                       default that of the machine
      interval         seconds between two positions (10)
      headingInterval  seconds between two headings (1)
      topicPrefix      the beginning of all topics (lodestone)
      discoveryPrefix  Home Assistant's (homeassistant)

    mavlink: to port 14550 of address. It takes no commands
      transport        udp (the default) or serial
      messages         which, each with the seconds from one to the next
      system           the number of the vehicle (1)
      component        the number of the board in it (191)
      device           of serial: the port, which may be plugged in later
      baudRate         of serial: the messages need 57600 or more

    foxglove: messages of ROS 2 at port 8765, as a Foxglove WebSocket
      origins          a list of further web pages that may connect
      interval         seconds between two messages of motion (0.05)

    openmetrics: /metrics for Prometheus at port 2951, without a token. The
    chips are awake for five minutes after a scrape
      board            the name in the metrics. By default that of the machine
      hosts            a list of further host names by which scrapers may ask,
                       besides numeric addresses, localhost and the machine's
                       own name, with and without .local

    influxdb: points to a database over HTTP, or as datagrams to port 8089
      server           http://HOST:PORT or https://HOST:PORT of a database
      bucket           the bucket there
      organization     whose bucket it is
      tokenFile        a file of mode 600 with the token
      transport        udp for datagrams to address, without these four
      interval         seconds between two points of a kind (10)
      board            as with openmetrics

    sensorproxy: the compass of desktops over D-Bus, unless iio-sensor-proxy
    has the name net.hadess.SensorProxy
    """
}
