"""Measure the available memory, and raise early if something does not fit into it."""

from __future__ import annotations

from pathlib import Path

SHARE = 0.25  # share of the available memory for arrays needed once or twice
SHARE_OF_ALL_ROWS = 0.08  # methods that need all rows make up to a dozen copies
UNITS = ("bytes", "kB", "MB", "GB", "TB")
MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Return the available memory in bytes, or None if it is unknown."""
    try:
        lines = MEMINFO.read_text().splitlines()
    except OSError:
        return None
    sizes = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    if not sizes:
        return None
    limits = [1024 * sizes[0]]
    try:  # a container may have less than its machine
        most = int((CGROUP / "memory.max").read_text())
        limits.append(most - int((CGROUP / "memory.current").read_text()))
    except (OSError, ValueError):
        pass
    return max(0, min(limits))


def shown_size(n_bytes: float) -> str:
    """Format a number of bytes in a suitable unit.

    Examples
    --------
    >>> from trueaxis.data.memory import shown_size
    >>> shown_size(8.04e9), shown_size(12)
    ('8.0 GB', '12 bytes')
    """
    power = 0
    while n_bytes >= 1000 and power < len(UNITS) - 1:
        n_bytes, power = n_bytes / 1000, power + 1
    return f"{n_bytes:.0f} bytes" if power == 0 else f"{n_bytes:.1f} {UNITS[power]}"


class TooLarge(MemoryError):
    """Error for a request that does not fit into memory."""


def refuse_large(n_bytes: int, what: str, remedy: str, share: float = SHARE) -> None:
    """Raise `TooLarge` if `n_bytes` exceeds a share of the available memory."""
    available = available_memory()
    if available is not None and n_bytes > share * available:
        raise TooLarge(
            f"{what} takes {shown_size(n_bytes)}, but only {shown_size(available)} "
            f"of memory is available, of which {share:.0%} may be used for it. "
            f"{remedy}"
        )
