import { expect } from 'chai';
import { auditActions } from '../../../services/audit/actions.ts';
import { auditActions as offeredActions } from '../../../web/app/src/pages/audit/actions.ts';

describe('the filter of the audit page', () => {
  it('offers the actions that the API records', () => {
    expect(offeredActions).to.deep.equal(auditActions);
  });
});
