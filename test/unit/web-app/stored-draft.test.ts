import { expect } from 'chai';
import type { DraftContent } from '../../../web/app/src/pages/workflows/canvas/model.ts';
import { fillHeaders, hasLostHeaders, hideHeaders } from '../../../web/app/src/pages/workflows/canvas/stored-draft.ts';

describe('unsaved drafts in the browser', () => {
  const draft = (headers: Record<string, string>, name = 'Call'): DraftContent => ({
    ...{ triggerType: 'MANUAL', triggerConfig: {}, allowReentry: false },
    graph: {
      steps: [
        {
          ...{ id: 'one', type: 'WEBHOOK', name, position: { x: 0, y: 0 }, templateId: null },
          config: { url: 'https://hooks.example/', headers },
        },
        { id: 'two', type: 'EXIT', name: 'End', position: { x: 0, y: 0 }, templateId: null, config: {} },
      ],
      transitions: [],
    },
  });

  it('are stored without header values, and get those back that the server has', () => {
    const server = draft({ 'X-Token': 'secret' });
    const stored = hideHeaders(draft({ 'X-Token': 'secret' }, 'Renamed'), server);
    expect(JSON.stringify(stored)).to.include('X-Token').and.not.include('secret');
    expect(hasLostHeaders(stored)).to.equal(false);
    expect(fillHeaders(stored, server)).to.deep.equal(draft({ 'X-Token': 'secret' }, 'Renamed'));
  });

  it('have header values empty that were typed and not saved', () => {
    const server = draft({ 'X-Token': 'secret' });
    const stored = hideHeaders(draft({ 'X-Token': 'changed', 'X-New': 'typed' }), server);
    expect(JSON.stringify(stored)).to.not.match(/secret|changed|typed/);
    expect(hasLostHeaders(stored)).to.equal(true);
    expect(fillHeaders(stored, server)).to.deep.equal(draft({ 'X-Token': '', 'X-New': '' }));
  });
});
