"""The one way in which a result becomes text."""

import json

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Return a result as JSON text without spaces, with letters of every script as they are."""
