import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { readMail } from '../support/reading.ts';
import { storedAttachments, storedContent, storedContents } from '../support/rows/mails.ts';
import { setDomainStatus } from '../support/rows/projects.ts';
import { countRows } from '../support/rows/tables.ts';

const file = (more: object = {}) => ({
  filename: 'a.txt',
  content: Buffer.from('hello').toString('base64'),
  contentType: 'text/plain',
  ...more,
});

const options = { env: { ATTACHMENT_MAX_BYTES: '1000', MESSAGE_MAX_BYTES: '20000' } };

describeApi('POST /v1/send with headers, attachments or a template', options, (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
  });

  const send = (more: object = {}, headers: Record<string, string> = {}) =>
    project.server.post(
      '/v1/send',
      {
        to: 'ann@example.com',
        from: `hello@${project.senderDomain}`,
        subject: 'Hello',
        body: '<p>Hello</p>',
        ...more,
      },
      headers,
    );
  const idOf = async (more: object): Promise<string> => {
    const answer = await send(more);
    expect(answer).to.have.status(200);
    return answer.body.data.emails[0].email;
  };
  const contentOf = async (more: object) => storedContent(api.db, await idOf(more));
  const written = async () => {
    const [mails, contacts, files] = await Promise.all(
      ['emails', 'contacts', 'email_attachments'].map((table) => countRows(api.db, table)),
    );
    return { mails, contacts, files };
  };

  it('stores non-persistent data with the mail only, and the rest on the contact', async () => {
    const data = { plan: 'pro', code: { value: 'X1', persistent: false }, email: 'forged@example.com', empty: '' };
    const { variables } = await contentOf({ to: 'vars@example.com', data });
    expect(variables).to.deep.equal({ plan: 'pro', code: 'X1' });
    const { body } = await project.server.get('/contacts?search=vars%40example.com');
    expect(body.data[0].data).to.deep.equal({ plan: 'pro' });
    expect((await contentOf({})).variables).to.equal(null);
  });

  describe('headers', () => {
    it('are stored, including those that replace ours', async () => {
      const headers = {
        'X-Order': '7',
        'reply-to': 'x@example.com',
        'List-Unsubscribe': '<https://x.test>',
        'X-E': '',
      };
      expect((await contentOf({ headers })).headers).to.deep.equal(headers);
      expect((await contentOf({ headers: {} })).headers).to.equal(null);
      expect((await contentOf({ headers: null })).headers).to.equal(null);
    });

    const reserved = [
      'From',
      'SENDER',
      'to',
      'Cc',
      'bcc',
      'Subject',
      'Date',
      'Message-ID',
      'Return-Path',
      'Received',
      'MIME-Version',
      'Content-Type',
      'content-transfer-encoding',
      'DKIM-Signature',
      'ARC-Seal',
      'Authentication-Results',
      'X-Everpost-Id',
    ];
    for (const name of reserved)
      it(`rejects ${name} with 422`, async () => {
        expect(await send({ headers: { 'X-Fine': 'yes', [name]: 'x' } })).to.have.validationError(
          `headers.${name}`,
          'custom',
        );
      });

    const steering = [
      'X-SMTPAPI',
      'x-smtpapi',
      'X-SES-CONFIGURATION-SET',
      'X-MC-Subaccount',
      'x-mailgun-tag',
      'X-MSYS-API',
      'X-PM-Message-Stream',
      'X-MJ-CustomID',
      'X-Mailin-Tag',
      'X-SparkPost-Options',
      'X-Virtual-MTA',
      'X-JOB',
    ];
    for (const name of steering)
      it(`rejects ${name}, which controls a relay, with 422`, async () => {
        const answer = await send({ headers: { 'X-Fine': 'yes', [name]: 'x' } });
        expect(answer).to.have.validationError(`headers.${name}`, 'custom');
        expect(answer).to.have.status(422);
      });

    it('accepts names that only resemble those that control a relay', async () => {
      const headers = { 'X-Jobs': 'x', 'X-Session': 'x', 'X-SMTPAPI-Like': 'x', 'X-Virtual-MTAs': 'x', 'X-PMX': 'x' };
      expect(await send({ headers })).to.have.status(200);
    });

    it('report every invalid header', async () => {
      const answer = await send({ headers: { From: 'a', 'X-Long': 'x'.repeat(999), 'X-Number': 5, 'X-Fine': 'y' } });
      const fields = answer.body.error.errors.map(({ field }: { field: string }) => field);
      expect(fields).to.have.members(['headers.From', 'headers.X-Long', 'headers.X-Number']);
    });

    const faulty: [string, unknown, string, string][] = [
      ['a line break in a name', { 'X-A\r\nBcc': 'x' }, 'headers.X-A\r\nBcc', 'custom'],
      ['a space in a name', { 'X A': 'x' }, 'headers.X A', 'custom'],
      ['a colon in a name', { 'X:A': 'x' }, 'headers.X:A', 'custom'],
      ['an empty name', { '': 'x' }, 'headers.', 'custom'],
      ['a carriage return in a value', { 'X-A': 'x\rBcc: y@z.co' }, 'headers.X-A', 'invalid_string'],
      ['a line feed in a value', { 'X-A': 'x\nBcc: y@z.co' }, 'headers.X-A', 'invalid_string'],
      ['a value of 999 characters', { 'X-A': 'x'.repeat(999) }, 'headers.X-A', 'too_big'],
      ['a value that is a number', { 'X-A': 5 }, 'headers.X-A', 'invalid_type'],
      ['the same name in another case', { 'X-A': 'x', 'x-a': 'y' }, 'headers', 'custom'],
      ['a list', ['x'], 'headers', 'invalid_type'],
    ];
    for (const [what, headers, field, code] of faulty)
      it(`are rejected with ${what}`, async () => {
        expect(await send({ headers })).to.have.validationError(field, code);
      });

    it('accept a value of 998 characters', async () => {
      expect(await send({ headers: { 'X-A': 'x'.repeat(998) } })).to.have.status(200);
    });
  });

  describe('attachments', () => {
    it('are stored once for all recipients, in their order', async () => {
      const attachments = [
        file(),
        file({ filename: 'ü 😀.png', contentType: 'image/png', contentId: 'logo@x', disposition: 'inline' }),
      ];
      const answer = await send({ to: ['a@example.com', 'b@example.com'], attachments });
      expect(answer).to.have.status(200);
      const ids = answer.body.data.emails.map(({ email }: { email: string }) => email);
      const sets = await storedContents(api.db, {}).whereIn('emailId', ids).select('attachmentSet');
      expect(sets[0].attachmentSet).to.be.a('string').and.equal(sets[1].attachmentSet);
      const files = await storedAttachments(api.db, sets[0].attachmentSet);
      expect(files.map(({ content, setId, ...rest }) => ({ ...rest, content: String(content) }))).to.deep.equal([
        {
          position: 0,
          filename: 'a.txt',
          contentType: 'text/plain',
          contentId: null,
          disposition: 'attachment',
          content: 'hello',
        },
        {
          position: 1,
          filename: 'ü 😀.png',
          contentType: 'image/png',
          contentId: 'logo@x',
          disposition: 'inline',
          content: 'hello',
        },
      ]);
    });

    it('may be base64 with line breaks, ten, none, or have a type with parameters', async () => {
      expect(await send({ attachments: [file({ content: 'aGVs\r\nbG8=\n' })] })).to.have.status(200);
      expect(await send({ attachments: Array(10).fill(file()) })).to.have.status(200);
      expect(await send({ attachments: [] })).to.have.status(200);
      const contentType = 'text/calendar; charset=utf-8; method="REQUEST"';
      expect(await send({ attachments: [file({ contentType })] })).to.have.status(200);
    });

    const faulty: [string, object, string, string][] = [
      ['no file name', { filename: undefined }, 'filename', 'required'],
      ['an empty file name', { filename: '' }, 'filename', 'too_small'],
      ['a line break in the file name', { filename: 'a\r\nContent-Type: x' }, 'filename', 'invalid_string'],
      ['a quote in the file name', { filename: 'a".exe' }, 'filename', 'invalid_string'],
      ['a path as the file name', { filename: '../../etc/passwd' }, 'filename', 'invalid_string'],
      ['a Windows path', { filename: 'C:\\x.exe' }, 'filename', 'invalid_string'],
      ['only dots', { filename: '..' }, 'filename', 'invalid_string'],
      ['a right-to-left override in the file name', { filename: 'a\u202efdp.exe' }, 'filename', 'invalid_string'],
      ['a file name of 256 characters', { filename: 'x'.repeat(256) }, 'filename', 'too_big'],
      ['no content', { content: undefined }, 'content', 'required'],
      ['content that is not base64', { content: 'not base64!' }, 'content', 'invalid_string'],
      ['base64 cut short', { content: 'aGVsbG8' }, 'content', 'invalid_string'],
      ['padding in the middle', { content: 'aGV=bG8=' }, 'content', 'invalid_string'],
      ['content that is an object', { content: {} }, 'content', 'invalid_type'],
      ['no type', { contentType: undefined }, 'contentType', 'required'],
      ['an invalid type', { contentType: 'pdf' }, 'contentType', 'invalid_string'],
      ['a line break in the type', { contentType: 'text/plain\r\nX: y' }, 'contentType', 'invalid_string'],
      ['a multipart type', { contentType: 'multipart/mixed; boundary=x' }, 'contentType', 'invalid_string'],
      ['an unknown disposition', { disposition: 'hidden' }, 'disposition', 'invalid_enum'],
      ['inline without a contentId', { disposition: 'inline' }, 'contentId', 'required'],
      ['a contentId with a bracket and a line break', { contentId: 'a>\r\nX: y' }, 'contentId', 'invalid_string'],
    ];
    for (const [what, more, field, code] of faulty)
      it(`are rejected with ${what}`, async () => {
        expect(await send({ attachments: [file(), file(more)] })).to.have.validationError(
          `attachments.1.${field}`,
          code,
        );
      });

    it('are rejected when there are eleven or too many bytes, and nothing is written', async () => {
      const before = await written();
      const big = file({ content: Buffer.alloc(501).toString('base64') });
      expect(await send({ to: 'new1@example.com', attachments: Array(11).fill(file()) })).to.have.validationError(
        'attachments',
        'too_big',
      );
      expect(await send({ to: 'new2@example.com', attachments: [big, big] })).to.have.validationError(
        'attachments',
        'too_big',
      );
      expect(await written()).to.deep.equal(before);
      const half = file({ content: Buffer.alloc(500).toString('base64') });
      expect(await send({ attachments: [half, half] })).to.have.status(200);
    });

    it('are not stored when the domain is not verified', async () => {
      const before = await written();
      const answer = await send({ to: 'new3@example.com', from: 'x@unverified.example', attachments: [file()] });
      expect(answer).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
      expect(await written()).to.deep.equal(before);
    });

    it('are removed with the last contact that received them', async () => {
      const answer = await send({ to: ['c@example.com', 'd@example.com'], attachments: [file()] });
      const [first, second] = answer.body.data.emails;
      const [{ attachmentSet: setId }] = await storedContents(api.db, { emailId: first.email });
      expect(await project.server.delete(`/contacts/${first.contact.id}`)).to.have.status(204);
      expect(await storedAttachments(api.db, setId)).to.have.length(1);
      expect(await project.server.delete(`/contacts/${second.contact.id}`)).to.have.status(204);
      expect(await storedAttachments(api.db, setId)).to.deep.equal([]);
    });
  });

  describe('template', () => {
    const template = async (more: object = {}): Promise<string> => {
      const body = {
        name: 'Welcome',
        subject: 'Hi {{ name }}',
        body: '<p>{{ name }}</p>',
        type: 'TRANSACTIONAL',
        from: `Team <team@${project.senderDomain}>`,
        replyTo: 'help@example.com',
        ...more,
      };
      const answer = await project.server.post('/templates', body);
      expect(answer).to.have.status(201);
      return answer.body.id;
    };
    const bare = { from: undefined, subject: undefined, body: undefined };

    it('provides subject, body, sender and reply address', async () => {
      const id = await template();
      const email = await idOf({ ...bare, template: id });
      expect(await storedContent(api.db, email)).to.include({
        subject: 'Hi {{ name }}',
        html: '<p>{{ name }}</p>',
        fromEmail: `team@${project.senderDomain}`,
        fromName: 'Team',
        replyTo: 'help@example.com',
        type: 'TRANSACTIONAL',
      });
      expect(await readMail(project, email)).to.include({ templateId: id });
    });

    it('is overridden by fields of the request', async () => {
      const id = await template();
      const own = { subject: 'Own', body: '<b>Own</b>', from: `own@${project.senderDomain}`, reply: 'own@example.com' };
      expect(await contentOf({ ...own, template: id })).to.include({
        subject: 'Own',
        html: '<b>Own</b>',
        fromEmail: own.from,
        fromName: null,
        replyTo: 'own@example.com',
      });
    });

    it('is rejected with 404 when it is unknown or belongs to another project', async () => {
      expect(await send({ template: newId() })).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
      const other = await api.project();
      const id = await template();
      const answer = await other.server.post('/v1/send', { to: 'a@example.com', template: id });
      expect(answer).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
    });

    it('is rejected with 422 when its id is invalid or no sender is given', async () => {
      expect(await send({ template: 'welcome' })).to.have.validationError('template', 'invalid_string');
      const id = await template({ from: undefined });
      expect(await send({ ...bare, template: id })).to.have.validationError('from', 'required');
      expect(await send({ ...bare, template: id, from: `x@${project.senderDomain}` })).to.have.status(200);
    });

    it('is rejected with 403 when the domain of its sender is no longer verified', async () => {
      const id = await template();
      await setDomainStatus(api.db, project.id, 'PENDING');
      try {
        expect(await send({ ...bare, template: id })).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
      } finally {
        await setDomainStatus(api.db, project.id, 'VERIFIED');
      }
    });

    it('is rejected with 413 when the message would be too large', async () => {
      const id = await template({ body: 'x'.repeat(19_000) });
      const attachments = [file({ content: Buffer.alloc(1000).toString('base64') })];
      const answer = await send({ ...bare, template: id, attachments });
      expect(answer).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
    });

    it('is rejected with 413 when encoding makes the message too large', async () => {
      expect(await send({ body: 'x'.repeat(17_000) })).to.have.status(200);
      for (const body of ['é'.repeat(8_500), '='.repeat(10_000)])
        expect(await send({ body })).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
    });

    for (const type of ['MARKETING', 'HEADLESS'])
      describe(`that is ${type}`, () => {
        let id: string;

        before(async () => {
          id = await template({ type: 'MARKETING' });
          if (type === 'HEADLESS') await project.server.patch(`/templates/${id}`, { type });
        });

        it('is rejected with 400 and the address of an unsubscribed recipient, and nothing is accepted', async () => {
          const known = `${type.toLowerCase()}@example.com`;
          await project.server.post('/contacts', { email: known });
          const before = await written();
          const stranger = `new-${type.toLowerCase()}@example.com`;
          const answer = await send({ ...bare, template: id, to: [known, stranger] }, { 'idempotency-key': type });
          expect(answer).to.be.envelope(400, 'BAD_REQUEST');
          expect(answer.body.error.message).to.contain(stranger).and.not.contain(` ${known}`);
          expect(await written()).to.deep.equal(before);
          const again = await send({ ...bare, template: id, to: [known] }, { 'idempotency-key': type });
          expect(again, 'the key was not consumed').to.have.status(200);
        });

        it('is sent to subscribed contacts, also when the request itself subscribes them', async () => {
          const email = `sub-${type.toLowerCase()}@example.com`;
          const content = await contentOf({ ...bare, template: id, to: email, subscribed: true });
          expect(content).to.include({ type });
        });
      });
  });
});
