// Emails of the visual editor, from the API to the mailbox.
import { expect } from 'chai';
import type { Email } from 'postal-mime';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const text = (value: string, href?: string) => ({
  type: 'text',
  text: value,
  ...(href && { marks: [{ type: 'link', attrs: { href } }] }),
});
const paragraph = (...content: object[]) => ({ type: 'paragraph', content });
const chip = (name: string, fallback: string | null = null) => ({ type: 'variable', attrs: { name, fallback } });

const document = {
  version: 1,
  preheader: [text('In the inbox only')],
  content: [
    { type: 'heading', content: [text('Hello {{firstName ?? "there"}}')] },
    {
      type: 'condition',
      attrs: { test: { field: 'data.plan', operator: 'equals', value: 'pro' } },
      content: [
        paragraph(text('For professionals')),
        { type: 'otherwise', content: [paragraph(text('For everybody'))] },
      ],
    },
    {
      type: 'repeat',
      attrs: { list: 'items', item: 'item' },
      content: [paragraph(text('Item: '), chip('item.name'))],
    },
    paragraph(text('Text is never code: { <b> &')),
    { type: 'button', attrs: { href: 'https://shop.example/offer' }, content: [text('See the offer')] },
    {
      type: 'footer',
      content: [paragraph(chip('address')), paragraph(text('Leave the list', '{{ unsubscribeUrl }}'))],
    },
  ],
};
describe('an email of the visual editor', () => {
  let namespace: OwnNamespace;
  let stack: Stack;
  let from: string;

  before(async () => {
    namespace = await ownNamespace();
    stack = await startStack(namespace);
    await stack.startWorker();
    from = `news@${stack.project.senderDomain}`;
  });
  after(async () => {
    await stack?.end();
    await namespace?.close();
  });

  const received = async (to: string): Promise<Email> => {
    const [mail] = await stack.smtp.received(1, { to });
    if (!mail) throw new Error(`no mail to ${to}`);
    return mail.parsed();
  };
  const addContact = (email: string, data: object) => stack.server.post('/contacts', { email, data, subscribed: true });
  const createCampaign = async (content: object, audience: string): Promise<{ id: string; body: string }> => {
    const filters = [{ field: 'email', operator: 'contains', value: audience }];
    const answer = await stack.server.post('/campaigns', {
      name: 'News',
      subject: 'News for {{ firstName ?? "you" }}',
      from,
      audienceType: 'FILTERED',
      audienceCondition: { logic: 'AND', groups: [{ filters }] },
      ...content,
    });
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    return answer.body.data;
  };

  it('reaches each recipient with chips, branch, list, one footer and a clean text part, and counts its links', async () => {
    await stack.server.put('/brand-kit', { address: 'Example Ltd, 1 Main Street' });
    await addContact('pro@reader.example', {
      firstName: 'Ann & Co',
      plan: 'pro',
      items: [{ name: 'Tea' }, { name: 'Cake' }],
    });
    await addContact('free@reader.example', {});
    const { id } = await createCampaign({ document }, '@reader.example');
    expect(await stack.server.post(`/campaigns/${id}/send`, {})).to.have.status(200);
    const [pro, free] = [await received('pro@reader.example'), await received('free@reader.example')];

    expect(pro.subject).to.equal('News for Ann & Co');
    expect(pro.html)
      .to.include('Hello Ann &amp; Co')
      .and.include('For professionals')
      .and.include('Text is never code');
    expect(pro.html).to.include('Tea').and.include('Cake').and.not.include('For everybody');
    expect(free.subject).to.equal('News for you');
    expect(free.html).to.include('Hello there').and.include('For everybody').and.not.include('For professionals');
    expect(free.html).not.to.include('Item:');
    for (const { html = '', text: plain = '' } of [pro, free]) {
      expect(html, 'no tag is left').not.to.match(/\{[{%]/);
      expect(html.match(/Leave the list/g)).to.have.length(1);
      expect(html, 'our footer is left out').not.to.include('Manage your subscription');
      expect(html).to.include('1 Main Street');
      expect(plain).to.include('Text is never code: { <b> &').and.include('See the offer').and.include('1 Main Street');
      expect(plain, 'neither preheader, filler nor code').not.to.match(/In the inbox only|\u034f|\u200c|<\/|\{\{/);
    }

    const click = /href="([^"]+\/t\/c\/[^"]+)"/.exec(pro.html ?? '')?.[1] ?? '';
    const followed = await fetch(stack.api.url + new URL(click).pathname, { redirect: 'manual' });
    expect(followed.headers.get('location')).to.equal('https://shop.example/offer');
    const [link] = await eventually(
      async () => {
        const { data } = (await stack.server.get(`/campaigns/${id}/links`)).body;
        return data.length > 0 && data;
      },
      { what: 'the click' },
    );
    expect(link).to.include({ link: 'https://shop.example/offer', clicks: 1, uniqueClicks: 1 });
  });

  it('is sent as it was scheduled, whatever happens to brand and saved blocks since', async () => {
    await addContact('late@later.example', {});
    const block = {
      name: 'Header',
      kind: 'HEADER',
      document: { version: 1, content: [paragraph(text('Old header'))] },
    };
    const { id: blockId } = (await stack.server.post('/saved-blocks', block)).body;
    const saved = { type: 'saved', attrs: { blockId } };
    const { id, body } = await createCampaign(
      { document: { ...document, content: [saved, ...document.content] } },
      '@later.example',
    );
    const draft = await createCampaign(
      { document: { ...document, content: [saved, ...document.content] } },
      '@later.example',
    );
    const scheduledFor = '2099-01-01T00:00:00Z';
    expect(await stack.server.post(`/campaigns/${id}/send`, { scheduledFor })).to.have.status(200);

    await stack.server.put('/brand-kit', { colors: { text: '#123456' }, address: 'Elsewhere' });
    await stack.server.patch(`/saved-blocks/${blockId}`, {
      document: { version: 1, content: [paragraph(text('New header'))] },
    });
    for (const path of ['/brand-kit/apply', `/saved-blocks/${blockId}/apply`]) {
      const { jobId } = (await stack.server.post(path)).body;
      await eventually(async () => (await stack.server.get(`/jobs/${jobId}`)).body.status === 'COMPLETED', {
        what: 'the end of the job',
      });
    }
    expect((await stack.server.get(`/campaigns/${draft.id}`)).body.body)
      .to.include('New header')
      .and.include('#123456');
    expect((await stack.server.get(`/campaigns/${id}`)).body.body).to.equal(body);

    expect(await stack.server.post(`/campaigns/${id}/send`, {})).to.have.status(200);
    const { html } = await received('late@later.example');
    expect(html).to.include('Old header').and.include('1 Main Street');
    expect(html).not.to.match(/New header|#123456|Elsewhere/);
  });
});
