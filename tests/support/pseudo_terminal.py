"""A process whose standard error is a pseudo-terminal."""

import os
import re
import subprocess
import tempfile


class Terminal:
    """Process with a pseudo-terminal as standard error, and what was written to it."""

    def __init__(self, command, **options):
        import pty

        self.fd, child = pty.openpty()
        self.out = tempfile.TemporaryFile()
        options = {"stdout": self.out, "env": plain_environment()} | options
        self.process = subprocess.Popen(command, stderr=child, **options)
        os.close(child)
        self.shown = b""

    def read(self):
        try:
            chunk = os.read(self.fd, 4096)
        except OSError:  # the other end is closed
            chunk = b""
        self.shown += chunk
        return chunk

    def until(self, text):
        while text not in self.shown:
            assert self.read(), self.shown

    def end(self):
        while self.read():
            pass
        os.close(self.fd)
        code = self.process.wait(30)
        with self.out:
            self.out.seek(0)
            return code, self.out.read()

    def lines(self):
        """Return the lines left on the screen, where lines may be overwritten."""
        rows, at = [""], 0
        plain = re.sub(r"\x1b\[[0-9;]*m|\x1b\[\?25[hl]", "", self.shown.decode())
        for piece in re.findall(r"\x1b\[\d*[A-K]|\r|\n|[^\x1b\r\n]+", plain):
            if piece == "\n":
                at += 1
                rows += [""] * (at + 1 - len(rows))
            elif piece.endswith("A") and piece[0] == "\x1b":
                at -= int(piece[2:-1] or 1)
            elif piece.startswith("\x1b[2K"):
                rows[at] = ""
            elif piece != "\r":
                rows[at] = piece
        return [row for row in rows if row.strip()]


def plain_environment():
    """Return an environment in which only the stream decides if it is a terminal."""
    hidden = ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return kept | {"TERM": "xterm", "OMP_NUM_THREADS": "1"}
