import { expect } from 'chai';
import { freePort } from '../../dev/ports.ts';
import { createTemporal } from '../../temporal/connection.ts';
import { ensureSearchAttributes } from '../../temporal/search-attributes.ts';
import { bareNamespace, temporalSettings } from '../support/temporal-work.ts';

describe('the connection to Temporal', () => {
  it('checks whether Temporal responds for our namespace', async () => {
    const there = await bareNamespace();
    expect(await there.check()).to.equal(true);
    const nameless = createTemporal(temporalSettings(there.address, 'no-such-namespace'));
    expect(await nameless.check()).to.equal(false);
    const unavailable = createTemporal(temporalSettings(`127.0.0.1:${await freePort()}`));
    expect(await unavailable.check()).to.equal(false);
    await Promise.all([there.close(), nameless.close(), unavailable.close()]);
  });

  it('registers the search attributes once when several workers start at the same time', async () => {
    const temporal = await bareNamespace();
    const answers = await Promise.all(Array.from({ length: 3 }, () => ensureSearchAttributes(temporal)));
    expect(answers).to.include('added');
    expect(await ensureSearchAttributes(temporal)).to.equal('there');
    const listed = await temporal.connection.operatorService.listSearchAttributes({ namespace: temporal.namespace });
    expect(listed.customAttributes).to.include({ ProjectId: 2, ContactId: 2, ResourceId: 2, StepType: 2 });
    await temporal.close();
  });

  it('throws when an attribute exists with another type', async () => {
    const temporal = await bareNamespace();
    await temporal.connection.operatorService.addSearchAttributes({
      namespace: temporal.namespace,
      searchAttributes: { ProjectId: 3 },
    });
    const error = await ensureSearchAttributes(temporal).catch((reason: Error) => reason.message);
    expect(error).to.equal('Search attributes of the wrong type (Keyword is needed): ProjectId');
    await temporal.close();
  });
});
