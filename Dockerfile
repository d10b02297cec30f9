# syntax=docker/dockerfile:1
# The service as one small image: its code, Node and the libraries of Node; no shell, no tools, no packages. Built in one stage, the files of the
# system in another. `production` has no fakes and is built by default; `development` adds the fakes of the outside systems, for a first look.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
COPY packages/document-check/package.json packages/document-check/
COPY packages/measures/package.json packages/measures/
COPY packages/sandbox packages/sandbox
RUN npm ci --no-audit --no-fund
COPY prisma prisma
COPY prisma.config.ts tsconfig.json ./
COPY scripts scripts
COPY locales locales
COPY src src
# The command is for npx. Source maps are not in the package; the build of the same release has them.
RUN node scripts/db-generate.mjs && node scripts/build.ts && node scripts/pack-service.ts --unpacked /package \
    && mv /package/dist/sandbox /sandbox && rm /package/command.mjs

FROM node:24-slim AS system
RUN apt-get update && apt-get install -y --no-install-recommends binutils
# Without its symbols Node is 15 MiB smaller. Its libraries are those that `ldd` names.
RUN mkdir -p /system/usr/local/bin /system/etc && strip -o /system/usr/local/bin/node /usr/local/bin/node \
    && ldd /usr/local/bin/node | grep -o '/[^ )]*' | xargs -I{} cp --parents -L {} /system \
    && printf '#!/usr/local/bin/node\nimport("/app/dist/cli.js");\n' > /system/usr/local/bin/cli && chmod 0755 /system/usr/local/bin/cli \
    && printf 'root:x:0:0::/:\nnode:x:1000:1000::/data:\n' > /system/etc/passwd && printf 'root:x:0:\nnode:x:1000:\n' > /system/etc/group \
    && printf 'hosts: files dns\n' > /system/etc/nsswitch.conf \
    && mkdir -m 1777 /system/tmp && mkdir /data

FROM scratch AS production
ENV PATH=/usr/local/bin \
    NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data \
    LOG_ROOT=/data \
    SERVICE_COMMAND=cli
WORKDIR /app
# Owned by root and not writable for the service; only /data is its own.
COPY --from=system /system /
COPY --from=system --chown=1000:1000 /data /data
COPY --from=build /package ./
# `node`. A number, because Kubernetes does not look into /etc/passwd (runAsNonRoot).
USER 1000:1000
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
COPY --from=build /sandbox dist/sandbox

FROM production
