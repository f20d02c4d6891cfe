// Code that strangers copy and run: every value is quoted for its language.

export interface ExampleRequest {
  method: 'GET' | 'POST';
  path: string;
  key: string;
  body?: object;
}

/** A word of a POSIX shell. */
const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(origin: string, { method, path, key, body }: ExampleRequest): string {
  const lines = [`curl ${shell(origin + path)}`, `-H ${shell(`Authorization: Bearer ${key}`)}`];
  if (method === 'POST') lines.push(`-H 'Content-Type: application/json'`, `-d ${shell(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}

function typescript(origin: string, { method, path, key, body }: ExampleRequest): string {
  const json = (value: unknown) => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
  const headers = { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) };
  const options = [
    ...(method === 'POST' ? [`  method: 'POST',`] : []),
    `  headers: ${json(headers)},`,
    ...(body ? [`  body: JSON.stringify(${json(body)}),`] : []),
  ];
  return [
    `const response = await fetch(${JSON.stringify(origin + path)}, {`,
    ...options,
    '});',
    'if (!response.ok) throw new Error(await response.text());',
    'console.log(await response.json());',
  ].join('\n');
}

export const exampleCode = { curl, typescript };
