#!/bin/sh
# Makes a fresh instance a host for measuring: data disk, limits and memory as Cassandra recommends for production.
# Called by cloud-init, once: prepare.sh USER ROOT READAHEAD_KIB TRANSPARENT_HUGE_PAGES DISKS LETTERS GB
# DISKS is the number of the instance type's own disks, GB their size together, 0 if AWS does not tell it; LETTERS name
# those that its launch has mapped, such as "b c".
# Leaves ROOT/prepared, whose first line is `ok`, or what went wrong.
set -u
user=$1 root=$2 readahead_kib=$3 transparent=$4 disks=$5 letters=$6 gb=$7

fail() {
    mkdir -p "$root"
    printf '%s\n' "$1" > "$root/prepared"
    chmod 644 "$root/prepared"
    exit 1
}

# The instance-store disks, where the type has any, several joined without redundancy: nothing on them outlives the cell.
# Else everything stays on the system disk. The names have no spaces in them. What was mapped to sdb is sdb or xvdb.
mapped() {
    for letter in $letters; do
        for name in /dev/xvd$letter /dev/sd$letter; do [ -e "$name" ] && readlink -f "$name" && break; done
    done
}
if [ -n "$letters" ]; then set -- $(mapped); else
    set -- $(find /dev/disk/by-id -name 'nvme-Amazon_EC2_NVMe_Instance_Storage_*' ! -name '*-part*' ! -name '*-ns-*' \
        ! -name '*_1' 2>/dev/null | sort)
fi
mkdir -p "$root" || fail "can't make $root"
[ $# -ge "$disks" ] || fail "the instance type has disks of its own (instance store): $disks, and the host shows $#"
size=0
for disk in "$@"; do
    sectors=$(cat "/sys/class/block/$(basename "$(readlink -f "$disk")")/size" 2>/dev/null) || gb=0
    size=$((size + ${sectors:-0} / 1953125))
done
# Makers count whole gigabytes, so a disk may be a little smaller than it is called.
[ $((size * 100)) -ge $((gb * 90)) ] || fail "the instance type has $gb GB of disks of its own, and the host shows $size GB"
if [ $# -gt 0 ] && ! mountpoint -q "$root"; then
    # Images mount the first disk of older types by themselves.
    for disk in "$@"; do
        umount "$disk" 2>/dev/null
        sed -i "\\|^$disk[[:space:]]|d" /etc/fstab
    done
    device=$(readlink -f "$1")
    if [ $# -gt 1 ]; then
        command -v mdadm > /dev/null || fail "the host has $# data disks, and its image has no mdadm to join them"
        mdadm --create /dev/md/plimsoll --run --homehost=any --level=0 --raid-devices=$# "$@" > /dev/null 2>&1 ||
            fail "can't join $# data disks"
        device=$(readlink -f /dev/md/plimsoll)
    fi
    mkfs.xfs -q -f "$device" || fail "can't make a file system on $device"
    mount -o noatime,nodiratime "$device" "$root" || fail "can't mount $device"
    printf '%s %s xfs noatime,nodiratime,nofail 0 0\n' "$device" "$root" >> /etc/fstab
fi
chown "$user" "$root" && chmod 700 "$root" || fail "can't give $root to $user alone"

block=$(basename "$(findmnt -n -o SOURCE --target "$root")")
for queue in "/sys/class/block/$block/queue" "/sys/class/block/$block/../queue"; do
    [ -d "$queue" ] || continue
    printf '%s' "$readahead_kib" > "$queue/read_ahead_kb" || fail "can't set the readahead of $block"
    printf 'none' > "$queue/scheduler" 2>/dev/null
    break
done

swapoff --all || fail "can't turn swap off"
sed -i '/[[:space:]]swap[[:space:]]/d' /etc/fstab
sysctl -q -e -p /etc/sysctl.d/90-plimsoll.conf || fail "can't set the kernel's parameters"
# Shared memory, which the heap of ZGC is, has a switch of its own, with another word for `madvise`.
[ "$transparent" = madvise ] && shared=advise || shared=$transparent
thp=/sys/kernel/mm/transparent_hugepage
if [ -w "$thp/enabled" ]; then
    printf '%s' "$transparent" > "$thp/enabled" || fail "can't set transparent huge pages"
fi
if [ -w "$thp/shmem_enabled" ]; then
    printf '%s' "$shared" > "$thp/shmem_enabled" || fail "can't set transparent huge pages of shared memory"
fi

printf 'ok\n' > "$root/prepared"
chmod 644 "$root/prepared"
