import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { returnToken } from '../../services/emails/return-token.ts';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { makeCertificate } from '../support/certificate.ts';
import { readEventsOfMail } from '../support/reading.ts';
import { markSent } from '../support/rows/mails.ts';
import { type SnsStandIn, startSns, TOPIC } from '../support/sns.ts';

const SECRET_KEY = 'the secret key of these tests';

describe('POST /webhooks/sns', () => {
  let api: TestApi;
  let sns: SnsStandIn;
  let project: ApiProject;
  const stranger = makeCertificate();
  const expired = makeCertificate({ from: -2_000_000, to: -1_000_000 });

  before(async () => {
    sns = await startSns({
      '/expired.pem': expired.pem,
      '/huge.pem': 'x'.repeat(1_000_000),
      '/junk.pem': 'no certificate',
    });
    api = await startTestApi({ env: { SNS_TOPIC_ARNS: TOPIC, SNS_CERT_HOSTS: sns.host, SECRET_KEY } });
    project = await api.project();
  });
  after(async () => {
    await api.stop();
    await sns.stop();
  });

  const post = (message: unknown) =>
    api.post('/webhooks/sns', typeof message === 'string' ? message : JSON.stringify(message), {
      'content-type': 'text/plain; charset=UTF-8',
    });
  const notify = async (payload: unknown, version?: '1' | '2') => {
    const answer = await post(sns.sign(sns.notification(payload), version ? { version } : {}));
    expect(answer).to.have.status(200);
    await applyNotices(api.db);
    return answer.body.outcome;
  };
  let made = 0;
  /** A mail that the relay has accepted under its own id. */
  const sent = async () => {
    const providerMessageId = `0102018${++made}-${newId()}`;
    const to = `user${made}@example.com`;
    const mail = { to, from: `a@${project.senderDomain}`, subject: 'Hi', body: 'Hi', subscribed: true };
    const [{ email: id, contact }] = (await project.server.post('/v1/send', mail)).body.data.emails;
    await markSent(api.db, id, { providerMessageId });
    return { id, contactId: contact.id, ses: { messageId: providerMessageId, headers: [] as unknown[] } };
  };
  const statusOf = async (id: string) => (await project.server.get(`/emails/${id}`)).body.status;
  const subscribed = async (id: string) => (await project.server.get(`/contacts/${id}`)).body.subscribed;
  const eventsOf = async (emailId: string) => (await readEventsOfMail(project, emailId)).map(({ name }) => name);

  describe('a genuine notice', () => {
    it('of a delivery sets the mail to DELIVERED, with either signature version', async () => {
      for (const version of ['1', '2'] as const) {
        const { id, ses } = await sent();
        const payload = { notificationType: 'Delivery', mail: ses, delivery: { timestamp: new Date().toISOString() } };
        expect(await notify(payload, version)).to.equal('recorded');
        expect(await statusOf(id)).to.equal('DELIVERED');
        expect(await eventsOf(id)).to.deep.equal(['email.delivery']);
      }
    });

    it('of a permanent bounce unsubscribes the contact and suppresses the address', async () => {
      const { id, contactId, ses } = await sent();
      const bounce = { bounceType: 'Permanent', bouncedRecipients: [{ diagnosticCode: 'smtp; 550 no such user' }] };
      await notify({ eventType: 'Bounce', mail: ses, bounce });
      const { body } = await project.server.get(`/emails/${id}`);
      expect(body).to.include({ status: 'BOUNCED', reason: 'smtp; 550 no such user' });
      expect(await subscribed(contactId)).to.equal(false);
      expect(await eventsOf(id)).to.deep.equal(['email.bounce', 'contact.unsubscribed']);
      const { data } = (await project.server.get('/suppressions')).body;
      expect(data[0]).to.include({ emailId: id, reason: 'HARD_BOUNCE' });
    });

    for (const bounceType of ['Transient', 'Undetermined', 'Novel'])
      it(`of a ${bounceType} bounce leaves the contact subscribed`, async () => {
        const { id, contactId, ses } = await sent();
        await notify({ eventType: 'Bounce', mail: ses, bounce: { bounceType } });
        expect(await statusOf(id)).to.equal('BOUNCED');
        expect(await subscribed(contactId)).to.equal(true);
      });

    it('of a complaint unsubscribes the contact', async () => {
      const { id, contactId, ses } = await sent();
      await notify({ eventType: 'Complaint', mail: ses, complaint: { complaintFeedbackType: 'abuse' } });
      expect(await statusOf(id)).to.equal('COMPLAINED');
      expect(await subscribed(contactId)).to.equal(false);
    });

    it('of a rejected mail sets it to BOUNCED and leaves the contact subscribed', async () => {
      const { id, contactId, ses } = await sent();
      await notify({ eventType: 'Reject', mail: ses, reject: { reason: 'Bad content' } });
      const { body } = await project.server.get(`/emails/${id}`);
      expect(body).to.include({ status: 'BOUNCED', reason: 'rejected: Bad content' });
      expect(await subscribed(contactId)).to.equal(true);
    });

    it('of an open or click is recorded', async () => {
      const { id, ses } = await sent();
      await notify({ eventType: 'Open', mail: ses, open: { timestamp: new Date().toISOString() } });
      expect(await statusOf(id)).to.equal('OPENED');
      await notify({ eventType: 'Click', mail: ses, click: { link: 'https://shop.example/' } });
      expect(await statusOf(id)).to.equal('CLICKED');
      const click = (await readEventsOfMail(project, id)).find(({ name }) => name === 'email.click');
      expect(click.data.link).to.equal('https://shop.example/');
    });

    it('finds the mail by our header when the relay gave it another id', async () => {
      const { id } = await sent();
      const headers = [{ name: 'X-EVERPOST-ID', value: returnToken([SECRET_KEY], id) }];
      await notify({ eventType: 'Delivery', mail: { messageId: 'something-else', headers } });
      expect(await statusOf(id)).to.equal('DELIVERED');
    });

    it('that arrives late never moves the status of a mail backwards', async () => {
      const { id, ses } = await sent();
      await notify({ eventType: 'Complaint', mail: ses, complaint: {} });
      await notify({ eventType: 'Open', mail: ses, open: {} });
      await notify({ eventType: 'Delivery', mail: ses, delivery: {} });
      expect(await statusOf(id)).to.equal('COMPLAINED');
    });

    it('that is repeated counts once', async () => {
      const { id, ses } = await sent();
      const message = sns.sign(sns.notification({ eventType: 'Open', mail: ses, open: {} }));
      const outcomes = [];
      for (let n = 0; n < 3; n++) outcomes.push((await post(message)).body.outcome);
      const together = await Promise.all(Array.from({ length: 5 }, () => post(message)));
      expect(outcomes).to.deep.equal(['recorded', 'repeated', 'repeated']);
      expect(together.map(({ body }) => body.outcome)).to.deep.equal(Array(5).fill('repeated'));
      await applyNotices(api.db);
      expect(await eventsOf(id)).to.deep.equal(['email.open']);
    });

    it('that is weeks old is ignored', async () => {
      const { id, ses } = await sent();
      const Timestamp = new Date(Date.now() - 20 * 86_400_000).toISOString();
      const message = sns.notification({ eventType: 'Delivery', mail: ses }, { Timestamp });
      expect((await post(sns.sign(message))).body.outcome).to.equal('ignored');
      expect(await statusOf(id)).to.equal('SENT');
    });

    it('of an unknown kind is answered with 200 and ignored', async () => {
      const { ses } = await sent();
      const strange: unknown[] = [
        { eventType: 'Send', mail: ses },
        { eventType: 'DeliveryDelay', mail: ses },
        { eventType: 'Novelty', mail: ses },
        { eventType: 'Complaint', mail: ses, complaint: { complaintFeedbackType: 'not-spam' } },
        { eventType: 'Delivery' },
        { eventType: 'Delivery', mail: { headers: 'x', messageId: 5 } },
        { eventType: ['Delivery'], mail: ses },
        { notificationType: 'AmazonSnsSubscriptionSucceeded' },
        'plain text',
        'null',
        '[]',
        '',
      ];
      for (const payload of strange) expect(await notify(payload), JSON.stringify(payload)).to.equal('ignored');
      expect(await notify({ eventType: 'Delivery', mail: { messageId: 'of-nobody' } })).to.equal('recorded');
    });

    it('with a subject or of an unknown type is verified like the others', async () => {
      const { ses } = await sent();
      const Subject = 'Amazon SES Email Event Notification';
      const payload = { eventType: 'Delivery', mail: ses };
      expect(await post(sns.sign(sns.notification(payload, { Subject })))).to.have.status(200);
      expect((await post(sns.sign(sns.confirmation({ Type: 'UnsubscribeConfirmation' })))).body.outcome).to.equal(
        'ignored',
      );
    });
  });

  describe('a forged notice is rejected with 403 and changes nothing', () => {
    let id: string;
    let payload: unknown;

    beforeEach(async () => {
      const mail = await sent();
      id = mail.id;
      payload = { eventType: 'Bounce', mail: mail.ses, bounce: { bounceType: 'Permanent' } };
    });

    const refuses = async (message: unknown) => {
      expect(await post(message)).to.be.envelope(403, 'FORBIDDEN');
      await applyNotices(api.db);
      expect(await statusOf(id)).to.equal('SENT');
    };

    it('when it is signed with another key', () => refuses(sns.sign(sns.notification(payload), { by: stranger })));

    it('when a signed field is changed', async () => {
      const message = sns.sign(sns.notification('{}'));
      await refuses({ ...message, Message: JSON.stringify(payload) });
      await refuses({ ...message, MessageId: newId() });
      await refuses({ ...message, Timestamp: new Date(0).toISOString() });
      await refuses({ ...message, Subject: 'new' });
      await refuses({ ...message, Type: 'SubscriptionConfirmation', SubscribeURL: `https://${sns.host}/confirm` });
    });

    it('when its signature version differs from the one used', async () => {
      await refuses({ ...sns.sign(sns.notification(payload)), SignatureVersion: '1' });
      await refuses({ ...sns.sign(sns.notification(payload)), SignatureVersion: '3' });
      await refuses({ ...sns.sign(sns.notification(payload)), SignatureVersion: '__proto__' });
    });

    it('when it comes from another topic, without fetching its certificate', async () => {
      const before = sns.requests.length;
      const TopicArn = 'arn:aws:sns:eu-west-1:999999999999:mail';
      await refuses(sns.sign(sns.notification(payload, { TopicArn, SigningCertURL: `https://${sns.host}/other.pem` })));
      expect(sns.requests).to.have.length(before);
    });

    it('when its certificate is on another host, without fetching it', async () => {
      const before = sns.requests.length;
      for (const SigningCertURL of [
        'https://evil.example/cert.pem',
        `https://${sns.host}.evil.example/cert.pem`,
        `https://user@${sns.host}/cert.pem`,
        `https://${sns.host}/cert.txt`,
        'https://127.0.0.1/cert.pem',
        `ftp://${sns.host}/cert.pem`,
        'file:///etc/ssl/cert.pem',
        'cert.pem',
        '',
      ])
        await refuses({ ...sns.sign(sns.notification(payload)), SigningCertURL });
      expect(sns.requests).to.have.length(before);
    });

    it('when its certificate is expired, invalid, too large or missing', async () => {
      const url = (name: string) => ({ SigningCertURL: `https://${sns.host}/${name}.pem` });
      await refuses(sns.sign(sns.notification(payload, url('expired')), { by: expired }));
      for (const name of ['junk', 'huge', 'missing']) await refuses(sns.sign(sns.notification(payload, url(name))));
    });

    it('when it does not have the shape of a message', async () => {
      const { Signature: _, ...unsigned } = sns.sign(sns.notification(payload));
      for (const body of [
        {},
        [],
        null,
        5,
        'text',
        unsigned,
        { ...unsigned, Signature: 5 },
        { ...unsigned, Signature: '' },
      ])
        await refuses(JSON.stringify(body));
    });
  });

  it('answers 400 to a body that is not JSON, and 413 to 10 MB', async () => {
    expect(await post('{')).to.be.envelope(400, 'BAD_REQUEST');
    expect(await post('x'.repeat(10 * 1024 * 1024))).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
  });

  describe('a subscription', () => {
    it('is confirmed on a host of the provider', async () => {
      expect((await post(sns.sign(sns.confirmation()))).body).to.include({ outcome: 'confirmed' });
      expect(sns.requests).to.include('/confirm?Token=t');
    });

    it('is rejected with 403 on any other host, although it is genuine', async () => {
      const SubscribeURL = 'https://evil.example/confirm';
      expect(await post(sns.sign(sns.confirmation({ SubscribeURL })))).to.be.envelope(403, 'FORBIDDEN');
    });

    it('is answered with 502 when it cannot be confirmed, so that the provider retries', async () => {
      const SubscribeURL = `https://${sns.host}/nowhere`;
      const answer = await post(sns.sign(sns.confirmation({ SubscribeURL })));
      expect(answer).to.be.envelope(502, 'EXTERNAL_SERVICE_ERROR');
    });
  });

  it('answers 502 while the certificate cannot be fetched, so that the provider retries', async () => {
    const unavailable = await startSns();
    const other = await startTestApi({ env: { SNS_TOPIC_ARNS: TOPIC, SNS_CERT_HOSTS: unavailable.host } });
    const message = JSON.stringify(unavailable.sign(unavailable.notification({})));
    await unavailable.stop();
    expect(await other.post('/webhooks/sns', message)).to.be.envelope(502, 'EXTERNAL_SERVICE_ERROR');
    await other.stop();
  });

  it('accepts certificates of a host that is listed without a port', async () => {
    const other = await startTestApi({ env: { SNS_TOPIC_ARNS: TOPIC, SNS_CERT_HOSTS: 'other.example, 127.0.0.1' } });
    const message = JSON.stringify(sns.sign(sns.notification({})));
    expect(await other.post('/webhooks/sns', message)).to.have.status(200);
    await other.stop();
  });

  it('rejects all notices without SNS_TOPIC_ARNS, and accepts only the provider without SNS_CERT_HOSTS', async () => {
    const other = await startTestApi({ env: { SNS_CERT_HOSTS: sns.host } });
    const message = JSON.stringify(sns.sign(sns.notification({})));
    expect(await other.post('/webhooks/sns', message)).to.be.envelope(403, 'FORBIDDEN');
    await other.stop();
    const real = await startTestApi({ env: { SNS_TOPIC_ARNS: TOPIC } });
    const before = sns.requests.length;
    expect(await real.post('/webhooks/sns', message)).to.be.envelope(403, 'FORBIDDEN');
    expect(sns.requests).to.have.length(before);
    await real.stop();
  });

  describe('certificates of unknown senders', () => {
    const paths = Array.from({ length: 150 }, (_, n) => `/stranger${n}.pem`);
    let provider: SnsStandIn;
    let own: TestApi;

    beforeEach(async () => {
      provider = await startSns(Object.fromEntries(paths.map((path) => [path, stranger.pem])));
      own = await startTestApi({ env: { SNS_TOPIC_ARNS: TOPIC, SNS_CERT_HOSTS: provider.host } });
    });
    afterEach(async () => {
      await own.stop();
      await provider.stop();
    });

    const genuine = (query = '') =>
      own.post(
        '/webhooks/sns',
        JSON.stringify(
          provider.sign(provider.notification({}, { SigningCertURL: `https://${provider.host}/cert.pem${query}` })),
        ),
      );
    const forged = (path: string) =>
      own.post(
        '/webhooks/sns',
        JSON.stringify(provider.sign(provider.notification({}, { SigningCertURL: `https://${provider.host}${path}` }))),
      );

    it('are fetched once for any query and for concurrent messages', async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => genuine(n % 2 ? `?n=${n}` : `#${n}`)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
      expect(await genuine('?another=1')).to.have.status(200);
      expect(provider.requests).to.deep.equal(['/cert.pem']);
    });

    it('are fetched at most 30 times a minute, and evict none that is in use', async () => {
      const begun = performance.now();
      expect(await genuine()).to.have.status(200);
      for (const path of paths) expect((await forged(path)).status).to.be.oneOf([403, 502]);
      // The requests span two windows of a minute, and more on a very slow machine.
      const windows = 2 + Math.floor((performance.now() - begun) / 60_000);
      expect(provider.requests.length).to.be.at.most(1 + 30 * windows);
      const before = provider.requests.length;
      expect(await genuine('?n=1')).to.have.status(200);
      expect(provider.requests).to.have.length(before);
    });

    it('are not fetched again at once when they are missing', async () => {
      for (let n = 0; n < 5; n++) expect(await forged(`/missing.pem?n=${n}`)).to.be.envelope(403, 'FORBIDDEN');
      expect(provider.requests).to.deep.equal(['/missing.pem']);
    });
  });
});
