# The server over HTTP: docs/hosts.md says how it is started, and how a token gets into it.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci && npm pack --pack-destination /tmp

FROM node:24-bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY --from=build /tmp/toolcrib-*.tgz /tmp/
RUN npm install --global /tmp/toolcrib-*.tgz && rm /tmp/toolcrib-*.tgz
USER node
WORKDIR /work
EXPOSE 7311
CMD ["toolcrib", "serve", "--http", "--host", "0.0.0.0", "--root", "/work"]
