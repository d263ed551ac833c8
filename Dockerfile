# The image of every Airflow service in docker-compose.yaml: the official one, with what the lock files name and nothing
# else in an environment of its own. The official image's own packages differ from the lock; mixing the two would run
# versions that nobody tested.
ARG AIRFLOW_IMAGE=apache/airflow:3.3.2-python3.13@sha256:e9982ad3f49a60418622e1baf80c34b0daf3fa5091a336cb5ee61f0cdd189371

FROM ${AIRFLOW_IMAGE} AS build
USER root
# The official image makes pip install into the user's home, which an environment refuses.
ENV PIP_USER=false PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# uv, as on every other machine: pips differ in whether they take `celery[redis]` for the locked `celery`.
COPY requirements-installer.txt /opt/installer/
RUN python -m venv /opt/installer/venv \
    && /opt/installer/venv/bin/pip install --require-hashes --only-binary :all: -r /opt/installer/requirements-installer.txt \
    && python -m venv /opt/plimsoll/venv
ENV PATH=/opt/plimsoll/venv/bin:/opt/installer/venv/bin:${PATH} VIRTUAL_ENV=/opt/plimsoll/venv UV_NO_CACHE=1
# Two layers: what the team's deployment adds changes apart from the rest. Wheels alone: the image has no compiler.
COPY requirements.txt /opt/plimsoll/app/
RUN uv pip install --require-hashes --only-binary :all: --compile-bytecode -r /opt/plimsoll/app/requirements.txt
COPY requirements-team.txt /opt/plimsoll/app/
RUN uv pip install --require-hashes --only-binary :all: --compile-bytecode -r /opt/plimsoll/app/requirements-team.txt
COPY pyproject.toml README.md LICENSE /opt/plimsoll/app/
COPY include /opt/plimsoll/app/include
COPY plugins /opt/plimsoll/app/plugins
COPY dags /opt/plimsoll/app/dags
# The wheel that everybody else installs, with the definitions and the sources of the load generator in it.
RUN uv pip install --no-deps --no-build-isolation --compile-bytecode /opt/plimsoll/app \
    && python -c "from plimsoll.report.page import runtime; runtime()"
# A build whose parts do not fit must not become an image.
RUN uv pip check \
    && python -c "import plimsoll.bootstrap, plimsoll_airflow, airflow.providers.celery.executors.celery_executor_utils"

FROM ${AIRFLOW_IMAGE}
USER root
# Folders that volumes are mounted at: a new volume takes their owner. All else is root's, and not writable at run time.
RUN install -d -o airflow -g 0 -m 0755 \
        /var/lib/plimsoll /var/lib/plimsoll/logs /var/lib/plimsoll/cache /var/lib/plimsoll/scratch
COPY --from=build /opt/plimsoll /opt/plimsoll
ENV PATH=/opt/plimsoll/venv/bin:${PATH} \
    VIRTUAL_ENV=/opt/plimsoll/venv \
    PIP_USER=false \
    PYTHONUNBUFFERED=1 \
    AIRFLOW__CORE__DAGS_FOLDER=/opt/plimsoll/app/dags \
    PLIMSOLL_CACHE=/var/lib/plimsoll/cache \
    PLIMSOLL_WORK=/tmp/plimsoll-clusters
USER airflow
