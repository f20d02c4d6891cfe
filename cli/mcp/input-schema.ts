// Reads the arguments of tools from the OpenAPI document of the API that they call.
import type { RouteTool } from './tools.ts';

interface ObjectSchema {
  type?: string;
  properties?: Record<string, object>;
  required?: string[];
  anyOf?: ObjectSchema[];
  oneOf?: ObjectSchema[];
}

interface Operation {
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: object }[];
  requestBody?: { content: Record<string, { schema: ObjectSchema }> };
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
}

type Place = 'path' | 'query' | 'body';

/** The arguments of a tool, and where each goes in the request. */
export interface ToolArguments {
  schema: { type: 'object'; properties: Record<string, object>; required: string[]; additionalProperties: false };
  places: Map<string, Place>;
  hasBody: boolean;
}

/** Returns undefined when the API has no such route: it may be older than this program. */
export function argumentsOf(document: OpenApi, tool: RouteTool): ToolArguments | undefined {
  const operation = document.paths[tool.path]?.[tool.method];
  if (!operation) return undefined;
  const places = new Map<string, Place>();
  const properties: Record<string, object> = {};
  const required: string[] = [];
  const add = (name: string, place: Place, schema: object, isRequired: boolean) => {
    if (places.has(name) || tool.fixed?.[name] !== undefined || tool.hidden?.includes(name)) return;
    places.set(name, place);
    properties[name] = tool.narrowed?.[name] ?? schema;
    if (isRequired) required.push(name);
  };
  for (const { name, in: place, required: isRequired, description, schema } of operation.parameters ?? [])
    if ((place === 'path' || place === 'query') && name !== 'projectId')
      add(name, place, { ...(description && { description }), ...schema }, isRequired ?? false);
  const body = operation.requestBody?.content['application/json']?.schema;
  const { properties: fields = {}, required: needed = [] } = merged(body ?? {});
  for (const [name, schema] of Object.entries(fields))
    add(name, 'body', schema, !tool.partial && needed.includes(name));
  return {
    schema: { type: 'object', properties, required, additionalProperties: false },
    places,
    hasBody: body !== undefined,
  };
}

/** Merges alternatives: all their fields, of which only those are required that each of them requires. */
function merged(schema: ObjectSchema): ObjectSchema {
  const alternatives = (schema.anyOf ?? schema.oneOf ?? []).map(merged);
  if (alternatives.length === 0) return schema;
  const shared = (alternatives[0]?.required ?? []).filter((name) =>
    alternatives.every(({ required }) => required?.includes(name)),
  );
  return {
    properties: Object.assign({}, schema.properties, ...alternatives.map(({ properties }) => properties)),
    required: [...(schema.required ?? []), ...shared],
  };
}

export interface RequestParts {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  body?: Record<string, unknown>;
}

/** Sorts the arguments of a call into path, query and body. Throws on an unknown or a missing one. */
export function requestParts(tool: RouteTool, { schema, places, hasBody }: ToolArguments, given: object): RequestParts {
  const parts = { path: { ...tool.fixed } as Record<string, unknown>, query: {}, body: {} };
  for (const [name, value] of Object.entries(given)) {
    const place = places.get(name);
    if (!place) throw new Error(`Unknown argument "${name}". Expected: ${[...places.keys()].join(', ')}.`);
    if (name in (tool.narrowed ?? {}) && typeof value !== 'string')
      throw new Error(`The argument "${name}" must be a single string.`);
    Object.assign(parts[place], { [name]: value });
  }
  const missing = schema.required.filter((name) => !(name in given));
  if (missing.length > 0) throw new Error(`Missing: ${missing.join(', ')}.`);
  const { path, query, body } = parts;
  return hasBody ? { path, query, body } : { path, query };
}
