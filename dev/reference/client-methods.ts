// Finds the method of the TypeScript client that calls an operation, in the source of its resources.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../root.ts';

export interface ClientMethod {
  /** Such as `contacts.update`. */
  name: string;
  /** Where the value of each argument comes from. `field` is empty when the argument is the whole query or body. */
  parameters: { from: 'path' | 'query' | 'body'; field: string }[];
  /** It returns items of all pages. */
  isList: boolean;
}

const folder = join(root, 'client/src/resources');

/** A method: its name, its parameters, and the call of an operation in its body. */
const METHOD =
  /^ {2}(\w+): (?:async )?\(([^)]*)\)[^=]*=>\s*\(?(?:await )?(?:client\.(\w+)|(items))\(\s*(?:client,\s*)?'([^']+)',([^;]*?)\)(?:\)\.data)?,$/gms;

const methods = new Map<string, ClientMethod>(
  readdirSync(folder).flatMap((file) => {
    const resource = basename(file, '.ts');
    return [...readFileSync(join(folder, file), 'utf8').matchAll(METHOD)].map((match): [string, ClientMethod] => {
      const [, name = '', parameters = '', verb = 'get', items, path = '', options = ''] = match;
      const found = { name: `${resource}.${name}`, parameters: parametersOf(parameters, options), isList: !!items };
      return [`${verb.toUpperCase()} ${path}`, found];
    });
  }),
);

export const clientMethod = (method: string, path: string): ClientMethod | undefined =>
  methods.get(`${method} ${path}`);

function parametersOf(text: string, options: string): ClientMethod['parameters'] {
  const names = [...text.matchAll(/(\w+)\??: /g)].map(([, name = '']) => name).filter((name) => name !== 'options');
  const pathFields = fieldsIn(/path: \{([^}]*)\}/.exec(options)?.[1]);
  const queryFields = fieldsIn(/query: \{([^}]*)\}/.exec(options)?.[1]);
  const bodyFields = fieldsIn(/body: \{([^}]*)\}/.exec(options)?.[1]);
  return names.map((name) => {
    const ofPath = pathFields.get(name);
    if (ofPath) return { from: 'path', field: ofPath };
    if (name === 'query') return { from: 'query', field: '' };
    const ofQuery = queryFields.get(name);
    if (ofQuery) return { from: 'query', field: ofQuery };
    return { from: 'body', field: bodyFields.get(name) ?? '' };
  });
}

/** Reads `id: deliveryId, stepId` as fields by the names of their arguments. */
function fieldsIn(text = ''): Map<string, string> {
  return new Map(
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
      .map((part) => {
        const [field = '', argument = field] = part.split(/:\s*/);
        return [argument, field];
      }),
  );
}
