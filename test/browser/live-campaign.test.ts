import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createProjectWithClients } from '../support/api.ts';
import { type Visit, visit, webAppEnv } from '../support/browser.ts';
import { addContacts } from '../support/campaigns.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';

const RECIPIENTS = 600;
const FIELDS = ['sentCount', 'pendingCount', 'failedCount', 'skippedCount', 'cancelledCount', 'unknownCount'];

describe('the live page of a campaign', () => {
  let [temporal, stack, opened]: [OwnNamespace?, Stack?, Visit?] = [];

  after(async () => {
    await opened?.close();
    await stack?.end();
    await temporal?.close();
  });

  it('pauses, resumes, and shows sums that close while a worker is killed', async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal, {
      ...(await webAppEnv()),
      RATE_LIMIT_PER_MINUTE: '0',
      SMTP_MAX_CONNECTIONS: '4',
    });
    const { smtp, database, api } = stack;
    const { id, cookie, server, ...project } = await createProjectWithClients(database.db, api.url);
    await addContacts(database.db, { id, ...project }, RECIPIENTS);
    smtp.misbehave({ at: 'recipient', to: 'p7@example.com', do: { code: 550, text: 'no such user' } });
    smtp.misbehave({ at: 'message', do: { delayMs: 15 } });
    const campaign = { name: 'Spring', subject: 'Hi', body: '<p>Hi</p>', audienceType: 'ALL' };
    const created = await server.post('/campaigns', { ...campaign, from: `news@${project.senderDomain}` });
    const campaignId = created.body.data.id;
    const worker = await stack.startWorker();
    expect(await server.post(`/campaigns/${campaignId}/send`, {})).to.have.status(200);

    opened = await visit({ url: api.url, cookie });
    const { page, complaints } = opened;
    await page.goto(`${api.url}/app/p/${id}/campaigns/${campaignId}`);
    await smtp.received(60);
    await worker.kill();
    await expectClosedSums(page);
    await stack.startWorker();
    await smtp.received(150);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await expectClosedSums(page);
    await page.getByRole('button', { name: 'Resume' }).click();

    await page.getByText('Sent', { exact: true }).first().waitFor({ timeout: 120_000 });
    await page.locator('[data-outcome=pendingCount]').getByText('0', { exact: true }).waitFor();
    await expectClosedSums(page);
    await page.locator('[data-outcome=failedCount]').getByText('1', { exact: true }).waitFor();
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByRole('link', { name: 'p7@example.com' }).waitFor();
    await page.getByText(/550.*no such user/).waitFor();
    expect(complaints).to.deep.equal([]);
  });
});

/** Reads all numbers at one moment: the page shows them from one answer. */
async function expectClosedSums(page: Page): Promise<void> {
  await page.locator('[data-outcome=sentCount]').waitFor();
  const shown = await page.evaluate<Record<string, string>>(
    `Object.fromEntries([...document.querySelectorAll('[data-outcome]')].map((e) => [e.dataset.outcome, e.textContent]))`,
  );
  const sum = FIELDS.map((field) => Number(shown[field]?.replaceAll(',', ''))).reduce((a, b) => a + b, 0);
  expect(sum, JSON.stringify(shown)).to.equal(RECIPIENTS);
}
