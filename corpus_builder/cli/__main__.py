"""``python -m corpus_builder.cli``."""

import sys

from corpus_builder.cli import main

sys.exit(main())
