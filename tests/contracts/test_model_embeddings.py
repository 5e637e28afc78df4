"""The adapter of the embeddings API against the simulated service, and against answers that are none."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contracts.scripted_http import ScriptedServer
from whatsapp_agent.errors import ConfigurationError, ModelRefused, ModelUnavailable
from whatsapp_agent.model.embeddings import MOST_CHARS, OpenAIEmbedder
