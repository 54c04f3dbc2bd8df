"""``python -m symnmf``."""

from symnmf.cli import main

main()
