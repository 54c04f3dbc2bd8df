"""Take a picture of a page, or of a part of it, with chromium for the documentation.

python docs/picture.py demo/tpdm/report.html report.png 1100x1300
python docs/picture.py demo/tpdm/report.html report-pictures.png 1100x1200 '#matrix'
python docs/picture.py demo/tpdm/report.html report-events.png 1100x1000 '#events' dark
python docs/picture.py demo/tpdm/report.html report-phone.png 390x1400 body dark
python docs/picture.py symnmf-roll/report.html ribbon.png 1300x1000 '#ribbon'
python docs/picture.py symnmf-roll/report.html ribbon-phone.png 390x1400 '#ribbon' dark
python docs/picture.py results/steps-figure.html steps.png 780x440
"""

import base64
import shutil
import sys
import tempfile
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

page, name, size, *more = sys.argv[1:]
part, theme = [*more, *("body", "light")[len(more) :]]
width, _, height = size.partition("x")
options = ChromeOptions()
options.binary_location = shutil.which("chromium")
service = Service(shutil.which("chromedriver"))  # else selenium downloads one
for flag in ("headless=new", "no-sandbox", "disable-gpu", "hide-scrollbars", "no-first-run"):
    options.add_argument(f"--{flag}")
with tempfile.TemporaryDirectory() as profile:
    options.add_argument(f"--user-data-dir={profile}")
    with Chrome(options=options, service=service) as browser:
        screen = {"width": int(width), "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        wish = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wish)
        browser.get(Path(page).resolve().as_uri())
        at = browser.execute_script(
            "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [r.x, r.y + scrollY, r.width, r.height]",
            part,
        )
        clip = dict(zip(("x", "y", "width", "height"), at, strict=True), scale=1)
        clip["height"] = min(clip["height"], float(height or clip["height"]))
        shot = {"captureBeyondViewport": True, "clip": clip}
        image = browser.execute_cdp_cmd("Page.captureScreenshot", shot)["data"]
(Path(__file__).parent / "images" / name).write_bytes(base64.b64decode(image))
