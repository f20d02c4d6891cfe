import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { newId } from '../../platform/ids.ts';
import { languages } from '../../platform/languages.ts';
import { MailLinks } from '../../services/emails/links.ts';
import { preferencesTexts } from '../../web/preferences-texts.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { axeColorFindings, axeFindings, visit } from '../support/browser.ts';
import { addMailRows } from '../support/rows/mails.ts';

const KEY = 'a key of sixteen or more';
const PHONE = 375;

describeApi('pages of a contact in a browser', { env: { SECRET_KEY: KEY } }, (api) => {
  let project: ApiProject;
  let topicId: string;

  beforeEach(async () => {
    project = await api.project();
    const create = async (body: object): Promise<string> => (await project.server.post('/topics', body)).body.id;
    topicId = await create({
      name: 'Product news with a name that is so long that it needs several lines on a phone',
      description: 'Once a week, what is new.',
      consentText: 'Yes, send me news about the product. I can leave at any time.',
      defaultState: 'SUBSCRIBED',
    });
    await create({ name: 'Offers' });
    await create({ name: 'Parcel notices', kind: 'NOTIFICATION' });
  });

  const recipient = async (data: object = {}): Promise<{ id: string; token: string }> => {
    const { body } = await project.server.post('/contacts', { email: 'anna@example.com', data });
    const emailId = newId();
    await addMailRows(api.db, { id: emailId, projectId: project.id, contactId: body.id, status: 'SENT', topicId });
    const links = new MailLinks({ baseUrl: '', secretKeys: [KEY] });
    const token = links.contactLinks({ contactId: body.id, emailId }).manageUrl.split('/')[2] ?? '';
    return { id: body.id, token };
  };
  const topicsOf = async (id: string) => (await project.server.get(`/contacts/${id}/topics`)).body;
  const stateOf = async (id: string, key: string): Promise<string> =>
    (await topicsOf(id)).data.find((topic: { key: string }) => topic.key === key)?.state;
  const open = async (path: string, work: (page: Page) => Promise<void>): Promise<void> => {
    const visited = await visit({ url: api.url, width: PHONE });
    try {
      await visited.page.goto(api.url + path);
      await work(visited.page);
      expect(visited.complaints).to.deep.equal([]);
    } finally {
      await visited.close();
    }
  };
  const faultsOf = async (page: Page): Promise<string[]> => {
    const faults: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      faults.push(...(await (colorScheme === 'light' ? axeFindings : axeColorFindings)(page)));
    }
    const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    return excess > 0 ? [...faults, `scrolls sideways by ${excess} px`] : faults;
  };

  it('are chosen, saved and undone by keyboard and pointer, on a phone', async () => {
    const { id, token } = await recipient();
    await open(`/manage/${token}`, async (page) => {
      expect(await faultsOf(page)).to.deep.equal([]);
      await page.getByRole('checkbox', { name: 'Offers' }).check();
      await page.getByRole('checkbox', { name: 'Parcel notices' }).focus();
      await page.keyboard.press('Space');
      await page.getByLabel('Take a break').selectOption('1 month');
      await page.getByRole('button', { name: 'Save choices' }).click();
      await page.getByRole('status').getByText('Your choices are saved.').waitFor();
      expect(await faultsOf(page)).to.deep.equal([]);
      expect(await stateOf(id, 'offers')).to.equal('SUBSCRIBED');
      expect(await stateOf(id, 'parcel-notices')).to.equal('UNSUBSCRIBED');
      expect((await topicsOf(id)).snoozedUntil).to.be.a('string');
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('status').getByText('The change was undone.').waitFor();
      expect(await stateOf(id, 'offers')).to.equal('UNSUBSCRIBED');
      expect(await stateOf(id, 'parcel-notices')).to.equal('SUBSCRIBED');
      expect(await topicsOf(id)).to.include({ snoozedUntil: null });
      await page.getByRole('button', { name: 'Unsubscribe from all emails' }).click();
      await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
      expect(await topicsOf(id)).to.include({ subscribed: false });
    });
  });

  it('leave the topic of an email or all email, and lead to all choices', async () => {
    const { id, token } = await recipient();
    await open(`/unsubscribe/${token}`, async (page) => {
      expect(await faultsOf(page)).to.deep.equal([]);
      await page.getByRole('button', { name: /^Unsubscribe from “Product news/ }).click();
      await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
      expect(await faultsOf(page)).to.deep.equal([]);
      expect(await topicsOf(id)).to.include({ subscribed: true });
      await page.getByRole('link', { name: 'Manage your email preferences' }).click();
      await page.getByRole('checkbox', { name: /^Product news/, checked: false }).waitFor();
    });
    await open(`/subscribe/${token}`, async (page) => {
      expect(await faultsOf(page)).to.deep.equal([]);
      await page.getByRole('button', { name: /^Subscribe to/ }).click();
      await page.getByRole('heading', { name: 'You are subscribed' }).waitFor();
    });
  });

  it('have the look of the project, readable whatever its color is', async () => {
    const { token } = await recipient();
    for (const color of ['#ffee00', '#101010', '#808080']) {
      const look = {
        color,
        css: 'main { border-style: dashed; }',
        imprint: 'Acme Ltd.\nDublin',
        privacyUrl: 'https://example.com',
      };
      expect(await project.owner.patch(`/projects/${project.id}/pages`, look)).to.have.status(200);
      await open(`/manage/${token}`, async (page) => {
        expect(await faultsOf(page), color).to.deep.equal([]);
        expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).borderTopStyle`)).to.equal(
          'dashed',
        );
      });
    }
  });

  for (const language of languages)
    it(`fit on a phone in ${language}`, async () => {
      const texts = preferencesTexts[language];
      const { token } = await recipient({ locale: language });
      await open(`/manage/${token}`, async (page) => {
        await page.getByRole('heading', { level: 1, name: texts.title }).waitFor();
        expect(await faultsOf(page)).to.deep.equal([]);
      });
      await open(`/unsubscribe/${token}`, async (page) => {
        await page.getByRole('button', { name: texts.unsubscribeAll, exact: true }).waitFor();
        expect(await faultsOf(page)).to.deep.equal([]);
      });
    });
});
