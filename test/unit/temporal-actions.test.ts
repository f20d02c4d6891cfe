// Counts the actions of recorded histories, for the table of docs/capacity.md.
import { expect } from 'chai';
import { readHistory } from '../replay/histories.ts';

interface Event {
  eventType: string;
  markerRecordedEventAttributes?: { markerName?: string };
  upsertWorkflowSearchAttributesEventAttributes?: { searchAttributes?: { indexedFields?: Record<string, unknown> } };
}

/** Names of events as actions; markers of patches and their search attribute cost nothing. */
const ACTIONS: Record<string, string> = {
  WORKFLOW_EXECUTION_STARTED: 'start',
  ACTIVITY_TASK_STARTED: 'activity',
  TIMER_STARTED: 'timer',
  WORKFLOW_EXECUTION_SIGNALED: 'signal',
  WORKFLOW_EXECUTION_UPDATE_ACCEPTED: 'update',
};

/** Of the newest recordings of a type. */
function actionsOf(name: string): Record<string, number> {
  const { events } = JSON.parse(readHistory(`${name}.json`)) as { events: Event[] };
  const counts: Record<string, number> = {};
  const count = (action: string) => {
    counts[action] = (counts[action] ?? 0) + 1;
  };
  let ranSteps = false;
  for (const event of events) {
    const type = event.eventType.replace('EVENT_TYPE_', '');
    const action = ACTIONS[type];
    if (action) count(action);
    if (type === 'WORKFLOW_TASK_COMPLETED') ranSteps = false;
    // Several local activities of one task are one action.
    if (event.markerRecordedEventAttributes?.markerName === 'core_local_activity' && !ranSteps) {
      ranSteps = true;
      count('steps');
    }
    const fields = event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields ?? {};
    if ('StepType' in fields) count('upsert');
  }
  return counts;
}

describe('the actions of docs/capacity.md', () => {
  it('of an execution that ends at once are a start and its steps', () => {
    expect(actionsOf('execution-8')).to.deep.equal({ start: 1, steps: 1 });
  });
  it('of an execution with a DELAY are a timer, an upsert and the steps after it', () => {
    expect(actionsOf('execution-4')).to.deep.equal({ start: 1, steps: 1, upsert: 1, timer: 1 });
  });
  it('of a WEBHOOK step are the call, the steps after it and at most one upsert', () => {
    const { upsert = 0, activity } = actionsOf('execution-5');
    expect(activity).to.equal(1);
    expect(upsert).to.be.at.most(1);
  });
  it('of a run of a Schedule are one activity besides the start', () => {
    for (const name of ['segmentSweep-1', 'reconciler-1', 'retention-1'])
      expect(actionsOf(name)).to.deep.equal({ start: 1, activity: 1 });
  });
  it('of a sender are one activity for each of its runs', () => {
    expect(actionsOf('sender-2')).to.deep.equal({ start: 1, activity: 2 });
  });
  it('of a campaign are about ten', () => {
    const sum = Object.values(actionsOf('campaign-1')).reduce((total, count) => total + count, 0);
    expect(sum).to.be.within(8, 12);
  });
});
