import { join } from 'node:path';
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import { root } from '../../../dev/root.ts';

interface Draft {
  triggerType: string;
  triggerConfig: object;
  allowReentry: boolean;
  graph: { steps: object[]; transitions: object[] };
}

interface StoredDraftModule {
  hideHeaders(content: Draft, server: Draft): Draft;
  fillHeaders(content: Draft, server: Draft): Draft;
  hasLostHeaders(content: Draft): boolean;
}

describe('unsaved drafts in the browser', () => {
  let storedDraft: StoredDraftModule;

  before(async () => {
    // Read as a file: it belongs to a program with the types of a browser.
    const file = join(root, 'web/app/src/pages/workflows/canvas/stored-draft.ts');
    storedDraft = (await tsImport(file, import.meta.url)) as StoredDraftModule;
  });

  const draft = (headers: Record<string, string>, name = 'Call'): Draft => ({
    triggerType: 'MANUAL',
    triggerConfig: {},
    allowReentry: false,
    graph: {
      steps: [
        {
          id: 'one',
          type: 'WEBHOOK',
          name,
          position: { x: 0, y: 0 },
          templateId: null,
          config: { url: 'https://hooks.example/', headers },
        },
        { id: 'two', type: 'EXIT', name: 'End', position: { x: 0, y: 0 }, templateId: null, config: {} },
      ],
      transitions: [],
    },
  });

  it('are stored without header values, and get those back that the server has', () => {
    const server = draft({ 'X-Token': 'secret' });
    const stored = storedDraft.hideHeaders(draft({ 'X-Token': 'secret' }, 'Renamed'), server);
    expect(JSON.stringify(stored)).to.include('X-Token').and.not.include('secret');
    expect(storedDraft.hasLostHeaders(stored)).to.equal(false);
    expect(storedDraft.fillHeaders(stored, server)).to.deep.equal(draft({ 'X-Token': 'secret' }, 'Renamed'));
  });

  it('have header values empty that were typed and not saved', () => {
    const server = draft({ 'X-Token': 'secret' });
    const stored = storedDraft.hideHeaders(draft({ 'X-Token': 'changed', 'X-New': 'typed' }), server);
    expect(JSON.stringify(stored)).to.not.match(/secret|changed|typed/);
    expect(storedDraft.hasLostHeaders(stored)).to.equal(true);
    expect(storedDraft.fillHeaders(stored, server)).to.deep.equal(draft({ 'X-Token': '', 'X-New': '' }));
  });
});
