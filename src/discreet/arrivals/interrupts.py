"""Whatever a person's callable raises counts against that person alone; an interrupt from the keyboard waits until everyone is counted."""

__all__ = ["note", "raise_interrupts"]

_waiting: list[KeyboardInterrupt] = []


def note(error: BaseException) -> None:
    """Remember an interrupt that came while a person's callable ran; forget everything else."""
    if isinstance(error, KeyboardInterrupt):
        _waiting.append(error)


def raise_interrupts() -> None:
    """Pass on an interrupt that was noted."""
    if _waiting:
        _waiting.clear()
        raise KeyboardInterrupt
