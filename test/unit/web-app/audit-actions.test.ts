import { expect } from 'chai';
import { auditActions } from '../../../services/audit/actions.ts';
import { auditActionNames } from '../../../web/app/src/texts/en/audit-actions.ts';

describe('the audit page', () => {
  it('names the actions that the API records', () => {
    expect(Object.keys(auditActionNames)).to.deep.equal(auditActions);
  });
});
