"""A browser without a screen, driven over the pipe of its own protocol: no library is needed."""

import base64
import importlib.util
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_SPEC = importlib.util.find_spec("axe_playwright_python")
AXE = next(
    (
        place / "axe.min.js"
        for place in (
            *map(Path, (_SPEC.submodule_search_locations or []) if _SPEC else []),
            Path(__file__).parents[1] / "node_modules" / "axe-core",
        )
        if (place / "axe.min.js").exists()
    ),
    None,
)
"""axe-core, which looks for what keeps people out: of `pip install .[browser]`, or of npm."""
needs_axe = pytest.mark.skipif(AXE is None, reason="axe-core is not here")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")

KEYS = {"Enter": 13, "Backspace": 8, "Escape": 27, "Tab": 9, "End": 35, "Home": 36, " ": 32} | {
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
}  # fmt: skip

FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""What waits until the page is drawn: after a scroll, Chromium finds what is under the mouse."""


class Browser:
    """Chromium with one page, which remembers what was asked of any network, and what failed."""

    def __init__(self) -> None:
        assert CHROMIUM is not None
        self._folder = TemporaryDirectory(ignore_cleanup_errors=True)
        self.downloads = Path(self._folder.name) / "downloads"
        self.downloads.mkdir()
        ours, theirs = os.pipe(), os.pipe()

        def give() -> None:  # it reads from 3 and writes to 4
            os.dup2(ours[0], 103), os.dup2(theirs[1], 104)
            os.dup2(103, 3), os.dup2(104, 4)

        self._process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update",
             "--remote-debugging-pipe", f"--user-data-dir={self._folder.name}/profile",
             "about:blank"],
            preexec_fn=give, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        os.close(ours[0]), os.close(theirs[1])
        self._out, self._in = os.fdopen(ours[1], "wb"), os.fdopen(theirs[0], "rb")
        self._count, self._session = 0, ""
        self.asked: list[str] = []
        self.failed: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    def close(self) -> None:
        """End it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._out.close(), self._in.close()
        self._folder.cleanup()

    def send(self, method: str, /, **parameters: Any) -> Any:
        """Ask for something, and return the answer."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _next(self) -> Any:
        text = bytearray()
        while (byte := self._in.read(1)) != b"\0":
            assert byte, "the browser ended"
            text += byte
        message = json.loads(text)
        self._hear(message.get("method"), message.get("params", {}))
        return message

    def _hear(self, method: str | None, said: Any) -> None:
        if method == "Network.requestWillBeSent":
            self.asked.append(said["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            self.failed.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.failed.append(said["entry"]["text"])

    def open(self, path: Path, address: str = "") -> None:
        """Open a file, or load it again."""
        self.send("Page.navigate", url="about:blank")
        self.asked.clear(), self.failed.clear()
        self.send("Page.navigate", url=f"{path.as_uri()}{address}")
        self.until("document.readyState === 'complete'", seconds=40)

    def run(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        made = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True,
            userGesture=True,
        )  # fmt: skip
        assert "exceptionDetails" not in made, made["exceptionDetails"]
        return made["result"].get("value")

    def until(self, expression: str, seconds: int = 9) -> None:
        """Wait for something to hold."""
        self.run(
            f"new Promise((done, fail) => {{ const end = Date.now() + {seconds}000; "
            f"const ask = () => ({expression}) ? done() : "
            "Date.now() > end ? fail(new Error('never')) : setTimeout(ask, 20); ask(); })"
        )

    def text(self, selector: str) -> str:
        """Return the text of the first such element."""
        return str(self.run(f"document.querySelector({json.dumps(selector)}).textContent"))

    def middle(self, selector: str) -> tuple[float, float]:
        """Return where the first such element is, in sight."""
        x, y = self.run(
            f"(() => {{ const it = document.querySelector({json.dumps(selector)}); "
            "it.scrollIntoView({block: 'center', inline: 'center'}); "
            f"return {FRAMES}.then(() => {{ "
            "const r = it.getBoundingClientRect(); "
            "return [r.x + r.width / 2, r.y + r.height / 2]; }); })()"
        )
        return x, y

    def point(self, selector: str) -> None:
        """Move the mouse to an element."""
        x, y = self.middle(selector)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.run(FRAMES)

    def click(self, selector: str) -> None:
        """Click on an element."""
        x, y = self.middle(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screen(self, width: int, height: int = 900, *, touch: bool = False) -> None:
        """Have a screen of this size, that of a phone if it is touched."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=touch,
        )  # fmt: skip
        self.send("Emulation.setTouchEmulationEnabled", enabled=touch)

    def reset(self) -> None:
        """Go back to the screen and the media of the start."""
        self.send("Emulation.clearDeviceMetricsOverride")
        self.send("Emulation.setTouchEmulationEnabled", enabled=False)
        self.send("Emulation.setEmulatedMedia", media="", features=[])

    def tap(self, selector: str) -> None:
        """Touch an element with a finger."""
        x, y = self.middle(selector)
        self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, *keys: str, modifiers: int = 0) -> None:
        """Press keys, one after another; text is typed."""
        for key in keys:
            code = KEYS.get(key)
            given: dict[str, Any] = {"key": key, "modifiers": modifiers}
            if code is not None:
                given |= {"windowsVirtualKeyCode": code, "code": key}
            if key == "Enter":
                given["text"] = "\r"
            elif code is None and not modifiers:
                given["text"] = key
            self.send("Input.dispatchKeyEvent", type="keyDown", **given)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text: str) -> None:
        """Put text where the focus is, in place of what is selected."""
        self.send("Input.insertText", text=text)

    def violations(self) -> list[str]:
        """Return what axe-core finds on the page as it is."""
        assert AXE is not None
        self.run(AXE.read_text("utf-8"))
        found = self.run(
            "axe.run().then((all) => [all.passes.length, ...all.violations.map("
            "(each) => `${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3)}`)])"
        )
        assert found[0] > 5
        return [str(each) for each in found[1:]]

    def look(self, place: Path, width: int, *, dark: bool = False, height: int = 900) -> None:
        """Take a picture of the page in a window of this width."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        look = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[look])
        data = self.send("Page.captureScreenshot", format="png")["data"]
        place.write_bytes(base64.b64decode(data))
