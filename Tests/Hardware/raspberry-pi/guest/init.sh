#!/bin/busybox sh
# The guest's first process: mounts, modules, the script, and its report. What goes to the host is lines on
# the control line; the first character says what they are (see run.py), and requests begin with a letter.
/bin/busybox mkdir -p /proc /sys /dev /tmp /report /root
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mkdir -p /dev/shm
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root LODESTONE_BOARD=/rig/board.yaml STATE_DIRECTORY=/root/state
mkdir -p "$STATE_DIRECTORY"
control=/dev/ttyS1
# Raw before anything is sent: a line with echo would send it all back.
stty -F $control raw -echo
stty -F /dev/ttyAMA0 9600 raw -echo
ln -s $control /dev/control
# The name that Raspberry Pi OS gives the port.
ln -s ttyAMA0 /dev/serial0
export LODESTONE_RIG_CONTROL=/dev/control
date -s "@$(sed -n 's/.*rig\.time=\([0-9]*\).*/\1/p' /proc/cmdline)" >/dev/null
while read -r module; do insmod "/modules/$module"; done </modules/order
# An empty line first: the UART leaves a few stray bytes when it is set up.
echo >$control
echo "= up $(cut -d ' ' -f 1 /proc/uptime)" >$control

# The exit code goes through a file: a pipe tells only that of its last command.
{ cd /root && sh /rig/script 2>&1 </dev/null; echo $? >/tmp/exit; } | awk '{ print "| " $0; fflush() }' >$control
echo "= ended $(cut -d ' ' -f 1 /proc/uptime)" >$control
cd /report
tar cf - . | gzip -9 >/tmp/report
base64 /tmp/report | sed 's/^/+ /' >$control
echo "= exit $(cat /tmp/exit) $(md5sum /tmp/report | cut -d ' ' -f 1)" >$control
# The host ends the emulator; a first process that returns would be a panic.
while :; do sleep 60; done
