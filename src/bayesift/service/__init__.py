"""The filter as a service: documents stream in, profiles retrieve, people judge in the browser.

`Service` holds the database, the filter and the writer; `create_app` makes the ASGI application;
`listen` binds its address; `run` serves it.
"""

from bayesift.service.app import create_app, listen, run
from bayesift.service.runtime import Service, ServiceSettings

__all__ = ["Service", "ServiceSettings", "create_app", "listen", "run"]
