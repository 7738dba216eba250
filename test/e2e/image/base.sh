#!/usr/bin/env bash
# Makes a base image for the Dockerfile without any image registry: Debian by debootstrap, Node and
# npm from their npm packages. Usage: base.sh WORK_FOLDER IMAGE_NAME; buildah's storage is in WORK_FOLDER.
set -euo pipefail

work=$1
image=$2
node_version=24.21.0
npm_version=11.19.1

storage=(--root "$work/storage" --runroot "$work/runroot" --storage-driver vfs)
root=$work/base

debootstrap --variant=minbase bookworm "$root" >"$work/debootstrap.log" 2>&1 || {
  tail -n 20 "$work/debootstrap.log" >&2
  exit 1
}
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}

# Not in a package.json: the package of the binary installs on one kind of machine only.
binary=node-linux-$(node -p process.arch)
npm install --prefix "$work/node" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --silent \
  "$binary@$node_version" "npm@$npm_version"
cp "$work/node/node_modules/$binary/bin/node" "$root/usr/local/bin/node"
mkdir -p "$root/usr/local/lib/node_modules"
cp -r "$work/node/node_modules/npm" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"

container=$(buildah "${storage[@]}" from scratch)
buildah "${storage[@]}" copy --quiet "$container" "$root" / >/dev/null
buildah "${storage[@]}" config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
buildah "${storage[@]}" commit --quiet --rm "$container" "$image" >/dev/null
rm -rf "$root" "$work/node"
