// Validates values against the schemas of the OpenAPI document.
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import type { OpenApiDocument } from '../../api/http/openapi-shared.ts';

/** Creates a validator that knows the components of a document. */
export function schemaValidator(document: OpenApiDocument): Ajv2020 {
  const created = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  (formatsPlugin as unknown as (target: Ajv2020) => void)(created);
  created.addFormat('time-zone', true);
  created.addFormat('idn-email', /^[^\s@]+@[^\s@]+$/);
  created.addSchema({ $id: 'document', components: document.components });
  return created;
}

/** Returns a schema that can be compiled by itself: its references name the document. */
export function withFullReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFullReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === '$ref' && typeof item === 'string' ? item.replace(/^#/, 'document#') : withFullReferences(item),
    ]),
  );
}
