# A server of episodes over MCP; compose.yaml says how to run it.
FROM python:3.12-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .

FROM python:3.12-slim-bookworm
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin arena
COPY requirements/server.txt /tmp/server.txt
COPY --from=build /wheel /tmp/wheel
RUN python -m pip install --no-cache-dir -r /tmp/server.txt \
    && python -m pip install --no-cache-dir --no-deps /tmp/wheel/*.whl \
    && rm -r /tmp/server.txt /tmp/wheel
USER 10001
# What is written: compiled loops, and which corpora are intact.
ENV ARENA_CACHE=/tmp/arena NUMBA_CACHE_DIR=/tmp/numba
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import os; \
from urllib.request import Request, urlopen; \
sent = {'Authorization': 'Bearer ' + os.environ['ARENA_TOKEN']}; \
urlopen(Request('http://127.0.0.1:8000/health', headers=sent), timeout=4)"]
ENTRYPOINT ["arena", "serve", "mcp", "--http", "--host", "0.0.0.0", "--corpus", "/corpus"]
CMD ["--task", "discovery"]
