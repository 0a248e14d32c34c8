#!/usr/bin/env bash
# Installs the Debian packages of a build in a bare Debian 12 without a compiler, and runs the programs
# there: chroot.sh BUILD_FOLDER. Takes root, debootstrap and a network, about 2 minutes and 1 GB, so
# tools/check goes without.
set -euo pipefail
build=$1
for tool in cpack debootstrap; do
  command -v "$tool" > /dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
[[ $(id -u) -eq 0 ]] || { echo "skipped: only root may make a chroot"; exit 77; }
root=$(mktemp -d)
cleanup() {
  ! mountpoint -q "$root/proc" || umount "$root/proc"
  rm -rf "$root"
}
trap cleanup EXIT

debootstrap --variant=minbase bookworm "$root" > "$root.log" 2>&1 || { tail "$root.log"; exit 1; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
cpack --config "$build/CPackConfig.cmake" -B "$root/packages" > /dev/null 2>&1
cat > "$root/test" << 'INSIDE'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
apt-get update -qq
install() { apt-get install -y -qq --no-install-recommends "$@" > /log 2>&1 || { cat /log; exit 1; }; }
install /packages/thinwire_*.deb /packages/thinwire-doc_*.deb
if ls /packages/python3-thinwire_*.deb > /dev/null 2>&1; then install /packages/python3-thinwire_*.deb; fi
if ls /packages/thinwire-mpi_*.deb > /dev/null 2>&1; then install /packages/thinwire-mpi_*.deb; fi
for compiler in cc gcc c++ g++ clang; do
  ! command -v $compiler || { echo "there is a compiler"; exit 1; }
done
cd /tmp
thinwire --version
thinwire run --scheme oktopk,dense_ring -P 64 -n 25.5M -d 1%
thinwire run --scheme topka -P 8 -n 1000 --network links --platform fat_tree
thinwire run --scheme topka -P 8 -n 1000 --network smpi --platform fat_tree
thinwire trace check /usr/share/thinwire/traces/lstm_all.h5
thinwire run --scheme oktopk,dense_ring -P 4,8,16 -n 1000 --format jsonl > rows.jsonl
thinwire report rows.jsonl -o page.html
thinwire report rows.jsonl --figure time -o time.png
if command -v python3 > /dev/null; then
  python3 -c 'import thinwire; print(thinwire.run(scheme="dense_ring", ranks=4, components=1000))'
fi
if command -v thinwire-mpi > /dev/null; then
  mpirun --allow-run-as-root --oversubscribe -n 2 thinwire measure --scheme oktopk -n 1000 -d 10% 2> /log || { cat /log; exit 1; }
fi
ls -l page.html time.png /usr/share/man/man1/thinwire.1.gz /usr/share/bash-completion/completions/thinwire
INSIDE
chroot "$root" bash /test
echo "installed and run without a compiler: $(cd "$root/packages" && echo ./*.deb)"
