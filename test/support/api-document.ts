import { existsSync } from 'node:fs';
import { openApiOf } from '../../api/http/openapi.ts';
import { OPENAPI_FILE, readOpenApi } from '../../api/http/openapi-file.ts';
import type { OpenApiDocument } from '../../api/http/openapi-shared.ts';
import { declaredRoutes } from '../../api/routes/index.ts';

let document: OpenApiDocument | undefined;

/** Returns the OpenAPI document of all routes: of compiled tests the written one, otherwise built with the first call. */
export function apiDocument(): OpenApiDocument {
  document ??= existsSync(OPENAPI_FILE) ? readOpenApi()() : openApiOf(declaredRoutes());
  return document;
}
