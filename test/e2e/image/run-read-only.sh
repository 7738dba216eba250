#!/usr/bin/env bash
# Runs a command in an image as a careful operator would: root file system read-only, one writable
# volume, not root, and no network but loopback.
# Usage: unshare --mount --net run-read-only.sh MOUNTED_IMAGE VOLUME MOUNT_POINT CONFIG USER:GROUP COMMAND…
# CONFIG is the folder with chains.yaml, or empty. The first word of COMMAND is the folder that it starts in.
# Each step replaces the process, so that a signal reaches the command itself.
set -euo pipefail

root=$1
volume=$2
mount_point=$3
config=$4
user=$5
shift 5

mount --bind "$root" "$root"
mount --bind "$volume" "$root$mount_point"
[[ -z $config ]] || mount --bind "$config" "$root/etc/synclag"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount -o remount,bind,ro "$root"
ip link set lo up

exec chroot --userspec="$user" "$root" /usr/bin/env --ignore-environment --chdir="$@"
