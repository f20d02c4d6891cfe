// Requests that schemathesis (https://schemathesis.io) makes from our OpenAPI document: valid ones, broken ones and edge
// cases. It needs `pip install schemathesis`, or SCHEMATHESIS_PATH:
//   SCHEMATHESIS_PATH=venv/bin/schemathesis npm test -- test/api/schemathesis.slow.ts
// SCHEMATHESIS_EXAMPLES sets the generated requests per operation, SCHEMATHESIS_SEED makes others, SCHEMATHESIS_REPORTS is a
// folder that keeps all requests with their answers (docs/decisions/api-document.md).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { person } from '../support/accounts.ts';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { type DocumentOperation, documentOperations } from '../support/document-operations.ts';
import { createOneOfEachResource, type ProjectResources, pathWith } from '../support/one-of-each.ts';

const PROGRAM = process.env.SCHEMATHESIS_PATH ?? 'schemathesis';
const EXAMPLES = process.env.SCHEMATHESIS_EXAMPLES ?? '30';
const SEED = process.env.SCHEMATHESIS_SEED ?? '20261116';
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
];

/**
 * They would end the session or the project of all later requests: schemathesis takes ids from answers that it has seen.
 * They get ids of nothing instead.
 */
const HARMFUL = [
  'DELETE /users/@me/sessions/{id}',
  'DELETE /users/@me/projects/{id}',
  'DELETE /projects/{id}/members/{userId}',
  'POST /users/@me/projects/{id}/reset',
];
const ID_OF_NOTHING = '01900000-0000-7000-8000-000000000000';

/** No schema can describe a signed cursor, and a list refuses another one before anything else. */
const HOOKS = `
import schemathesis

@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta and case.meta.generation.mode.is_positive and case.query:
        case.query.pop("cursor", None)
`;

/** They never end, or end what the caller authenticates with. */
const LEFT_OUT = ['GET /live', 'GET /webhook-endpoints/listen', 'GET /auth/logout', 'POST /auth/logout'];

describe('requests of schemathesis', function () {
  this.timeout(3_600_000);
  let api: TestApi;
  let project: ApiProject;
  let own: ProjectResources;
  let operatorCookie: string;
  let operations: DocumentOperation[];
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'everpost-schemathesis-'));
    writeFileSync(join(folder, 'hooks.py'), HOOKS);
    api = await startTestApi({
      env: {
        RATE_LIMIT_PER_MINUTE: '0',
        SIGNUPS_PER_IP_PER_HOUR: '0',
        DNS_SERVERS: '127.0.0.1:1',
        LOG_LEVEL: 'error',
        STRIPE_SECRET_KEY: 'sk_test_x',
        STRIPE_API_BASE: 'http://127.0.0.1:1',
      },
    });
    project = await api.project();
    own = await createOneOfEachResource(api, project);
    const operator = await person(api);
    await api.db('users').where({ id: operator.id }).update({ operator: true });
    operatorCookie = operator.cookie;
    operations = documentOperations((await api.get('/openapi.json')).body);
  });
  after(async () => {
    await api.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const callers: [name: string, accesses: DocumentOperation['access'][], headers: () => Record<string, string>][] = [
    ['a secret key', ['secretKey', 'memberOrKey'], () => ({ Authorization: `Bearer ${project.secretKey}` })],
    ['a public key', ['publicKey'], () => ({ Authorization: `Bearer ${project.publicKey}` })],
    [
      'a session',
      ['session', 'projectSession', 'member'],
      () => ({ Cookie: project.cookie, 'X-Project-Id': project.id }),
    ],
    ['an operator', ['operator'], () => ({ Cookie: operatorCookie })],
    ['a caller without credentials', ['public'], () => ({})],
  ];

  for (const [name, accesses, headers] of callers)
    it(`of ${name} get no 5xx and only answers as declared`, async () => {
      const chosen = operations.filter((one) => accesses.includes(one.access) && !LEFT_OUT.includes(one.name));
      expect(chosen.length).to.be.greaterThan(0);
      // Deletions come last: schemathesis takes ids from answers, and would leave nothing for the other operations.
      const deletions = chosen.filter(({ method }) => method === 'DELETE');
      const others = chosen.filter((one) => !deletions.includes(one));
      await callAll(others, headers(), `${accesses[0]}`);
      if (deletions.length > 0) await callAll(deletions, headers(), `${accesses[0]}-deletions`);
    });

  async function callAll(chosen: DocumentOperation[], headers: Record<string, string>, name: string): Promise<void> {
    const config = join(folder, `${name}.toml`);
    const withIds = chosen.filter(({ path, access }) => path.includes('{') && access !== 'public');
    writeFileSync(config, withIds.map(knownIds).join('\n'));
    const report = join(process.env.SCHEMATHESIS_REPORTS ?? folder, `${name}.ndjson`);
    const { output, code } = await run([
      '--config-file',
      config,
      'run',
      `${api.url}/openapi.json`,
      '--checks',
      CHECKS.join(),
      '--max-examples',
      EXAMPLES,
      '--seed',
      SEED,
      '--generation-database',
      'none',
      '--continue-on-failure',
      '--phases',
      'examples,coverage,fuzzing',
      '--request-timeout',
      '30',
      '--no-color',
      '--warnings',
      'off',
      '--suppress-health-check',
      'all',
      '--max-redirects',
      '0',
      '--report-ndjson-path',
      report,
      ...chosen.flatMap((one) => ['--include-name', one.name]),
      ...Object.entries(headers).flatMap(([key, value]) => ['--header', `${key}: ${value}`]),
    ]);
    if (code !== 0) throw new Error(output);
    const valid = validRequests(report);
    const count = (...statuses: number[]) => valid.filter(({ status }) => statuses.includes(status)).length;
    const counts = [
      `${valid.filter(({ status }) => status < 400).length} accepted`,
      `${count(400, 422)} refused with 400 or 422`,
      `${count(401)} with 401, ${count(404)} with 404`,
    ];
    const total = /Test cases:\s*([^\n]*)/.exec(output)?.[1];
    console.log(`      ${name}: ${total}; ${valid.length} valid, of these ${counts.join(', ')}`);
    console.log(`      Refuse more than half: ${mostlyRefused(valid).join(', ') || 'none'}`);
    // Otherwise the caller was logged out on the way, and the rest has shown nothing.
    expect(count(401)).to.be.lessThan(valid.length / 10);
  }

  /** Lets requests reach resources that exist. */
  function knownIds({ name, path }: DocumentOperation): string {
    const filledPath = HARMFUL.includes(name) ? path.replaceAll(/\{\w+\}/g, ID_OF_NOTHING) : pathWith(own, path);
    const declared = path.split('/');
    const filled = filledPath.split('/');
    const values = declared.flatMap((part, n) =>
      part.startsWith('{')
        ? [`"path.${part.slice(1, -1)}" = ${JSON.stringify(decodeURIComponent(filled[n] ?? ''))}`]
        : [],
    );
    return `[[operations]]\ninclude-name = ${JSON.stringify(name)}\nparameters = { ${values.join(', ')} }\n`;
  }

  async function run(args: string[]): Promise<{ output: string; code: number | null }> {
    const env = { ...process.env, SCHEMATHESIS_HOOKS: join(folder, 'hooks.py') };
    const child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder, env });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const [code] = (await once(child, 'close').catch((error: Error) => {
      throw new Error(`${PROGRAM} cannot be started: pip install schemathesis, or set SCHEMATHESIS_PATH.`, {
        cause: error,
      });
    })) as [number | null];
    return { output, code };
  }
});

interface ValidRequest {
  operation: string;
  status: number;
}

interface ReportLine {
  ScenarioFinished?: {
    recorder: {
      label: string;
      cases?: Record<string, { value: { meta?: { generation: { mode: string } } } }>;
      interactions?: Record<string, { response?: { status_code: number } }>;
    };
  };
}

/** Returns the requests that the document allows, with the status of the answer. */
function validRequests(report: string): ValidRequest[] {
  return readFileSync(report, 'utf8')
    .split('\n')
    .filter((text) => text.startsWith('{"ScenarioFinished"'))
    .flatMap((text) => {
      const {
        label = '',
        cases = {},
        interactions = {},
      } = (JSON.parse(text) as ReportLine).ScenarioFinished?.recorder ?? {};
      return Object.entries(cases).flatMap(([id, { value }]) => {
        const status = interactions[id]?.response?.status_code;
        return value.meta?.generation.mode === 'positive' && status ? [{ operation: label, status }] : [];
      });
    });
}

/** Returns the operations that refuse more than half of the valid requests with 400 or 422. */
function mostlyRefused(requests: ValidRequest[]): string[] {
  return [...new Set(requests.map(({ operation }) => operation))].filter((name) => {
    const own = requests.filter(({ operation }) => operation === name);
    return own.filter(({ status }) => status === 400 || status === 422).length > own.length / 2;
  });
}
