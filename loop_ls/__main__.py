"""`python -m loop_ls` is the command `loop-ls`."""

from loop_ls.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
