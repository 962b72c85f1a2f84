# SPDX-License-Identifier: GPL-2.0
"""Prints the samples of sampler.py: where the instructions of a row are spent."""

import collections
import re

SIDES = "client", "server", "transport", "other", "idle"     # and perf
MOST = 30
LEAST = 1 / 500         # of a row

# The kernel proper has no modules: groups by names of its functions, the first
# that matches.
GROUPS = [(name, re.compile(pattern)) for name, pattern in (
    ("system calls", r"^(do_syscall|entry_SYSCALL|syscall_|x64_sys|__x64_sys"
     r"|asm_|irqentry|exit_to_user|fpregs|switch_fpu|common_interrupt)"),
    ("idle", r"idle|^(pv_native_safe_halt|acpi_safe_halt|mwait)"),
    ("work queues", r"work(er|queue)|_work|^pwq_|^__queue_|^process_one|pool"),
    ("scheduler", r"sched|^(en|de)queue_|pick_next|try_to_wake|switch_to"
     r"|switch_mm|update_(curr|load|cfs|rq|se|min)|^psi_|wake_up|wakeup|_entity"
     r"|^__?wait_|completion|prepare_task|finish_task|cpuacct|kthread"
     r"|^(reweight|place|avg|pelt|select_task|ttwu|check_preempt|wait_)|cfs"),
    ("locks", r"lock|mutex|rwsem|^(up|down)_(read|write)|preempt_count"),
    ("timers", r"timer|^(tick|clock|ktime|read_tsc|sched_clock|native_sched)"),
    ("RCU", r"rcu"),
    ("slab", r"slab|kmem_cache|^_*k[mzv]*(alloc|free)|kvfree|obj_cgroup|memcg"
     r"|refill_stock|get_partial|setup_object|mod_objcg"),
    ("copying", r"^_*(mem(cpy|set|move|cmp)|copy_|rep_movs|clear_page)"
     r"|_to_iter|_from_iter|copy_(to|from)_user"),
    ("checksums", r"crc32|csum|chksum"),
    ("network", r"skb|^_*(ip6?|udp6?|dev|net|neigh|dst|fib|sock|rt)_|netif"
     r"|local_bh|softirq|siphash|rhashtable|rht"),
    ("pages", r"folio|page|^_*x(a|as)_|pagevec|lru|zone|radix|iov_iter|pte|pmd"
     r"|fault|mmap|vma|mas_|mt_"),
    ("block", r"bio|blk|bh_|buffer|brd"),
    ("security", r"security|apparmor|aa_|cred|capable|cap_|inode_permission"),
    ("VFS", r"d_|dentry|inode|path|link|file|vfs|name|dir|stat|fd|mnt|open"
     r"|lookup|attr|notify|iget|evict|shrink"),
    ("tracing, perf", r"perf|trace|unwind|^orc|stack"),
)]


def group(module, function):
    if module != "kernel":
        return module
    for name, pattern in GROUPS:
        if pattern.search(function):
            return f"kernel: {name}"
    return "kernel: other"


def collect(lines):
    """{row: {peer: {(side, module, function, caller): samples}}}."""
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    for line in lines:
        if line.startswith("sample "):
            _, row, peer, count, *digest = line.split()
            found[row][peer][tuple(digest)] = int(count)
    return found


def summed(digests, key, sides, cost):
    """The cost of these sides, by key of a digest."""
    samples = sum(count for digest, count in digests.items()
                  if digest[0] in SIDES)
    total = collections.Counter()
    for digest, count in digests.items():
        if digest[0] in sides:
            total[key(*digest)] += cost * count / samples
    return total


def print_sums(title, columns, least, first=()):
    """Prints a line for each key above least; columns is {peer: {key: number}}."""
    print(f"\n  {title:42}" + "".join(f"{peer:>10}" for peer in columns))
    most = collections.Counter()
    for sums in columns.values():
        most |= sums
    keys = [key for key in first if most[key]]
    keys += [key for key, number in most.most_common(MOST)
             if key not in keys and number >= least]
    for key in keys:
        print(f"  {key:42}" + "".join(f"{sums[key]:10.0f}"
                                      for sums in columns.values()))


def print_row(row, peers, costs):
    """costs: the instructions of one operation, by peer."""
    least = LEAST * max(costs[peer] for peer in peers)

    def show(title, key, chosen=SIDES, first=()):
        print_sums(title, {peer: summed(digests, key, chosen, costs[peer])
                           for peer, digests in peers.items()}, least, first)

    def module(_side, module, function, _caller):
        return group(module, function)

    print(f"\n{row}: instructions of one operation")
    show("whose", lambda side, *_: side, first=SIDES)
    for side in "client", "server", "transport":
        show(f"{side}: module itself", module, [side])
    show("all: module itself", module)
    show("all: module, and the kernel for it",
         lambda *digest: digest[-1].partition(":")[0])
    for side in "client", "server":
        show(f"{side}: function, and the kernel for it",
             lambda *digest: digest[-1], [side])
    show("all: function itself", lambda *digest: ":".join(digest[1:3]))
