#!/bin/sh
# Moves the end of a host that is kept: prolong.sh 'YYYY-MM-DD HH:MM:SS UTC'. Whoever logs in may run it as root.
set -eu
timer=plimsoll-expiry.timer
case "${1-}" in
    [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]\ [0-9][0-9]:[0-9][0-9]:[0-9][0-9]\ UTC) ;;
    *) echo "not a time: ${1-}" >&2 && exit 2 ;;
esac
# The file is replaced whole, and the timer has the old time until it has the new one.
sed -i "s/^OnCalendar=.*/OnCalendar=$1/" "/etc/systemd/system/$timer"
systemctl daemon-reload
systemctl restart "$timer"
