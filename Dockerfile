# A server of episodes over MCP; compose.yaml says how to run it.
# The image that builds has a compiler, for what has no wheel on arm64.
FROM python:3.12-bookworm AS build
WORKDIR /source
COPY . .
RUN python -m pip wheel --no-cache-dir --wheel-dir /wheel -r requirements/server.txt .

FROM python:3.12-slim-bookworm
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin arena \
    && install -d -o arena -g arena /cache
RUN --mount=type=bind,from=build,source=/wheel,target=/wheel \
    python -m pip install --no-cache-dir --no-index --no-deps /wheel/*.whl
USER 10001
# All that is written: compiled loops, and which corpora are intact.
ENV ARENA_CACHE=/cache NUMBA_CACHE_DIR=/cache/numba
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import os; \
from urllib.request import Request, urlopen; \
sent = {'Authorization': 'Bearer ' + os.environ['ARENA_TOKEN']}; \
urlopen(Request('http://127.0.0.1:8000/health', headers=sent), timeout=4)"]
ENTRYPOINT ["arena", "serve", "mcp", "--http", "--host", "0.0.0.0", "--corpus", "/corpus"]
CMD ["--task", "discovery"]
