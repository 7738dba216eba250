#!/usr/bin/env bash
# Builds the Dockerfile on a local base image. Usage: build.sh WORK_FOLDER BASE_IMAGE IMAGE CONTEXT
set -euo pipefail

work=$1
base=$2
image=$3
context=$4

storage=(--root "$work/storage" --runroot "$work/runroot" --storage-driver vfs)

# What this machine's npm needs to reach its registry, and nothing else of its configuration.
npmrc=$work/npmrc
echo "registry=$(npm config get registry)" >"$npmrc"
volumes=()
ca_file=$(npm config get cafile)
if [[ -f $ca_file ]]; then
  echo "cafile=$ca_file" >>"$npmrc"
  volumes=(--volume "$ca_file:$ca_file:ro")
fi

buildah "${storage[@]}" build --isolation chroot --format docker --pull-never --layers=false \
  --build-arg "NODE_IMAGE=$base" --build-arg VERSION=e2e --build-arg REVISION=none \
  --secret "id=npmrc,src=$npmrc" "${volumes[@]}" \
  --tag "$image" --file "$context/Dockerfile" "$context"
