#!/bin/sh
# Measures all that README.md here shows, in one run of about 20 minutes, and prints it as tables. Keep the machine quiet.
#
#     sh benches/all.sh [DIR OF PEERS, see end_to_end/run.py] >figures.md
set -eu
cd "$(dirname "$0")/.."
peers=${1:+--peers "$1"}

cargo build --release --example reverse_proxy --example bare_proxy --example end_to_end >&2
cargo bench --bench engine --bench exchange --bench stream --bench instructions --no-run >&2
cargo test --no-run --test allocations >&2
rm -rf "${CARGO_TARGET_DIR:-target}/criterion"

machine() {
    echo "$(nproc) cores of $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(rustc -V), load $(cut -d' ' -f1-3 /proc/loadavg), $(date -u)"
}

machine
for bench in engine exchange stream; do
    cargo bench --bench $bench >&2
done
python3 benches/table.py
machine
echo
cargo test --quiet --test allocations -- --nocapture --test-threads=1 2>/dev/null | grep ' of at most '
echo
python3 benches/end_to_end/run.py --rounds 26 --seconds 0.5 $peers
machine
echo
# What counts instructions needs no quiet.
python3 benches/instructions.py
