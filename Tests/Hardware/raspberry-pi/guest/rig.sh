#!/bin/busybox sh
# In the guest: rig REQUEST asks the rig and prints the answer; fails where the answer is an error.
exec 3<>/dev/control
echo "$*" >&3
read -t 10 -r answer <&3 || { echo "rig: no answer" >&2; exit 1; }
echo "$answer"
case $answer in error*) exit 1 ;; esac
