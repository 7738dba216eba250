# syntax=docker/dockerfile:1

# Any image with Node 24 and npm; a mirror or a hardened one fits as well.
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
# Before the sources, so that a change of them does not install again. The secret is an .npmrc of
# whoever builds behind a mirror; without one, npm's defaults hold.
COPY package.json package-lock.json ./
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.base.json ./
COPY src src
RUN npm run build && rm -r dist/.types && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
ARG VERSION=dev
ARG REVISION=
LABEL org.opencontainers.image.title="synclag" \
      org.opencontainers.image.description="Watches the sync health of blockchain indexers and compares their variants per chain" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY deploy/health-check.mjs deploy/pager.mjs ./
COPY assets assets
# For `synclag export`.
COPY dashboards dashboards
COPY deploy/fleet deploy/fleet
COPY deploy/alertmanager.yml deploy/chains.minimal.yaml deploy/prometheus.yml deploy/synclag.service deploy/
COPY docs/statuses.md docs/statuses.md
COPY docs/runbooks docs/runbooks
# What the demo plays. `run` without a file of the operator explains itself and exits with code 2.
COPY chains.yaml ./

# The only place that it writes to: everything else may be read-only.
RUN mkdir -p /var/lib/synclag && chown 65532:65532 /var/lib/synclag
VOLUME /var/lib/synclag
# Where every command finds chains.yaml, once its folder is mounted here.
WORKDIR /etc/synclag
# By number, so that an orchestrator can see that it is not root.
USER 65532:65532

EXPOSE 9855
# A server that asks for a password counts as alive: deploy/README.md.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "/app/health-check.mjs", "9855"]
# The flags of main.ts's own first line.
ENTRYPOINT ["node", "--max-semi-space-size=16", "--heap-growing-percent=200", "/app/dist/main.js"]
CMD ["run", "--config", "/etc/synclag/chains.yaml", "--watch-config", "--state", "/var/lib/synclag/synclag.state.json", "--listen", "0.0.0.0:9855"]
