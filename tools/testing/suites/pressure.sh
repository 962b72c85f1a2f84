# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Client and server in one guest that is short of memory lose no data and finish.
# bed: um
# memory: 1G
# timeout: 400
#
# pressure:SECONDS runs for so long instead of 15 seconds, and until there was pressure.
#
# If soft-RoCE has no memory for the response to an RDMA READ, it continues when the
# request is retried (get_req(), read_reply()), but has put the memory region:
# rxe_mr_copy() warns, and the queue pair fails; the server, which has sent the READ,
# gets a "remote access error".

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

LENGTH=${1:-15}

setup_rxe
make_backing /srv/data 300
load_modules /srv/data:no_root_squash
# a machine without memory is slow, so there is no timeout
mount_dafs data /mnt/dafs timeo=3000 || tap_bail "no mount"
mkdir /mnt/dafs/files

# Writes, reads and compares its file, cached or direct, or creates names.
cat >/tmp/load.py <<'END'
import mmap, os, random, sys, time
kind, nr, end = sys.argv[1], int(sys.argv[2]), time.monotonic() + float(sys.argv[3])
NAME, BLOCK, BLOCKS = f"/mnt/dafs/files/{kind}{nr}", 1 << 18, 12
random.seed(nr)
buf, back = mmap.mmap(-1, BLOCK), mmap.mmap(-1, BLOCK)
flags = os.O_RDWR | os.O_CREAT | (os.O_DIRECT if kind == "direct" else 0)
seeds = [0] * BLOCKS
def pattern(block):
    return random.Random(seeds[block] << 8 | block).randbytes(4096) * (BLOCK // 4096)
def data():
    fd = os.open(NAME, flags)
    for _ in range(BLOCKS // 2):
        block = random.randrange(BLOCKS)
        seeds[block] += 1
        buf[:] = pattern(block)
        if os.pwrite(fd, buf, block * BLOCK) != BLOCK:
            sys.exit("short write")
    if random.random() < 0.3:
        os.fsync(fd)
    for block in random.sample([b for b in range(BLOCKS) if seeds[b]], 1):
        if os.preadv(fd, [back], block * BLOCK) != BLOCK or back[:] != pattern(block):
            sys.exit(f"{NAME}: other data in block {block}")
    os.close(fd)
# After a lost connection a change is sent again, although it may have been executed;
# then the server returns NOENT.
def change(function, name, *to):
    try:
        function(name, *to)
    except FileNotFoundError:
        if os.path.exists(name) or not all(map(os.path.exists, to)):
            raise
def names():
    for i in range(10):
        name = f"{NAME}.{i}"
        with open(name, "w", encoding="ascii") as file:
            file.write("x" * 5000)
        change(os.rename, name, name + "r")
        if os.stat(name + "r").st_size != 5000:
            sys.exit(f"{name}: another size")
        change(os.unlink, name + "r")
rounds = 0
while time.monotonic() < end or not rounds or not os.path.exists("/tmp/enough"):
    names() if kind == "names" else data()
    rounds += 1
if kind != "names":
    with open(f"/tmp/model.{kind}{nr}", "wb") as model:
        for block in range(max(b for b in range(BLOCKS) if seeds[b]) + 1):
            model.write(pattern(block) if seeds[block] else bytes(BLOCK))
END

# Allocates more memory than there is and frees it, repeatedly.  It is the first to be
# killed by the OOM killer, and is started again.  A new process may get no memory for its
# kernel stack of 16 pages: then it is retried, and not by the shell, which would exit.
cat >/tmp/hog.py <<'END'
import mmap, os, random, time
def numbers(name):
    with open(name, encoding="ascii") as file:
        return {line.split()[0].rstrip(":"): int(line.split()[1]) for line in file}
def take():
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as adjust:
        adjust.write("1000")
    while not os.path.exists("/tmp/over"):
        much = numbers("/proc/meminfo")["MemAvailable"] + random.randrange(-20000, 10000)
        much = max(4096, much) << 10
        with mmap.mmap(-1, much) as memory:
            for at in range(0, much, 4096):
                memory[at] = 1
            time.sleep(random.random() / 2)
def begin():
    try:
        child = os.fork()
    except OSError:
        return 0
    if child:
        return child
    try:
        take()
    finally:
        os._exit(0)
child = 0
while not os.path.exists("/tmp/over"):
    child = child or begin()
    if child and os.waitpid(child, os.WNOHANG)[0]:
        child = 0
    stalls = numbers("/proc/vmstat")
    if sum(stalls[name] for name in stalls if name.startswith("allocstall")) >= 50:
        open("/tmp/enough", "w").close()
    time.sleep(0.1)
if child:
    os.waitpid(child, 0)
END

# The pages of the RAM disk are allocated now.  The rest is enough for everything but
# the hog, which may be killed and is started again.  KASAN also keeps more and more
# memory.
dd if=/dev/zero of=/srv/data/fill bs=1M count=260 2>/dev/null && sync && rm /srv/data/fill
ballast=$(awk '$1 == "MemTotal:" { total = $2 } $1 == "MemAvailable:" { available = $2 }
	END { print int((available - total / 32) / 1024) - 112 }' /proc/meminfo)
[ "$ballast" -ge 0 ] || tap_bail "a guest with too little memory"
mkdir /run/ballast
mount -t tmpfs -o size=95% tmpfs /run/ballast
dd if=/dev/zero of=/run/ballast/file bs=1M count="$ballast" 2>/dev/null

# The log is read at the end: one line for each killed process is enough.
echo 0 >/proc/sys/vm/oom_dump_tasks
dmesg -C
echo "the loads begin" >/dev/kmsg
for i in 1 2 3 4 5 6; do
	python3 -B /tmp/load.py cached "$i" "$LENGTH" >>/tmp/wrong 2>&1 &
	loads="$loads $!"
done
for kind in direct names; do
	for i in 1 2; do
		python3 -B /tmp/load.py $kind "$i" "$LENGTH" >>/tmp/wrong 2>&1 &
		loads="$loads $!"
	done
done
python3 -B /tmp/hog.py &
hog=$!
stalls()
{
	awk '$1 ~ /^allocstall/ { sum += $2 } END { print sum }' /proc/vmstat
}
failed=0
for pid in $loads; do
	wait "$pid" || failed=$((failed + 1))
done
: >/tmp/over
wait $hog
umount /run/ballast
tap_is "$failed $(tail -n 5 /tmp/wrong | tr '\n' ' ')" "0 " "all loads end well"
tap_run "tasks waited for memory ($(stalls) times)" [ -e /tmp/enough ]
breaks=$(cat /sys/fs/dafs/*/reconnects)

# Both sides log their last messages before they are unloaded.
tap_run "unmount" umount /mnt/dafs
tap_run "the modules unload" unload_modules
dmesg >/tmp/log
tap_run "the log is whole" grep -q "the loads begin" /tmp/log
tap_is "$(grep 'Out of memory: Killed' /tmp/log | grep -vc 'oom_score_adj:1000')" 0 \
	"only who takes all memory is killed"

# Soft-RoCE ends a connection if it has no memory for a packet, or for too long for the
# response to an RDMA READ, as if there were no receive; DAFS cannot avoid that.  Then
# one end logs it; any other reason, or none, is a fault.
sed -n 's/.*\(dafsd\{0,1\}: [cs][el][a-z]* .*\)/# \1/p' /tmp/log | head -n 40 | tee -a "$RESULTS"
SHORT="local QP operation error|queue pair failure|no receive"
# client|server REASON...: number of connections ended by this side for any reason, or for
# other REASONs
client()
{
	grep 'dafs: server .* trying again' /tmp/log | grep -cE "$@"
}
server()
{
	grep 'dafsd: client [^ ]*: ' /tmp/log | grep -cE "$@"
}
tap_is "$(client -v "$SHORT|closed by the peer")" 0 \
	"$breaks connections broke, none without a reason"
tap_run "each is in the log" [ "$(client '')" -ge "$breaks" ]
tap_run "those that the server has ended have a reason there" [ \
	"$(client 'closed by the peer')" -le "$(server '')" ]
tap_is "$(server -v "$SHORT|remote access error")" 0 "which is soft-RoCE's"
tap_run "no region was gone too early" [ \
	"$(server 'remote access error')" -le "$(grep -c 'WARNING: .* rxe_mr_copy' /tmp/log)" ]

same()
{
	for model in /tmp/model.*; do
		cmp "$model" /srv/data/files/"${model#*.}" || return
	done
}
tap_is "$(find /tmp/model.* | wc -l)" 8 "all files were written"
tap_run "the server has what was written" same
tap_done
