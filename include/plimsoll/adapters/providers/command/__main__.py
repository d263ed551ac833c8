"""Print the JSON schema of what programs are given and of what they print."""

import json

from plimsoll.adapters.providers.command.contract import schema

print(json.dumps(schema(), indent=2))
