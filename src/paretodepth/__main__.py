"""The command line as ``python -m paretodepth``."""

from paretodepth.cli import main

if __name__ == "__main__":
    main()
