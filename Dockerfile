# syntax=docker/dockerfile:1
# The service as one small image: built in one stage, dependencies in another, neither compiler, tests nor fakes in `production`, which is
# built by default. `development` adds the fakes of the outside systems, for a first look.

FROM node:24-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
COPY packages/document-check/package.json packages/document-check/
COPY packages/measures/package.json packages/measures/
COPY packages/sandbox/package.json packages/sandbox/

FROM manifests AS build
RUN npm ci --no-audit --no-fund
COPY prisma prisma
COPY prisma.config.ts tsconfig.json ./
COPY scripts scripts
COPY locales locales
COPY src src
RUN node scripts/db-generate.mjs && node scripts/build.ts

# Without tools of the build and without optional packages, of which one is a copy of Node.
FROM manifests AS dependencies
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund && npm cache clean --force \
    # Prisma's query compilers for every database, 66 MB: the one in use is a file of the build (scripts/shrink-prisma-client.mjs).
    && rm node_modules/@prisma/client/runtime/*.wasm-base64.*

FROM node:24-slim AS production
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data \
    LOG_ROOT=/data
WORKDIR /app
# Owned by root and not writable for the service; only /data is its own.
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY prisma/migrations prisma/migrations
COPY prisma/sql prisma/sql
COPY package.json ./
RUN mkdir /data && chown node:node /data && chmod 0750 /data \
    && printf '#!/bin/sh\nexec node --enable-source-maps /app/dist/cli.js "$@"\n' > /usr/local/bin/cli && chmod 0755 /usr/local/bin/cli
USER node
VOLUME /data
EXPOSE 8080
# /livez asks nothing of the database: a container is not restarted because the database is away (readiness is /readyz).
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Takes SHUTDOWN_DRAIN_MS + SHUTDOWN_TIMEOUT_MS at most: give `docker stop` more than its 10 s.
STOPSIGNAL SIGTERM
CMD ["node", "--max-semi-space-size=8", "--heap-growing-percent=80", "dist/server.js"]

FROM production AS development
ENV NODE_ENV=development
COPY packages/sandbox packages/sandbox

FROM production
