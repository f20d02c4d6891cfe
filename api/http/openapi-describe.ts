// Completes the OpenAPI document: a description of every field and parameter, and an example of every named type.
import type { JsonSchema } from './json-schema.ts';
import { exampleOf } from './openapi-examples.ts';
import { fieldTexts } from './openapi-field-texts.ts';
import type { OpenApiDocument } from './openapi-shared.ts';

/** Describes the fields of a schema that have no description. */
function describeFields(schema: unknown): void {
  if (Array.isArray(schema)) for (const one of schema) describeFields(one);
  if (Array.isArray(schema) || typeof schema !== 'object' || schema === null) return;
  const { properties = {}, examples: _examples, example: _example, ...rest } = schema as JsonSchema;
  for (const [name, property] of Object.entries(properties as Record<string, JsonSchema>)) {
    describeFields(property);
    property.description ??= fieldTexts[name] ?? '';
  }
  for (const value of Object.values(rest)) describeFields(value);
}

interface MediaType {
  schema: JsonSchema;
  example?: unknown;
}

interface Operation {
  parameters: { name: string; description?: string; schema: JsonSchema; example?: unknown }[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, { content?: Record<string, MediaType> }>;
}

/** Changes the document in place. */
export function describeDocument(document: OpenApiDocument): OpenApiDocument {
  const { schemas } = document.components as { schemas: Record<string, JsonSchema> };
  for (const schema of Object.values(schemas)) {
    describeFields(schema);
    schema.examples ??= [exampleOf(schema, schemas)];
  }
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods) as Operation[])) {
    for (const parameter of operation.parameters) {
      parameter.description ??= fieldTexts[parameter.name] ?? '';
      parameter.example ??= exampleOf(parameter.schema, schemas, parameter.name);
    }
    const contents = [operation.requestBody, ...Object.values(operation.responses)];
    for (const media of contents.flatMap((one) => Object.values(one?.content ?? {}))) describeFields(media.schema);
  }
  for (const { post } of Object.values(document.webhooks as Record<string, { post: Operation }>))
    for (const media of Object.values(post.requestBody?.content ?? {})) {
      describeFields(media.schema);
      // The webhook's own example names only what is worth showing.
      media.example = completed(exampleOf(media.schema, schemas), media.example);
    }
  return document;
}

/** Adds what `given` leaves out. */
function completed(whole: unknown, given: unknown): unknown {
  if (!isRecord(whole) || !isRecord(given)) return given ?? whole;
  const keys = [...new Set([...Object.keys(whole), ...Object.keys(given)])];
  return Object.fromEntries(keys.map((key) => [key, key in given ? completed(whole[key], given[key]) : whole[key]]));
}

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
