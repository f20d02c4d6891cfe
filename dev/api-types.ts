// `npm run api-types`: writes the types of the API for the client package and for the web application, from our OpenAPI
// document. They are not committed: the build, the type check and the tests write them first.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openApiOf } from '../api/http/openapi.ts';
import { declaredRoutes } from '../api/routes/index.ts';
import { root } from './root.ts';
import { type ApiDocument, typesOf } from './typescript-types.ts';

/** The client package has no sessions. */
const KEYS = ['publicKey', 'anyKey', 'secretKey', 'memberOrKey'];

export function writeApiTypes(): void {
  const document = openApiOf(declaredRoutes()) as unknown as ApiDocument;
  writeIfChanged(
    'client/src/api-types.ts',
    typesOf(document, (operation) => KEYS.includes(operation['x-access'])),
  );
  writeIfChanged(
    'web/app/src/api/api-types.ts',
    typesOf(document, () => true),
  );
}

/** An unchanged file keeps its time, so that nothing is built again. */
function writeIfChanged(name: string, content: string): void {
  const file = join(root, name);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== content) writeFileSync(file, content);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeApiTypes();
