import { join } from 'node:path';
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import { root } from '../../../dev/root.ts';

interface Server {
  revision: number;
  text: string;
}
interface Content {
  text: string;
}
interface State {
  content: Content;
  base: Content;
  server: Server;
  conflict: Server | undefined;
  save: { kind: string };
  generation: number;
}
interface Changes {
  first(server: Server, stored?: { revision: number; content: Content }): State;
  changed(state: State, content: Content): State;
  saved(state: State, server: Server, sent: Content): State;
  found(state: State, server: Server): State;
  resolved(state: State, choice: 'mine' | 'theirs'): State;
}

const server = (revision: number, text: string): Server => ({ revision, text });
const content = (text: string): Content => ({ text });

describe('a content that is saved by itself', () => {
  let changes: Changes;

  before(async () => {
    // Read as a file: it belongs to a program with the types of a browser.
    const { draftChanges } = (await tsImport(
      join(root, 'web/app/src/editor/draft/draft-state.ts'),
      import.meta.url,
    )) as { draftChanges(contentOf: (server: Server) => Content): Changes };
    changes = draftChanges(({ text }) => ({ text }));
  });

  const edited = (text: string): State => changes.changed(changes.first(server(1, 'start')), content(text));

  it('is unsaved again when something was typed while it was saved', () => {
    const sent = edited('a');
    const typed = changes.changed(sent, content('ab'));
    const state = changes.saved(typed, server(2, 'a'), sent.content);
    expect([state.save.kind, state.content.text, state.server.revision]).to.deep.equal(['unsaved', 'ab', 2]);
  });

  it('shows a newer content when nothing is unsaved', () => {
    const state = changes.found(changes.first(server(1, 'start')), server(2, 'theirs'));
    expect([state.content.text, state.generation, state.save.kind]).to.deep.equal(['theirs', 1, 'saved']);
  });

  it('keeps both when something is unsaved, until one is chosen', () => {
    const state = changes.found(edited('mine'), server(2, 'theirs'));
    expect([state.content.text, state.conflict?.text]).to.deep.equal(['mine', 'theirs']);
    const mine = changes.resolved(state, 'mine');
    expect([mine.content.text, mine.server.revision, mine.save.kind]).to.deep.equal(['mine', 2, 'unsaved']);
    const theirs = changes.resolved(state, 'theirs');
    expect([theirs.content.text, theirs.save.kind, theirs.conflict]).to.deep.equal(['theirs', 'saved', undefined]);
  });

  it('has no conflict with what only raised the revision, nor with its own lost answer', () => {
    const raised = changes.found(edited('mine'), server(2, 'start'));
    expect([raised.conflict, raised.server.revision, raised.save.kind]).to.deep.equal([undefined, 2, 'unsaved']);
    // The API has completed what was sent.
    const completed = changes.saved(edited('a'), server(2, 'a.'), content('a'));
    expect(changes.found(completed, server(3, 'a.')).generation).to.equal(0);
    const lost = changes.found(edited('mine'), server(2, 'mine'));
    expect([lost.conflict, lost.save.kind]).to.deep.equal([undefined, 'saved']);
  });

  it('continues with what an earlier visit could not save, and compares where the server has gone on', () => {
    const stored = { revision: 1, content: content('kept') };
    const same = changes.first(server(1, 'start'), stored);
    expect([same.content.text, same.save.kind, same.conflict]).to.deep.equal(['kept', 'unsaved', undefined]);
    expect(changes.first(server(2, 'theirs'), stored).conflict?.text).to.equal('theirs');
    expect(changes.first(server(2, 'kept'), stored).save.kind).to.equal('saved');
  });

  it('ignores an answer that is older than what it has', () => {
    const state = changes.saved(edited('a'), server(3, 'a'), content('a'));
    expect(changes.found(state, server(2, 'old'))).to.equal(state);
  });
});
