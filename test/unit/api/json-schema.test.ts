import { expect } from 'chai';
import joi from 'joi';
import { JsonSchemas, named, referenceTo, standaloneSchemaOf } from '../../../api/http/json-schema.ts';
import { documented } from '../../../platform/joi-violations.ts';

const jsonSchemaOf = (schema: joi.Schema) => new JsonSchemas().of(schema, 'request');

describe('the JSON schema of a joi schema', () => {
  it('has the sizes of an object', () => {
    expect(jsonSchemaOf(joi.object().min(1).max(3))).to.deep.include({ minProperties: 1, maxProperties: 3 });
  });

  it('has the values of an object with any names', () => {
    expect(jsonSchemaOf(joi.object().pattern(joi.string(), joi.number()))).to.deep.include({
      additionalProperties: { type: 'number' },
    });
  });

  it('requires one of two fields, of which one is required without the other', () => {
    const either = joi.string().min(8).when('old', { is: joi.exist(), otherwise: joi.required() });
    const { properties, allOf } = jsonSchemaOf(joi.object({ new: either, old: joi.string() }));
    expect(properties).to.deep.equal({ old: { type: 'string' }, new: { type: 'string', minLength: 8 } });
    expect(allOf).to.deep.equal([{ anyOf: [{ required: ['new'] }, { required: ['old'] }] }]);
  });

  it('has what a custom rule says that it requires', () => {
    const even = documented(
      joi.number().custom((value: number) => value),
      { multipleOf: 2 },
    );
    expect(jsonSchemaOf(joi.object({ even })).properties).to.deep.equal({ even: { type: 'number', multipleOf: 2 } });
  });

  it('refers to a named type, which is written once', () => {
    const schemas = new JsonSchemas();
    const person = named('Person', 'A person.', joi.object({ name: joi.string() }).required());
    const pair = joi.object({ one: person.description('The first.'), other: person.allow(null) });
    expect(schemas.of(pair, 'answer')).to.deep.equal({
      type: 'object',
      required: ['one', 'other'],
      properties: {
        one: { description: 'The first.', $ref: '#/components/schemas/Person' },
        other: { anyOf: [{ $ref: '#/components/schemas/Person' }, { type: 'null' }] },
      },
    });
    expect(schemas.components).to.deep.equal({
      Person: { description: 'A person.', type: 'object', properties: { name: { type: 'string' } } },
    });
  });

  it('stands alone with the known types that it refers to, also through each other', () => {
    const known = {
      Tree: { type: 'object', properties: { leaf: referenceTo('Leaf'), tree: referenceTo('Tree') } },
      Leaf: { type: 'string' },
      Other: { type: 'number' },
    };
    const schema = joi.object({ tree: documented(joi.any(), referenceTo('Tree')) });
    expect(standaloneSchemaOf(schema, known)).to.deep.equal({
      type: 'object',
      properties: { tree: { $ref: '#/$defs/Tree' } },
      $defs: {
        Tree: { type: 'object', properties: { leaf: { $ref: '#/$defs/Leaf' }, tree: { $ref: '#/$defs/Tree' } } },
        Leaf: { type: 'string' },
      },
    });
  });

  it('refuses two types with one name', () => {
    const schemas = new JsonSchemas();
    schemas.of(named('Person', 'A person.', joi.object({ name: joi.string() })), 'answer');
    expect(() => schemas.of(named('Person', 'A person.', joi.object({ age: joi.number() })), 'answer')).to.throw(
      'Two schemas have the name Person',
    );
  });
});
