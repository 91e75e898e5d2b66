"""The filter as a service: documents stream in, profiles retrieve, people judge in the browser, nothing is lost.

`Service` holds the store, the filter and the writer; `create_app` makes the application of one; `run` serves it.
"""

from bayesift.service.app import create_app
from bayesift.service.runtime import Service
from bayesift.service.server import run
from bayesift.service.settings import ServiceSettings

__all__ = ["Service", "ServiceSettings", "create_app", "run"]
