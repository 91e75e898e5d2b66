"""The kinds of events in the log of the service.

A call of `observe` is a batch: COUNTED, a SEEN for each document, a RETRIEVED for each that a profile took. A SEEN
carries the vector of the document if any profile took it. The others carry under "engine" what the filter made of them.
"""

COUNTED = "counted"
SEEN = "seen"
RETRIEVED = "retrieved"
JUDGED = "judged"
TAKEN_BACK = "taken back"
TAUGHT = "taught"
CREATED = "profile created"
IMPORTED = "profile imported"
PAUSED = "profile paused"
RESUMED = "profile resumed"
DELETED = "profile deleted"
PURGED = "texts purged"

# What changes a profile, and so what it is made anew from.
OF_PROFILES = (RETRIEVED, JUDGED, TAKEN_BACK, TAUGHT, PAUSED, RESUMED)
