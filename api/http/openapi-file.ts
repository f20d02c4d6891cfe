import { readFileSync } from 'node:fs';
import type { OpenApiDocument } from './openapi-shared.ts';
import type { RouteGroup } from './route.ts';

/** In the compiled program, beside the folders. */
export const OPENAPI_FILE = new URL('../../openapi.json', import.meta.url);

/** Reads the document of all routes, which the build writes: building it takes longer than the rest of an API's start. */
export function readOpenApi(): () => OpenApiDocument {
  const text = readFile();
  let parsed: OpenApiDocument | undefined;
  return () => {
    parsed ??= JSON.parse(text) as OpenApiDocument;
    return parsed;
  };
}

function readFile(): string {
  try {
    return readFileSync(OPENAPI_FILE, 'utf8');
  } catch (cause) {
    const command = 'run "npm run build", then start the API with "npm run api"';
    throw new Error(`The OpenAPI document ${OPENAPI_FILE.pathname} cannot be read: ${command}.`, { cause });
  }
}

/** Leaves out operations that this installation does not serve, such as GET /metrics in production. */
export function servedOpenApi(document: OpenApiDocument, groups: RouteGroup[]): OpenApiDocument {
  const served = new Set(groups.flatMap(({ routes }) => routes).map(({ method, path }) => `${method} ${path}`));
  const paths = Object.entries(document.paths).flatMap(([path, operations]) => {
    const routePath = path.replace(/\{(\w+)\}/g, ':$1');
    const kept = Object.entries(operations).filter(([method]) => served.has(`${method.toUpperCase()} ${routePath}`));
    return kept.length > 0 ? [[path, Object.fromEntries(kept)]] : [];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}
