"""Writes an MCAP file for Foxglove and other robotics tools: pip install mcap, then python3 to_mcap.py run.mcap 60"""

import json
import sys
import time

from mcap.writer import Writer

import lodestone

path, seconds = sys.argv[1], float(sys.argv[2])
kinds = ["heading", "attitude", "location", "altitude"]
with open(path, "wb") as file:
    writer = Writer(file)
    writer.start()
    channels: dict[str, int] = {}
    for kind in kinds:
        schema = writer.register_schema(
            name=f"lodestone.{kind}", encoding="jsonschema", data=b'{"type":"object"}'
        )
        channels[kind] = writer.register_channel(
            topic=f"/lodestone/{kind}", message_encoding="json", schema_id=schema
        )
    end = time.monotonic() + seconds
    # The wall clock may be set meanwhile: all moments are those of the monotonic clock, moved once.
    offset = time.time() - time.monotonic()
    count = 0
    try:
        for reading in lodestone.stream(kinds, timeout=seconds):
            if time.monotonic() > end:
                break
            channel = channels.get(str(reading.line.get("kind")))
            if channel is None:
                print(reading.reason or reading)
                continue
            moment = int((reading.monotonic + offset) * 1e9)
            writer.add_message(
                channel_id=channel,
                log_time=moment,
                publish_time=moment,
                data=json.dumps(dict(reading.line)).encode(),
            )
            count += 1
    except TimeoutError:
        pass
    finally:
        writer.finish()
print(f"{count} messages in {path}")
