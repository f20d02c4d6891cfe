// Writes the OpenAPI document into the compiled program. `dev/compile.ts` runs it there.
import { writeFileSync } from 'node:fs';
import { openApiOf } from './http/openapi.ts';
import { OPENAPI_FILE } from './http/openapi-file.ts';
import { declaredRoutes } from './routes/index.ts';

writeFileSync(OPENAPI_FILE, JSON.stringify(openApiOf(declaredRoutes())));
