"""Processes that tests fork: importing this lets a service run in them."""

import os
from multiprocessing import forkserver


def _forget_the_forkserver():
    """A forked process is not the parent of the server that the test has started."""
    forkserver._forkserver._forkserver_pid = None


os.register_at_fork(after_in_child=_forget_the_forkserver)
