"""The picture of the README: run with a folder that `symnmf demo` made, needs chromium."""

import subprocess
import sys
import tempfile
from pathlib import Path

page = Path(sys.argv[1]) / "tpdm" / "groups.html"
target = Path(__file__).parent / "images" / "groups.png"
command = [
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
]
with tempfile.TemporaryDirectory() as profile:
    options = [
        f"--user-data-dir={profile}",
        "--hide-scrollbars",
        "--window-size=1020,560",
        f"--screenshot={target}",
    ]
    subprocess.run([*command, *options, page.resolve().as_uri()], check=True, capture_output=True)
