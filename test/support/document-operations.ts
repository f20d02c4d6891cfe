// The operations of the OpenAPI document, for tests that call each of them.

import type { OpenApiDocument } from '../../api/http/openapi-shared.ts';
import { pathsInFull } from '../../platform/openapi-references.ts';

export type OperationAccess =
  | 'publicKey'
  | 'anyKey'
  | 'secretKey'
  | 'session'
  | 'projectSession'
  | 'member'
  | 'memberOrKey'
  | 'operator'
  | 'public';

interface Content {
  [mediaType: string]: { schema: Record<string, unknown>; example?: unknown };
}

export interface DocumentOperation {
  /** The method and the path as declared. */
  name: string;
  method: string;
  path: string;
  access: OperationAccess;
  parameters: { name: string; in: string; required?: boolean; schema: Record<string, unknown>; example?: unknown }[];
  /** The media type of the body, and its schema. */
  body?: { type: string; schema: Record<string, unknown>; example: unknown };
  statuses: number[];
  responses: Record<string, { content?: Content }>;
}

interface Declared {
  'x-access': OperationAccess;
  parameters: DocumentOperation['parameters'];
  requestBody?: { content: Content };
  responses: DocumentOperation['responses'];
}

/** References are replaced by what they refer to. */
export function documentOperations(document: OpenApiDocument): DocumentOperation[] {
  const paths = Object.entries(pathsInFull(document) as Record<string, Record<string, Declared>>);
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, declared]) => {
      const { parameters, requestBody, responses } = declared;
      const [content] = Object.entries(requestBody?.content ?? {});
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        access: declared['x-access'],
        parameters,
        responses,
        ...(content && { body: { type: content[0], schema: content[1].schema, example: exampleOf(content[1]) } }),
        statuses: Object.keys(responses).map(Number),
      };
    }),
  );
}

const exampleOf = ({ example, schema }: Content[string]): unknown =>
  example ?? (schema.examples as unknown[] | undefined)?.[0];

/** The headers with which a caller may call a route. */
export function credentialsFor(
  access: OperationAccess,
  {
    project,
    operatorCookie,
  }: { project: { id: string; publicKey: string; secretKey: string; cookie: string }; operatorCookie: string },
): Record<string, string> {
  switch (access) {
    case 'publicKey':
      return { authorization: `Bearer ${project.publicKey}` };
    case 'anyKey':
    case 'secretKey':
    case 'memberOrKey':
      return { authorization: `Bearer ${project.secretKey}` };
    case 'operator':
      return { cookie: operatorCookie };
    case 'public':
      return {};
    default:
      return { cookie: project.cookie, 'x-project-id': project.id };
  }
}
