// Decides on which page of the API reference each named type stands.
import { type DocumentedSchema, nameIn, type ReferenceDocument, type ReferenceOperation } from './operations.ts';

/** Returns the tag of each type: the one whose operations use it most, or that of the first type which contains it. */
export function homesOf(document: ReferenceDocument, operations: ReferenceOperation[]): Map<string, string> {
  const { schemas } = document.components;
  const uses = new Map<string, string[]>();
  const use = (name: string, tag: string) => uses.set(name, [...(uses.get(name) ?? []), tag]);
  for (const { tag, body, responses } of operations)
    for (const schema of [body?.schema, ...responses.filter(isGood).map((response) => response.schema)])
      for (const name of referencesIn(schema)) use(name, tag);
  for (const { post } of Object.values(document.webhooks))
    for (const name of referencesIn(post.requestBody.content)) use(name, 'Webhooks');

  const homes = new Map([...uses].map(([name, tags]) => [name, mostFrequent(tags)]));
  // This loop also visits the types that it adds.
  for (const [name, home] of homes)
    for (const inner of referencesIn(schemas[name])) if (!homes.has(inner)) homes.set(inner, home);
  for (const name of Object.keys(schemas)) if (!homes.has(name)) homes.set(name, 'Operations');
  return homes;
}

/** Returns the types that are the body of one operation and nothing else. */
export function bodyTypes(document: ReferenceDocument, operations: ReferenceOperation[]): Set<string> {
  const references = referencesIn(document);
  const names = operations.flatMap(({ body }) => (body?.schema.$ref ? [nameIn(body.schema.$ref)] : []));
  return new Set(names.filter((name) => references.filter((other) => other === name).length === 1));
}

const isGood = ({ status }: { status: string }): boolean => status.startsWith('2');

function referencesIn(value: DocumentedSchema | object | undefined): string[] {
  const text = JSON.stringify(value ?? {});
  return [...text.matchAll(/"\$ref":"(#\/components\/schemas\/[^"]+)"/g)].map(([, reference = '']) =>
    nameIn(reference),
  );
}

function mostFrequent(tags: string[]): string {
  const counts = new Map<string, number>();
  for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most?.[0] ?? '';
}
