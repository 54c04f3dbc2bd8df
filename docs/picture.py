"""A picture of a page for the documentation, by chromium.

python docs/picture.py demo/tpdm/groups.html groups.png 1020,560
python docs/picture.py demo/steps.html steps.png 780,440
"""

import subprocess
import sys
import tempfile
from pathlib import Path

page, name, size = sys.argv[1:]
target = Path(__file__).parent / "images" / name
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
        f"--window-size={size}",
        f"--screenshot={target}",
    ]
    subprocess.run(
        [*command, *options, Path(page).resolve().as_uri()], check=True, capture_output=True
    )
