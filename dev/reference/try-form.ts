// Writes the form of an operation that calls the API, for the component `TryOperation` of the documentation site.
import { exampleValue, type ReferenceOperation } from './operations.ts';

/** A field of the form. */
export interface TryField {
  place: 'path' | 'query' | 'header' | 'form' | 'file';
  name: string;
  required: boolean;
  value: string;
  options: string[];
}

export interface TryOperation {
  method: string;
  path: string;
  fields: TryField[];
  /** The JSON that the form sends, to be edited. */
  body?: string | undefined;
}

export function tryForm({ method, path, parameters, call }: ReferenceOperation): string {
  const { body } = call;
  const operation: TryOperation = {
    method,
    path,
    fields: [...parameters.filter(({ name }) => !name.includes('*')).map(parameterField), ...formFields(body)],
    body: body?.kind === 'json' ? JSON.stringify(body.value, null, 2) : undefined,
  };
  return `<TryOperation operation="${inAttribute(JSON.stringify(operation))}" />`;
}

function parameterField(parameter: ReferenceOperation['parameters'][number]): TryField {
  const { in: place, name, required, schema } = parameter;
  const value = required && !name.toLowerCase().endsWith('id') ? textOf(exampleValue(parameter)) : '';
  return { place, name, required, value, options: (schema.enum ?? []).map(textOf) };
}

function formFields(body: ReferenceOperation['call']['body']): TryField[] {
  if (!body || body.kind === 'json') return [];
  return [
    ...body.files.map((name): TryField => ({ place: 'file', name, required: true, value: '', options: [] })),
    ...Object.entries(body.value as object).map(
      ([name, value]): TryField => ({ place: 'form', name, required: false, value: textOf(value), options: [] }),
    ),
  ];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const inAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;');
