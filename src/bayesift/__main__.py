"""`python -m bayesift`."""

from bayesift.cli import main

if __name__ == "__main__":
    main()
