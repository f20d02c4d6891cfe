// Every field, parameter, header and answer of the OpenAPI document has a description and an example that fits.
import { expect } from 'chai';
import { apiDocument } from '../../support/api-document.ts';
import { schemaValidator, withFullReferences } from '../../support/json-schema.ts';

type Schema = Record<string, unknown>;

interface Media {
  content?: Record<string, { schema: Schema; example?: unknown }>;
}

interface Described {
  description?: string;
  example?: unknown;
  schema: Schema;
}

interface Operation {
  operationId: string;
  summary?: string;
  parameters: (Described & { name: string; $ref?: string })[];
  requestBody?: Media;
  responses: Record<string, Media & { $ref?: string; description?: string }>;
}

interface Field {
  /** Where it is, as in `postContacts 201 data`. */
  path: string;
  schema: Schema;
}

describe('the texts and examples of the OpenAPI document', () => {
  const document = apiDocument();
  const paths = document.paths as unknown as Record<string, Record<string, Operation>>;
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const webhooks = Object.entries(document.webhooks as Record<string, { post: Operation }>);
  const components = document.components as {
    schemas: Record<string, Schema>;
    headers: Record<string, Described>;
    responses: Record<string, Media & { description?: string }>;
    parameters: Record<string, Described & { name: string; in: string }>;
  };

  const bodies: Field[] = [
    ...Object.entries(components.schemas).map(([name, schema]) => ({ path: name, schema })),
    ...webhooks.flatMap(([type, { post }]) => contentsOf(type, post.requestBody)),
    ...operations.flatMap(({ operationId, requestBody, responses }) => [
      ...contentsOf(operationId, requestBody),
      ...Object.entries(responses).flatMap(([status, response]) => contentsOf(`${operationId} ${status}`, response)),
    ]),
  ];
  const fields = bodies.flatMap(({ path, schema }) => fieldsOf(schema, path));
  const parameters = [
    ...Object.entries(components.parameters).map(([path, parameter]) => ({ ...parameter, path })),
    ...operations.flatMap(({ operationId, parameters: own }) =>
      own
        .filter((parameter) => !parameter.$ref)
        .map((parameter) => ({ ...parameter, path: `${operationId} ${parameter.name}` })),
    ),
  ];

  function contentsOf(path: string, media: Media | undefined): (Field & { example: unknown })[] {
    return Object.values(media?.content ?? {}).map(({ schema, example }) => ({ path, schema, example }));
  }

  function fieldsOf(schema: unknown, path: string): Field[] {
    if (typeof schema !== 'object' || schema === null) return [];
    const { properties = {}, example: _example, examples: _examples, ...rest } = schema as Schema;
    const own = Object.entries(properties as Record<string, Schema>).flatMap(([name, property]) => [
      { path: `${path} ${name}`, schema: property },
      ...fieldsOf(property, `${path} ${name}`),
    ]);
    return [...own, ...Object.values(rest).flatMap((value) => fieldsOf(value, path))];
  }

  const validator = schemaValidator(document);
  const compiled = new Map<string, ReturnType<typeof validator.compile>>();

  /** Returns why the example does not fit, or undefined. */
  function misfit({ path, schema, example }: Field & { example: unknown }): string[] {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? validator.compile(withFullReferences(schema) as object);
    compiled.set(text, validate);
    return validate(example) ? [] : [`${path}: ${JSON.stringify(example)} ${validator.errorsText(validate.errors)}`];
  }

  it('finds the fields of all operations and webhooks', () => {
    expect(operations).to.have.length.greaterThan(150);
    expect(webhooks).to.have.length.greaterThan(20);
    expect(fields).to.have.length.greaterThan(1_000);
  });

  it('describes every field', () => {
    // A type has its own description.
    const silent = fields.filter(({ schema }) => !schema.description && !schema.$ref).map(({ path }) => path);
    expect(silent, 'add .description() to their schemas').to.deep.equal([]);
  });

  it('names every body and answer, and every type once', () => {
    const isNamed = (schema: Schema): boolean =>
      schema.$ref !== undefined ||
      (schema.type === 'array' ? isNamed(schema.items as Schema) : schema.properties === undefined);
    const unnamed = operations.flatMap(({ operationId, requestBody, responses }) =>
      [
        ...contentsOf(operationId, requestBody),
        ...Object.entries(responses).flatMap(([status, response]) => contentsOf(`${operationId} ${status}`, response)),
      ].filter(({ schema }) => !isNamed(schema)),
    );
    expect(unnamed.map(({ path }) => path)).to.deep.equal([]);
    const withoutTexts = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(withoutTexts);
      if (typeof value !== 'object' || value === null) return value;
      const { description: _description, examples: _examples, ...rest } = value as Schema;
      return Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, withoutTexts(item)]));
    };
    const names = new Map<string, string[]>();
    for (const [name, schema] of Object.entries(components.schemas)) {
      const shape = JSON.stringify(withoutTexts(schema));
      names.set(shape, [...(names.get(shape) ?? []), name]);
    }
    expect([...names.values()].filter((same) => same.length > 1)).to.deep.equal([]);
  });

  it('uses every named type', () => {
    const text = JSON.stringify(document);
    const unused = Object.keys(components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`) && !text.includes(`"#/components/schemas/${name}/`),
    );
    expect(unused).to.deep.equal([]);
  });

  it('is at most 850 kB', () => {
    expect(Buffer.byteLength(JSON.stringify(document))).to.be.at.most(850_000);
  });

  it('describes every parameter, with an example that fits', () => {
    expect(parameters).to.have.length.greaterThan(60);
    expect(parameters.filter(({ description }) => !description).map(({ path }) => path)).to.deep.equal([]);
    expect(parameters.filter(({ example }) => example === undefined).map(({ path }) => path)).to.deep.equal([]);
    expect(parameters.flatMap(({ path, schema, example }) => misfit({ path, schema, example }))).to.deep.equal([]);
  });

  it('describes every operation, answer and header', () => {
    for (const { operationId, summary, responses } of operations) {
      expect(summary, operationId).to.be.a('string').and.not.equal('');
      for (const [status, { $ref, description }] of Object.entries(responses))
        expect($ref ?? description, `${operationId} ${status}`)
          .to.be.a('string')
          .and.not.equal('');
    }
    for (const [name, { description, example, schema }] of Object.entries(components.headers)) {
      expect(description, name).to.be.a('string').and.not.equal('');
      expect(misfit({ path: name, schema, example })).to.deep.equal([]);
    }
  });

  it('gives examples that fit of requests and webhooks', () => {
    const types = Object.entries(components.schemas).flatMap(([path, schema]) =>
      ((schema.examples ?? []) as unknown[]).map((example) => ({ path, schema, example })),
    );
    expect(types).to.have.length.greaterThan(60);
    const calls = webhooks.flatMap(([type, { post }]) => contentsOf(type, post.requestBody));
    expect([...types, ...calls].flatMap(misfit)).to.deep.equal([]);
  });
});
