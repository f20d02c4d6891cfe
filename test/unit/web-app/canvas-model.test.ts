import { expect } from 'chai';
import { addChange, redo, startHistory, undo } from '../../../web/app/src/pages/workflows/canvas/history.ts';
import {
  addStep,
  changeStep,
  connect,
  copySteps,
  type DraftContent,
  type DraftGraph,
  exitsOf,
  mergeContent,
  neighbourOf,
  pasteSteps,
  removeSteps,
  type StepTypes,
} from '../../../web/app/src/pages/workflows/canvas/model.ts';
import {
  brokenBound,
  exclusiveKeys,
  fieldKind,
  typedValue,
  withValue,
} from '../../../web/app/src/pages/workflows/canvas/schema.ts';

type Type = DraftGraph['steps'][number]['type'];

const type = (name: Type, exits: string[], exitsFrom: string | null = null) => ({
  type: name,
  label: name,
  description: '',
  exits,
  exitsFrom,
  waits: false,
  newConfig: {},
  schema: {},
});
const types: StepTypes = new Map(
  [
    type('DELAY', ['next']),
    type('CONDITION', ['yes', 'no']),
    type('EXIT', []),
    type('SPLIT', [], 'branches[].name'),
  ].map((one) => [one.type, one]),
);
const step = (id: string, name: Type = 'DELAY', config: Record<string, unknown> = {}) => ({
  id,
  type: name,
  name: id,
  config,
  templateId: null,
  position: { x: 0, y: 0 },
});
const graph = (steps: DraftGraph['steps'], ...lines: [string, string, (string | null)?][]): DraftGraph => ({
  steps,
  transitions: lines.map(([fromStepId, toStepId, branch = null]) => ({ fromStepId, toStepId, branch })),
});
const lines = ({ transitions }: DraftGraph): string[] =>
  transitions.map(({ fromStepId, toStepId, branch }) => `${fromStepId}${branch ? ` ${branch}` : ''} > ${toStepId}`);
const content = (of: DraftGraph, allowReentry = false): DraftContent => ({
  graph: of,
  triggerType: 'EVENT' as const,
  triggerConfig: {},
  allowReentry,
});

describe('the graph of the canvas', () => {
  const chain = graph([step('a'), step('b'), step('c')], ['a', 'b'], ['b', 'c']);

  it('inserts a step on a transition, and at the start', () => {
    const inserted = addStep(chain, types, { fromStepId: 'a', branch: null }, step('x', 'CONDITION'));
    expect(lines(inserted)).to.have.members(['a > x', 'x yes > b', 'b > c']);
    expect(lines(addStep(chain, types, null, step('x')))).to.have.members(['x > a', 'a > b', 'b > c']);
  });

  it('leads an exit to one step at most, and a step never to itself', () => {
    expect(lines(connect(chain, { fromStepId: 'a', toStepId: 'c', branch: null }))).to.have.members(['b > c', 'a > c']);
    expect(connect(chain, { fromStepId: 'a', toStepId: 'a', branch: null })).to.equal(chain);
  });

  it('closes the gap when steps are removed', () => {
    expect(lines(removeSteps(chain, types, new Set(['b'])))).to.deep.equal(['a > c']);
    expect(lines(removeSteps(chain, types, new Set(['b', 'c'])))).to.deep.equal([]);
    const loop = graph([step('a'), step('b')], ['a', 'b'], ['b', 'a']);
    expect(lines(removeSteps(loop, types, new Set(['b'])))).to.deep.equal([]);
  });

  it('reads exits from the config, keeps a renamed one connected, and drops that of a removed branch', () => {
    const branches = (...names: string[]) => ({ branches: names.map((name) => ({ name, weight: 1 })) });
    const split = graph(
      [step('s', 'SPLIT', branches('A', 'B')), step('x'), step('y')],
      ['s', 'x', 'A'],
      ['s', 'y', 'B'],
    );
    expect(exitsOf(types, step('s', 'SPLIT', branches('A', 'B')))).to.deep.equal(['A', 'B']);
    expect(lines(changeStep(split, types, 's', { config: branches('A', 'New') }))).to.deep.equal([
      's A > x',
      's New > y',
    ]);
    expect(lines(changeStep(split, types, 's', { config: branches('A') }))).to.deep.equal(['s A > x']);
  });

  it('pastes copies under new ids after the selected step', () => {
    const copied = copySteps(chain, new Set(['a', 'b']));
    let n = 0;
    const pasted = pasteSteps(chain, types, copied, { after: 'c', newId: () => `new${++n}` });
    expect(pasted.ids).to.deep.equal(['new1', 'new2']);
    expect(lines(pasted.graph)).to.have.members(['a > b', 'b > c', 'new1 > new2', 'c > new1']);
    const apart = pasteSteps(chain, types, copied, { after: 'a', newId: () => `new${++n}` });
    expect(lines(apart.graph)).to.have.members(['a > b', 'b > c', 'new3 > new4']);
  });

  it('merges by step and exit: mine where I changed it, theirs elsewhere', () => {
    const mine = content(graph([step('a'), { ...step('b'), name: 'mine' }], ['a', 'b']), true);
    const theirs = content(
      graph(
        [{ ...step('a'), name: 'theirs' }, { ...step('b'), name: 'other' }, step('c'), step('d')],
        ['a', 'b'],
        ['b', 'c'],
      ),
    );
    const merged = mergeContent(content(chain), mine, theirs);
    expect(merged.graph.steps.map(({ name }) => name)).to.deep.equal(['theirs', 'mine', 'd']);
    expect(lines(merged.graph)).to.deep.equal(['a > b']);
    expect(merged.allowReentry).to.equal(true);
  });

  it('finds the nearest step in a direction', () => {
    const places = new Map([
      ['top', { x: 100, y: 0 }],
      ['left', { x: 0, y: 100 }],
      ['right', { x: 200, y: 100 }],
      ['bottom', { x: 0, y: 200 }],
    ]);
    expect(neighbourOf(places, 'left', 'right')).to.equal('right');
    expect(neighbourOf(places, 'left', 'down')).to.equal('bottom');
    expect(neighbourOf(places, 'right', 'up')).to.equal('top');
    expect(neighbourOf(places, 'top', 'up')).to.equal(undefined);
  });

  it('undoes the letters of one field together', () => {
    const first = content(chain);
    const second = content(graph([]));
    const third = content(graph([step('x')]));
    const typed = addChange(addChange(startHistory(first), second, 'name'), third, 'name');
    expect(undo(typed).present).to.equal(first);
    expect(redo(undo(typed)).present).to.equal(third);
    expect(addChange(undo(typed), second).future).to.deep.equal([]);
  });
});

describe('the forms of steps', () => {
  it('choose an input by the schema', () => {
    const span = {
      type: 'object',
      properties: { amount: { type: 'number' }, unit: { type: 'string', enum: ['days'] } },
    };
    expect(fieldKind(span)).to.equal('span');
    expect(fieldKind({ anyOf: [span, { type: 'number' }] })).to.equal('span');
    expect(fieldKind({ type: 'object', properties: { logic: {}, groups: {} } })).to.equal('condition');
    expect(fieldKind({ type: 'object', properties: {} })).to.equal('record');
    expect(fieldKind({ type: ['string', 'null'] })).to.equal('text');
    expect(fieldKind({ type: 'string', pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' })).to.equal('time');
    expect(fieldKind({ type: 'array', items: { type: 'string', enum: ['MON'] } })).to.equal('choices');
    expect(fieldKind({ type: 'array', items: { properties: { name: {} } } })).to.equal('rows');
    expect(fieldKind({ type: ['array', 'string', 'object'] })).to.equal('json');
    expect(fieldKind({})).to.equal('json');
  });

  it('keep one of the values that exclude each other', () => {
    const schema = { oneOf: [{ required: ['amount'] }, { required: ['until'] }, {}] };
    expect(exclusiveKeys(schema)).to.deep.equal(['amount', 'until']);
    expect(withValue(schema, { amount: 1, unit: 'days' }, 'until', 'data.end')).to.deep.equal({ until: 'data.end' });
    expect(withValue(schema, { until: 'x' }, 'until', '')).to.deep.equal({});
  });

  it('name the bound that a number breaks', () => {
    const schema = { type: 'number', exclusiveMinimum: 0, maximum: 10 };
    expect([-5, 0, 0.5, 10, 11, undefined].map((value) => brokenBound(value, schema))).to.deep.equal([
      { rule: 'above', limit: 0 },
      { rule: 'above', limit: 0 },
      undefined,
      undefined,
      { rule: 'atMost', limit: 10 },
      undefined,
    ]);
    expect(brokenBound(0, { minimum: 1 })).to.deep.equal({ rule: 'atLeast', limit: 1 });
  });

  it('read JSON where it is JSON, and text elsewhere', () => {
    expect([typedValue('12'), typedValue('true'), typedValue('{"a":1}')]).to.deep.equal([12, true, { a: 1 }]);
    expect([typedValue('{{ name }}'), typedValue('1 day'), typedValue('')]).to.deep.equal(['{{ name }}', '1 day', '']);
  });
});
