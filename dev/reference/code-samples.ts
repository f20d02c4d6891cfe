// Writes an example call of an operation in curl, TypeScript and Python. Address and keys are variables of the environment.
import { type ClientMethod, clientMethod } from './client-methods.ts';

/** What a call needs, with example values. */
export interface ExampleCall {
  method: string;
  /** With parameters in braces. */
  path: string;
  pathValues: Record<string, unknown>;
  queryValues: Record<string, unknown>;
  auth: 'publicKey' | 'secretKey' | 'session' | 'none';
  /** The session works on a project. */
  ofProject: boolean;
  body?: { kind: 'json' | 'multipart' | 'form'; value: unknown; files: string[] } | undefined;
  /** The TypeScript client has the operation. */
  inClient: boolean;
}

export interface CodeSample {
  language: 'sh' | 'ts' | 'python';
  label: string;
  code: string;
}

export const samplesOf = (call: ExampleCall): CodeSample[] => [
  { language: 'sh', label: 'curl', code: curl(call) },
  { language: 'ts', label: 'TypeScript', code: call.inClient ? client(call) : fetched(call) },
  { language: 'python', label: 'Python', code: python(call) },
];

const KEY_NAMES = { publicKey: 'EVERPOST_PUBLIC_KEY', secretKey: 'EVERPOST_SECRET_KEY' } as const;

/** Path and query. */
function addressOf({ path, pathValues, queryValues }: ExampleCall): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(pathValues[name])));
  const search = new URLSearchParams(
    Object.entries(queryValues).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return filled + (search.size > 0 ? `?${search}` : '');
}

const fieldsOf = (value: unknown): [string, string][] =>
  Object.entries((value ?? {}) as object).map(([name, field]) => [
    name,
    typeof field === 'string' ? field : JSON.stringify(field),
  ]);

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(call: ExampleCall): string {
  const { method, auth, ofProject, body } = call;
  const usual = body ? 'POST' : 'GET';
  const start = `curl -sS --fail-with-body ${method === usual ? '' : `-X ${method} `}"$EVERPOST_URL${addressOf(call)}"`;
  const lines = [start];
  if (auth === 'publicKey' || auth === 'secretKey') lines.push(`-H "Authorization: Bearer $${KEY_NAMES[auth]}"`);
  if (auth === 'session') lines.push('-H "Cookie: everpost_session=$SESSION"');
  if (auth === 'session' && ofProject) lines.push('-H "X-Project-Id: $PROJECT_ID"');
  if (body?.kind === 'json')
    lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body.value, null, 2))}`);
  if (body?.kind === 'form')
    for (const [name, value] of fieldsOf(body.value)) lines.push(`--data-urlencode ${quoted(`${name}=${value}`)}`);
  if (body?.kind === 'multipart') {
    for (const name of body.files) lines.push(`-F ${quoted(`${name}=@${fileNameOf(call)}`)}`);
    for (const [name, value] of fieldsOf(body.value)) lines.push(`-F ${quoted(`${name}=${value}`)}`);
  }
  return lines.join(' \\\n  ');
}

const fileNameOf = ({ path }: ExampleCall): string => (path.includes('import') ? 'contacts.csv' : 'logo.png');

/** With the client package: by the method of a resource where there is one, otherwise by the path. */
function client(call: ExampleCall): string {
  const { method, path, pathValues, queryValues, auth, body } = call;
  const key = auth === 'publicKey' ? 'publicKey' : 'secretKey';
  const isForm = body !== undefined && body.kind !== 'json';
  const options = {
    ...(Object.keys(pathValues).length > 0 && { path: pathValues }),
    ...(Object.keys(queryValues).length > 0 && { query: queryValues }),
    ...(body && { body: isForm ? new Verbatim('form') : body.value }),
  };
  const found = isForm ? undefined : clientMethod(method, path);
  const byPath = `everpost.${method.toLowerCase()}(${[typescript.text(path), ...optional(options)].join(', ')})`;
  const expression = found ? `everpost.${found.name}(${argumentsOf(found, call).join(', ')})` : byPath;
  return [
    `import { createClient } from '@everpost/client';`,
    ...(isForm ? [`import { openAsBlob } from 'node:fs';`] : []),
    '',
    'const everpost = createClient({',
    `  baseUrl: process.env.EVERPOST_URL ?? 'http://localhost:3000',`,
    `  ${key}: process.env.${KEY_NAMES[key]},`,
    '});',
    ...formLines(call),
    ...(found?.isList
      ? [`for await (const item of ${expression}) console.log(item);`]
      : [`const answer = await ${expression};`, 'console.log(answer);']),
  ].join('\n');
}

const optional = (options: object): string[] => (Object.keys(options).length > 0 ? [literal(options, typescript)] : []);

function argumentsOf({ parameters }: ClientMethod, { pathValues, queryValues, body }: ExampleCall): string[] {
  const values = parameters.map(({ from, field }) => {
    if (from === 'path') return pathValues[field];
    if (from === 'query' && field) return queryValues[field];
    if (from === 'query') return Object.keys(queryValues).length > 0 ? queryValues : undefined;
    return field ? (body?.value as Record<string, unknown>)[field] : body?.value;
  });
  const last = values.findLastIndex((value) => value !== undefined);
  return values.slice(0, last + 1).map((value) => (value === undefined ? 'undefined' : literal(value, typescript)));
}

/** For operations of sessions, which the client package leaves out. */
function fetched(call: ExampleCall): string {
  const { method, auth, ofProject, body } = call;
  const headers: [string, string][] = [];
  if (auth === 'publicKey' || auth === 'secretKey')
    headers.push(['Authorization', `\`Bearer \${process.env.${KEY_NAMES[auth]}}\``]);
  if (auth === 'session') headers.push(['Cookie', `\`everpost_session=\${process.env.SESSION}\``]);
  if (auth === 'session' && ofProject) headers.push(["'X-Project-Id'", "process.env.PROJECT_ID ?? ''"]);
  if (body?.kind === 'json') headers.push(["'Content-Type'", "'application/json'"]);
  const content =
    body?.kind === 'json'
      ? `JSON.stringify(${literal(body.value, typescript, 1)})`
      : body?.kind === 'form'
        ? `new URLSearchParams(${literal(Object.fromEntries(fieldsOf(body.value)), typescript, 1)})`
        : 'form';
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length > 0 ? [`  headers: { ${headers.map((pair) => pair.join(': ')).join(', ')} },`] : []),
    ...(body ? [`  body: ${content},`] : []),
  ];
  const address = `\`\${process.env.EVERPOST_URL}${addressOf(call)}\``;
  return [
    ...(body?.kind === 'multipart' ? [`import { openAsBlob } from 'node:fs';`, '', ...formLines(call)] : []),
    options.length > 0
      ? `const answer = await fetch(${address}, {\n${options.join('\n')}\n});`
      : `const answer = await fetch(${address});`,
    'console.log(answer.status, await answer.text());',
  ].join('\n');
}

function formLines(call: ExampleCall): string[] {
  const { body } = call;
  if (body?.kind !== 'multipart') return [];
  const file = typescript.text(fileNameOf(call));
  return [
    'const form = new FormData();',
    ...body.files.map((name) => `form.set('${name}', await openAsBlob(${file}), ${file});`),
    ...fieldsOf(body.value).map(([name, value]) => `form.set('${name}', ${typescript.text(value)});`),
  ];
}

function python(call: ExampleCall): string {
  const { method, auth, ofProject, body } = call;
  const key = auth === 'publicKey' || auth === 'secretKey' ? KEY_NAMES[auth] : undefined;
  const headers = [
    ...(key ? [`"Authorization": f"Bearer {os.environ['${key}']}"`] : []),
    ...(auth === 'session' && ofProject ? [`"X-Project-Id": os.environ["PROJECT_ID"]`] : []),
  ];
  const options = [
    `os.environ["EVERPOST_URL"] + ${pythonic.text(addressOf(call))}`,
    ...(headers.length > 0 ? [`headers={${headers.join(', ')}}`] : []),
    ...(auth === 'session' ? [`cookies={"everpost_session": os.environ["SESSION"]}`] : []),
    ...(body?.kind === 'json' ? [`json=${literal(body.value, pythonic, 1)}`] : []),
    ...(body && body.kind !== 'json' && fieldsOf(body.value).length > 0
      ? [`data=${literal(Object.fromEntries(fieldsOf(body.value)), pythonic, 1)}`]
      : []),
    ...(body?.kind === 'multipart'
      ? [`files={${body.files.map((name) => `"${name}": open("${fileNameOf(call)}", "rb")`).join(', ')}}`]
      : []),
    'timeout=30',
  ];
  return [
    'import os',
    '',
    'import requests',
    '',
    `answer = requests.${method.toLowerCase()}(`,
    ...options.map((option) => `    ${option},`),
    ')',
    'answer.raise_for_status()',
    'print(answer.text)',
  ].join('\n');
}

/** Code that is written as it is. */
class Verbatim {
  readonly code: string;

  constructor(code: string) {
    this.code = code;
  }
}

interface Notation {
  indent: string;
  text(value: string): string;
  key(name: string): string;
  words: { true: string; false: string; null: string };
}

const typescript: Notation = {
  indent: '  ',
  text: (value) => `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`,
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : typescript.text(name)),
  words: { true: 'true', false: 'false', null: 'null' },
};

const pythonic: Notation = {
  indent: '    ',
  text: (value) => JSON.stringify(value),
  key: (name) => JSON.stringify(name),
  words: { true: 'True', false: 'False', null: 'None' },
};

const LINE_LENGTH = 72;

/** Writes a value of JSON in the notation of a language, on one line where it fits. */
function literal(value: unknown, notation: Notation, depth = 0): string {
  if (value instanceof Verbatim) return value.code;
  if (typeof value === 'string') return notation.text(value);
  if (value === null || typeof value === 'boolean') return notation.words[String(value) as keyof typeof notation.words];
  if (typeof value !== 'object') return String(value);
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, notation, depth + 1))
    : Object.entries(value).map(([name, item]) => `${notation.key(name)}: ${literal(item, notation, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  const space = Array.isArray(value) || notation === pythonic ? '' : ' ';
  const line = `${open}${space}${parts.join(', ')}${space}${close}`;
  if (line.length <= LINE_LENGTH && !line.includes('\n')) return line;
  const inner = notation.indent.repeat(depth + 1);
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${notation.indent.repeat(depth)}${close}`;
}
