import { join } from 'node:path';
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import { root } from '../../../dev/root.ts';

interface Content {
  graph: { steps: { id: string; name: string }[]; transitions: object[] };
  triggerType: string;
  triggerConfig: object;
  allowReentry: boolean;
}
type Draft = Content & { revision: number; baseVersion: number };
interface State {
  history: { past: Content[]; present: Content };
  base: Content;
  server: Draft;
  conflict: Draft | undefined;
  save: { kind: string };
  lostHeaders: boolean;
}
interface DraftStateModule {
  firstState(server: Draft, stored: object | undefined): State;
  nextState(state: State, action: object): State;
  isDirty(state: State): boolean;
}

describe('the state of an editor of a draft', () => {
  let module: DraftStateModule;
  let opened: State;

  before(async () => {
    // Read as a file: it belongs to a program with the types of a browser.
    const file = join(root, 'web/app/src/pages/workflows/canvas/draft-state.ts');
    module = (await tsImport(file, import.meta.url)) as DraftStateModule;
  });

  const content = (...names: string[]): Content => ({
    graph: { steps: names.map((name) => ({ id: name[0] ?? '', name, config: {} })), transitions: [] },
    triggerType: 'MANUAL',
    triggerConfig: {},
    allowReentry: false,
  });
  const draft = (revision: number, ...names: string[]): Draft => ({ ...content(...names), revision, baseVersion: 1 });
  const after = (state: State, ...actions: object[]): State => actions.reduce<State>(module.nextState, state);
  const names = ({ history }: State) => history.present.graph.steps.map(({ name }) => name);
  const change = (...changed: string[]) => ({ kind: 'change', content: content(...changed) });

  beforeEach(() => {
    opened = module.firstState(draft(1, 'a'), undefined);
  });

  it('is saved at first, unsaved after a change, and saved again after its undo', () => {
    expect([opened.save.kind, module.isDirty(opened)]).to.deep.equal(['saved', false]);
    const changed = after(opened, change('a', 'b'));
    expect([changed.save.kind, module.isDirty(changed)]).to.deep.equal(['unsaved', true]);
    const undone = after(changed, { kind: 'undo' });
    expect([undone.save.kind, module.isDirty(undone), names(undone)]).to.deep.equal(['saved', false, ['a']]);
    expect(names(after(undone, { kind: 'redo' }))).to.deep.equal(['a', 'b']);
  });

  it('undoes changes of one name together', () => {
    const typed = after(opened, ...['a1', 'a12'].map((name) => ({ ...change(name), name: 'name of a' })));
    expect(names(after(typed, { kind: 'undo' }))).to.deep.equal(['a']);
  });

  it('stays unsaved when there was a change while it was being saved', () => {
    const saving = after(opened, change('a', 'b'), { kind: 'saving' });
    expect(saving.save.kind).to.equal('saving');
    const sent = saving.history.present;
    const saved = { kind: 'saved', draft: draft(2, 'a', 'b'), sent };
    expect(after(saving, saved)).to.deep.include({ save: { kind: 'saved' }, base: sent });
    const more = after(saving, change('a', 'b', 'c'), saved);
    expect(more).to.deep.include({ save: { kind: 'unsaved' }, base: sent });
    expect(names(more)).to.deep.equal(['a', 'b', 'c']);
  });

  it('keeps the content when it cannot be saved, and has the conflict when that is why', () => {
    const theirs = draft(2, 'z');
    const refused = { kind: 'notSaved', save: { kind: 'refused', message: 'no', violations: [] }, theirs };
    const state = after(opened, change('a', 'b'), refused);
    expect(state.conflict).to.equal(theirs);
    expect(names(state)).to.deep.equal(['a', 'b']);
    const unreachable = after(state, {
      kind: 'notSaved',
      save: { kind: 'unreachable', message: 'no' },
      theirs: undefined,
    });
    expect(unreachable).to.deep.include({ save: { kind: 'unreachable', message: 'no' }, conflict: theirs });
  });

  describe('when the server has a newer draft', () => {
    const found = (newer: Draft) => ({ kind: 'found', draft: newer });

    it('shows it at once when nothing is unsaved', () => {
      const state = after(opened, found(draft(2, 'z')));
      expect(names(state)).to.deep.equal(['z']);
      expect([state.save.kind, state.server.revision, state.history.past]).to.deep.equal(['saved', 2, []]);
    });

    it('has a conflict when something is unsaved', () => {
      const state = after(opened, change('a', 'b'), found(draft(2, 'z')));
      expect(names(state)).to.deep.equal(['a', 'b']);
      expect(state.conflict).to.deep.equal(draft(2, 'z'));
    });

    it('is saved when it is the same: the answer of a save was lost', () => {
      const state = after(opened, change('a', 'b'), found(draft(2, 'a', 'b')));
      expect([state.save.kind, state.conflict, state.server.revision]).to.deep.equal(['saved', undefined, 2]);
    });

    it('ignores an older one', () => {
      const state = after(opened, found(draft(2, 'z')));
      expect(after(state, found(draft(1, 'a')))).to.equal(state);
    });
  });

  describe('when a conflict is resolved', () => {
    const inConflict = () =>
      after(opened, change('a', 'b'), { kind: 'found', draft: draft(2, 'a theirs', 'z') }) as State;
    const resolved = (choice: string) => after(inConflict(), { kind: 'resolve', choice });

    it('drops mine', () => {
      expect(names(resolved('theirs'))).to.deep.equal(['a theirs', 'z']);
      expect(resolved('theirs')).to.deep.include({ save: { kind: 'saved' }, conflict: undefined });
    });

    it('overwrites theirs', () => {
      const state = resolved('mine');
      expect(names(state)).to.deep.equal(['a', 'b']);
      expect(state).to.deep.include({ save: { kind: 'unsaved' }, conflict: undefined });
      expect(state.server.revision, 'so that the next save is accepted').to.equal(2);
    });

    it('applies my changes to theirs', () => {
      const state = resolved('merge');
      expect(names(state)).to.deep.equal(['a theirs', 'z', 'b']);
      expect(state).to.deep.include({ save: { kind: 'unsaved' }, conflict: undefined });
    });

    it('changes nothing without one', () => {
      expect(after(opened, { kind: 'resolve', choice: 'mine' })).to.equal(opened);
    });
  });

  describe('of an earlier visit that could not save', () => {
    const stored = { revision: 1, baseVersion: 1, base: content('a'), content: content('a', 'b') };

    it('continues with its changes', () => {
      const state = module.firstState(draft(1, 'a'), stored);
      expect(names(state)).to.deep.equal(['a', 'b']);
      expect(state).to.deep.include({ save: { kind: 'unsaved' }, conflict: undefined, base: content('a') });
    });

    it('has a conflict when the server has a newer draft', () => {
      const state = module.firstState(draft(2, 'z'), stored);
      expect(state.conflict).to.deep.equal(draft(2, 'z'));
      expect(state.server.revision, 'as it was').to.equal(1);
      expect(names(after(state, { kind: 'resolve', choice: 'merge' }))).to.deep.equal(['z', 'b']);
    });

    it('is saved when the server has the same', () => {
      expect(module.firstState(draft(2, 'a', 'b'), stored)).to.deep.include({ save: { kind: 'saved' } });
    });
  });
});
