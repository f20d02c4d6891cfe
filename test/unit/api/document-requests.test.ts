// What the OpenAPI document allows, the schemas of the routes must mostly accept: the document states the constraints.
import { expect } from 'chai';
import fc from 'fast-check';
import { openApiOf } from '../../../api/http/openapi.ts';
import { bodyCheck, queryCheck } from '../../../api/http/validate.ts';
import { declaredRoutes } from '../../../api/routes/index.ts';
import { ApiError } from '../../../platform/errors.ts';
import { type DocumentOperation, documentOperations } from '../../support/document-operations.ts';
import { samplesOf } from '../../support/schema-samples.ts';

const SAMPLES = 20;
const SEED = Number(process.env.FAST_CHECK_SEED ?? 20_261_115);

/** Leaves room for headers. */
const MAX_ADDRESS = 15_500;

/** What a character takes in an address at most: one byte is escaped as `%20`, and one outside ASCII has up to four. */
function bytesOfCharacter({ pattern }: Record<string, unknown>): number {
  if (pattern === '^[A-Za-z0-9_-]+$' || pattern === '^[A-Za-z0-9_.-]+$') return 1;
  return pattern === '^[ -~]+$' ? 3 : 12;
}

describe('requests made from the OpenAPI document', () => {
  const groups = declaredRoutes();
  const routes = groups.flatMap((group) => group.routes);
  const routeOf = ({ name }: DocumentOperation) =>
    routes.find(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}` === name);

  /** Returns why samples were refused. */
  function refusals(schema: Record<string, unknown>, check: (value: unknown) => unknown): string[] {
    return fc.sample(samplesOf(schema), { numRuns: SAMPLES, seed: SEED }).flatMap((sample) => {
      // As it is sent: undefined fields are left out.
      const sent = JSON.parse(JSON.stringify(sample));
      try {
        check(sent);
        return [];
      } catch (error) {
        const why = error instanceof ApiError ? (error.extras.errors ?? error.message) : String(error);
        return [`${JSON.stringify(why).slice(0, 300)} to ${JSON.stringify(sent).slice(0, 300)}`];
      }
    });
  }

  const mostlyRefused = (found: [name: string, refused: string[]][]): string[] =>
    found
      .filter(([, refused]) => refused.length > SAMPLES / 2)
      .map(([name, refused]) => `${name} refused ${refused.length} of ${SAMPLES} (seed ${SEED}): ${refused[0]}`);

  it('have bodies that most operations mostly accept', () => {
    const bodies = documentOperations(openApiOf(groups)).filter(
      ({ body }) => body && body.type !== '*/*' && body.type !== 'multipart/form-data',
    );
    expect(bodies).to.have.length.greaterThan(60);
    const found = bodies.map((operation): [string, string[]] => {
      const check = bodyCheck(routeOf(operation)?.body);
      const refused = refusals(operation.body?.schema ?? {}, (value) =>
        check({ value, files: {}, mayContainBadText: true }),
      );
      return [operation.name, refused];
    });
    expect(mostlyRefused(found)).to.deep.equal([]);
  });

  it('fit into the 16 KB that Node allows for the address with the headers', () => {
    const longest = documentOperations(openApiOf(groups)).map(({ name, parameters }): [string, number] => {
      const lengths = parameters
        .filter((one) => (one.in === 'query' || one.in === 'path') && !one.name.includes('*'))
        .map(({ schema }) => Number(schema.maxLength ?? 0) * bytesOfCharacter(schema));
      return [name, lengths.reduce((sum, length) => sum + length, 0)];
    });
    expect(longest.filter(([, length]) => length > MAX_ADDRESS)).to.deep.equal([]);
  });

  it('have queries that all operations mostly accept', () => {
    const queries = documentOperations(openApiOf(groups)).flatMap((operation) => {
      const parameters = operation.parameters.filter((one) => one.in === 'query' && !one.name.includes('*'));
      return parameters.length > 0 ? [{ operation, parameters }] : [];
    });
    expect(queries).to.have.length.greaterThan(30);
    const found = queries.map(({ operation, parameters }): [string, string[]] => {
      const check = queryCheck(routeOf(operation)?.query);
      const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
      const required = parameters.filter((one) => one.required).map(({ name }) => name);
      const asText = (query: object) =>
        Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
      return [
        operation.name,
        refusals({ type: 'object', properties, required }, (query) => check(asText(query as object))),
      ];
    });
    expect(mostlyRefused(found)).to.deep.equal([]);
  });
});
