# chipledger and what it runs on. docs/scheduling.md says what is done with it, and what was not tried.
FROM python:3.11-slim-bookworm

ENV UV_PYTHON_DOWNLOADS=never \
    UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    PYTHONUNBUFFERED=1

RUN pip install --no-cache-dir uv==0.13.8

WORKDIR /srv/chipledger

# What it depends on changes less often than what it is.
COPY pyproject.toml uv.lock ./
RUN uv sync --locked --no-default-groups --no-install-project --no-cache

COPY README.md LICENSE prefect.yaml ./
COPY extract extract
COPY flows flows
COPY reports reports
COPY transform transform
COPY warehouse warehouse
RUN uv sync --locked --no-default-groups --no-cache \
    && useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin chipledger \
    && install -d -o chipledger -g chipledger -m 0750 /data

ENV PATH=/srv/chipledger/.venv/bin:$PATH \
    CHIPLEDGER_DATA_DIR=/data \
    PREFECT_HOME=/data/prefect \
    PREFECT_SERVER_ANALYTICS_ENABLED=false \
    DO_NOT_TRACK=1

# By number, which a host that checks for root understands.
USER 10001
VOLUME /data
CMD ["chipledger", "run"]
