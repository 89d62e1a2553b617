#!/bin/bash
# The guest's first process. First it lays a root of memory over the host's, which is read-only; then, in it,
# it mounts what a system has, runs the script and switches off. `rig` and `seconds` come from the kernel's
# command line. Lines to the console: "| TEXT" of the script, "= up SECONDS", "= exit CODE SECONDS".
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# mount(8) hands options over as one text, newer ones one by one, and hostfs names the folder differently then.
host_folder() { mount -t hostfs none "$2" -o "$1" 2>/dev/null || mount -t hostfs none "$2" -o "hostfs=$1"; }

if [ "${1:-}" != inside ]; then
  mount -t tmpfs -o mode=755 memory /tmp
  mkdir /tmp/upper /tmp/work /tmp/root
  mount -t overlay -o lowerdir=/,upperdir=/tmp/upper,workdir=/tmp/work root /tmp/root
  cd /tmp/root
  mkdir -p rig report proc sys dev tmp run
  mount -t proc proc proc
  mount -t sysfs sys sys
  mount -t devtmpfs dev dev
  mount -t tmpfs -o mode=1777 memory tmp
  mount -t tmpfs -o mode=755 memory run
  mount -t configfs configuration sys/kernel/config
  mkdir -p dev/pts dev/shm run/lock
  mount -t devpts terminals dev/pts
  mount -t tmpfs -o mode=1777 memory dev/shm
  # Where the host's folders are is known here only: its /tmp is covered inside.
  host_folder "$rig/guest" rig
  host_folder "$rig/report" report
  exec chroot . /rig/init.sh inside
fi

ln -s ttyS1 /dev/control
ln -s ttyS0 /dev/serial0
# Raw before anything is sent: a line with echo would send it all back.
for port in /dev/ttyS0 /dev/ttyS1; do stty -F $port raw -echo 2>/dev/null; done
export PATH=/rig:$PATH HOME=/run/home LODESTONE_BOARD=/rig/board.yaml STATE_DIRECTORY=/run/state
export LODESTONE_RIG_CONTROL=/dev/control
mkdir -p $HOME
cp -r /rig/state $STATE_DIRECTORY
echo "= up $(cut -d ' ' -f 1 /proc/uptime)"
# The exit code goes through a file: a pipe tells only that of its last command.
{ cd $HOME && timeout "$seconds" /rig/script 2>&1 </dev/null; echo $? >/run/exit; } | sed -u 's/^/| /'
sync
echo "= exit $(cat /run/exit) $(cut -d ' ' -f 1 /proc/uptime)"
# No library has a command for it on every machine: reboot(RB_POWER_OFF).
exec python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)'
