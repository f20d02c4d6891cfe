import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { DomainKey } from '../../db/models/domain-key.ts';
import { openPrivateKey } from '../../services/domains/keys.ts';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { type DnsStandIn, startDns } from '../support/dns.ts';
import { setCampaigns } from '../support/rows/campaigns.ts';
import { systemMailsWith } from '../support/rows/mails.ts';
import { outboxMessages } from '../support/rows/outbox.ts';
import { addDomains } from '../support/rows/projects.ts';

const SECRET_KEY = 'a secret key for these tests';

interface Shown {
  id: string;
  domain: string;
  status: string;
  verified: boolean;
  conflict: boolean;
  records: Record<string, unknown>[];
  [key: string]: unknown;
}

describe('domains', () => {
  let api: TestApi;
  let dns: DnsStandIn;
  let project: ApiProject;
  let other: ApiProject;
  let made = 0;

  before(async () => {
    dns = await startDns();
    api = await startTestApi({
      env: {
        DNS_SERVERS: dns.address,
        SECRET_KEY,
        MAIL_FROM_SUBDOMAIN: 'bounce',
        MAIL_FROM_SPF: 'v=spf1 include:spf.relay.example ~all',
        MAIL_FROM_MX: 'mx.relay.example',
      },
    });
    project = await api.project();
    other = await api.project();
  });
  after(async () => {
    await api.stop();
    await dns.stop();
  });

  const add = async (domain = `shop${++made}.example`): Promise<Shown> => {
    const answer = await project.server.post('/domains', { domain });
    expect(answer).to.have.status(201);
    return answer.body;
  };
  const verify = async (id: string): Promise<Shown> => {
    const answer = await project.server.get(`/domains/${id}/verify`);
    expect(answer).to.have.status(200);
    return answer.body;
  };
  const recordOf = ({ records }: Shown, purpose: string) =>
    records.find((record) => record.purpose === purpose) as Record<string, string>;
  const publish = (domain: Shown, ...purposes: string[]): void => {
    for (const purpose of purposes) {
      const { type, name = '', value = '' } = recordOf(domain, purpose);
      if (type === 'MX') dns.set(name, 'MX', [{ preference: 10, exchange: value }]);
      else dns.set(name, 'TXT', [value.match(/.{1,255}/g) ?? []]);
    }
  };
  const publishAll = (domain: Shown) => publish(domain, 'DKIM', 'SPF', 'BOUNCE', 'DMARC');

  describe('POST /domains', () => {
    it('answers 201 with the records to publish', async () => {
      const { body } = await project.server.post('/domains', { domain: 'first.example', extra: true });
      expect(body).to.have.all.keys(
        'id',
        'domain',
        'status',
        'verified',
        'records',
        'verifiedAt',
        'lastCheckedAt',
        'projectId',
        'createdAt',
        'updatedAt',
        'conflict',
      );
      expect(body).to.include({
        domain: 'first.example',
        status: 'PENDING',
        verified: false,
        conflict: false,
        verifiedAt: null,
        lastCheckedAt: null,
        projectId: project.id,
      });
      const missing = { status: 'MISSING', found: null };
      const [dkim, ...rest] = body.records;
      expect(rest).to.deep.equal([
        {
          purpose: 'SPF',
          type: 'TXT',
          name: 'bounce.first.example',
          value: 'v=spf1 include:spf.relay.example ~all',
          required: true,
          ...missing,
        },
        {
          purpose: 'BOUNCE',
          type: 'MX',
          name: 'bounce.first.example',
          value: 'mx.relay.example',
          priority: 10,
          required: true,
          ...missing,
        },
        {
          purpose: 'DMARC',
          type: 'TXT',
          name: '_dmarc.first.example',
          value: 'v=DMARC1; p=none',
          required: false,
          ...missing,
        },
      ]);
      expect(dkim).to.include({ purpose: 'DKIM', type: 'TXT', required: true, ...missing });
      expect(dkim.name).to.match(/^[a-z0-9]+\._domainkey\.first\.example$/);
      expect(dkim.value).to.match(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/=]{300,}$/);
    });

    it('stores the private key sealed', async () => {
      const { id } = await add();
      const [key] = await DomainKey.query(api.db).where({ domainId: id });
      expect(key?.privateKey).to.match(/^v1\./).and.not.contain('PRIVATE KEY');
      if (key) expect(openPrivateKey([SECRET_KEY], key)).to.contain('BEGIN PRIVATE KEY');
    });

    it('normalizes the name', async () => {
      expect((await add('  Mail.Bücher.Example. ')).domain).to.equal('mail.xn--bcher-kva.example');
      expect((await add('UPPER.CASE.EXAMPLE')).domain).to.equal('upper.case.example');
      expect((await add('me.github.io')).domain).to.equal('me.github.io');
    });

    const bad: [string, unknown][] = [
      ['an IPv4 address', '192.0.2.1'],
      ['an IPv4 address in hexadecimal', '0x7f.1'],
      ['an IPv6 address', '2001:db8::1'],
      ['an IPv6 address in brackets', '[::1]'],
      ['a single label', 'localhost'],
      ['a top-level domain', 'com'],
      ['a public suffix', 'co.uk'],
      ['a private public suffix', 'github.io'],
      ['300 characters', `${'a'.repeat(50)}.`.repeat(6)],
      ['a name too long for its records', `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(58)}`],
      ['a label of 64 characters', `${'a'.repeat(64)}.example`],
      ['an address', 'me@shop.example'],
      ['a URL', 'https://shop.example'],
      ['a path', 'shop.example/path'],
      ['a port', 'shop.example:25'],
      ['a wildcard', '*.shop.example'],
      ['an underscore', '_dmarc.shop.example'],
      ['an empty label', 'shop..example'],
      ['a hyphen at the edge', '-shop.example'],
      ['a name with a space', 'my shop.example'],
      ['a line break', 'shop.example\nother.example'],
      ['nothing', ''],
      ['blanks', '   '],
      ['a number', 5],
      ['null', null],
      ['a missing name', undefined],
    ];
    for (const [what, domain] of bad)
      it(`answers 422 to ${what}`, async () => {
        const answer = await project.server.post('/domains', { domain });
        expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
        expect(answer.body.error.errors[0]).to.include({ field: 'domain' });
      });

    it('rejects a domain that the project already has with 409', async () => {
      const { domain } = await add();
      expect(await project.server.post('/domains', { domain: domain.toUpperCase() })).to.be.envelope(409, 'CONFLICT');
    });

    it('adds a domain once per project when several requests arrive at once', async () => {
      const asking = Array.from({ length: 4 }, (_, n) =>
        [project, other][n % 2]?.server.post('/domains', { domain: 'wanted.example' }),
      );
      const statuses = (await Promise.all(asking)).map((answer) => answer?.status).sort();
      expect(statuses).to.deep.equal([201, 201, 409, 409]);
    });

    it('answers 400 while 100 domains of the project are pending', async () => {
      const own = await api.project();
      await addDomains(api.db, own.id, 100);
      expect(await own.server.post('/domains', { domain: 'onemore.example' })).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('starts its Temporal workflow through the outbox in the same transaction', async () => {
      const { id } = await add();
      const rows = await outboxMessages(api.db, { workflowId: `domain/${project.id}/${id}/1` });
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ action: 'start', queue: 'control' });
    });
  });

  describe('GET /domains/project/:projectId', () => {
    it('returns a plain array for the own id and for `current`', async () => {
      const own = await api.project();
      const answer = await own.server.get('/domains/project/current');
      expect(answer).to.have.status(200);
      expect(answer.body).to.have.length(1);
      expect(answer.body[0]).to.include({ domain: own.senderDomain, status: 'VERIFIED', verified: true });
      expect(answer.body[0].records).to.deep.equal([]);
      expect((await own.server.get(`/domains/project/${own.id}`)).body).to.deep.equal(answer.body);
      expect((await own.owner.get(`/domains/project/${own.id}`)).body).to.deep.equal(answer.body);
    });

    it('answers 404 to any other id', async () => {
      for (const id of [other.id, 'nonsense', 'Current']) {
        const answer = await project.server.get(`/domains/project/${id}`);
        expect(answer).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
        expect(answer.body.error.message).to.equal('Project not found.');
      }
    });
  });

  describe('GET /domains/:id/verify', () => {
    it('verifies a domain when all required records are published, and notifies the members', async () => {
      const domain = await add();
      publish(domain, 'DKIM', 'SPF', 'BOUNCE');
      const after = await verify(domain.id);
      expect(after).to.include({ status: 'VERIFIED', verified: true });
      expect(after.verifiedAt).to.be.a('string').and.to.equal(after.lastCheckedAt);
      expect(after.records.map(({ status }) => status)).to.deep.equal(['FOUND', 'FOUND', 'FOUND', 'MISSING']);
      const notifications = await systemMailsWith(api.db, `${domain.domain} is verified`);
      expect(notifications).to.have.length(1);
      const send = await project.server.post('/v1/send', {
        to: 'ann@example.com',
        from: `me@${domain.domain}`,
        subject: 'Hi',
        body: 'Hi',
      });
      expect(send).to.have.status(200);
    });

    it('distinguishes missing records from different ones', async () => {
      const domain = await add();
      const dkim = recordOf(domain, 'DKIM');
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
      const wrong = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
      dns.set(dkim.name ?? '', 'TXT', [`v=DKIM1; p=${wrong}`]);
      dns.set(`bounce.${domain.domain}`, 'TXT', ['v=spf1 -all', 'unrelated']);
      dns.set(`bounce.${domain.domain}`, 'MX', [{ preference: 5, exchange: 'elsewhere.example' }]);
      const after = await verify(domain.id);
      expect(after.status).to.equal('PENDING');
      expect(recordOf(after, 'DKIM')).to.include({ status: 'MISMATCH', found: `v=DKIM1; p=${wrong}` });
      expect(recordOf(after, 'SPF')).to.include({ status: 'MISMATCH', found: 'v=spf1 -all' });
      expect(recordOf(after, 'BOUNCE')).to.include({ status: 'MISMATCH', found: '5 elsewhere.example' });
      expect(recordOf(after, 'DMARC')).to.include({ status: 'MISSING', found: null });
    });

    it('accepts values in other case, spacing and order, and through a CNAME', async () => {
      const domain = await add();
      const { name = '', value = '' } = recordOf(domain, 'DKIM');
      const key = value.split('p=')[1] ?? '';
      dns.set(name, 'CNAME', ['keys.elsewhere.example']);
      dns.set('keys.elsewhere.example', 'TXT', [
        ['P = ', `${key.slice(0, 100)} `, key.slice(100, 300), `${key.slice(300)} ;`, ' K=RSA; v=DKIM1 ; '],
      ]);
      dns.set(`bounce.${domain.domain}`, 'TXT', ['V=SPF1   include:SPF.relay.example ip4:192.0.2.1 -all']);
      dns.set(`bounce.${domain.domain}`, 'MX', [
        { preference: 1, exchange: 'MX.Relay.Example' },
        { preference: 50, exchange: 'backup.example' },
      ]);
      dns.set(`_dmarc.${domain.domain}`, 'TXT', ['v=DMARC1;p=reject; rua=mailto:a@b.example']);
      const after = await verify(domain.id);
      expect(after.records.map(({ status }) => status)).to.deep.equal(['FOUND', 'FOUND', 'FOUND', 'FOUND']);
      expect(after.status).to.equal('VERIFIED');
    });

    it('counts a record that is published twice as one, and two different ones as none', async () => {
      const domain = await add();
      publishAll(domain);
      const { name = '', value = '' } = recordOf(domain, 'DKIM');
      dns.set(name, 'TXT', [value.match(/.{1,255}/g) ?? [], value.match(/.{1,200}/g) ?? []]);
      expect((await verify(domain.id)).status).to.equal('VERIFIED');
      const twice = await add();
      publishAll(twice);
      dns.set(`bounce.${twice.domain}`, 'TXT', ['v=spf1 include:spf.relay.example ~all', 'v=spf1 -all']);
      expect(recordOf(await verify(twice.id), 'SPF')).to.include({ status: 'MISMATCH' });
    });

    it('finds a record among many over TCP, and stops at circular CNAMEs', async () => {
      const domain = await add();
      publishAll(domain);
      const { name = '', value = '' } = recordOf(domain, 'DKIM');
      const others = Array.from({ length: 150 }, (_, n) => `text ${n} ${'x'.repeat(200)}`);
      dns.set(name, 'TXT', [...others, value.match(/.{1,255}/g) ?? []]);
      expect((await verify(domain.id)).status).to.equal('VERIFIED');
      expect(dns.queries.filter((query) => query.name === name).map(({ over }) => over)).to.include('tcp');
      dns.remove(name);
      dns.set(name, 'CNAME', [name]);
      for (let n = 0; n < 3; n++) {
        const after = await verify(domain.id);
        expect(after.status).to.equal('VERIFIED');
        expect(recordOf(after, 'DKIM').error).to.be.a('string');
      }
    });

    it('accepts the DMARC policy of the organizational domain for a subdomain', async () => {
      const domain = await add('mail.organisation.example');
      dns.set('_dmarc.organisation.example', 'TXT', ['v=DMARC1; p=quarantine']);
      expect(recordOf(await verify(domain.id), 'DMARC')).to.include({ status: 'FOUND' });
    });

    it('reports a failed DNS lookup and does not change the status', async () => {
      const domain = await add();
      publishAll(domain);
      expect((await verify(domain.id)).status).to.equal('VERIFIED');
      dns.fail(recordOf(domain, 'DKIM').name ?? '', 'SERVFAIL');
      for (let n = 0; n < 4; n++) {
        const after = await verify(domain.id);
        expect(after.status).to.equal('VERIFIED');
        expect(recordOf(after, 'DKIM')).to.include({ status: 'FOUND' });
        expect(recordOf(after, 'DKIM').error).to.match(/could not be looked up/);
      }
      dns.fail(recordOf(domain, 'DKIM').name ?? '', undefined);
      expect(recordOf(await verify(domain.id), 'DKIM')).to.not.have.property('error');
    });

    it('revokes a verification after three failed checks in a row, and restores it', async () => {
      const domain = await add();
      publishAll(domain);
      await verify(domain.id);
      const { name = '' } = recordOf(domain, 'DKIM');
      dns.remove(name);
      expect((await verify(domain.id)).status).to.equal('VERIFIED');
      expect((await verify(domain.id)).status).to.equal('VERIFIED');
      publish(domain, 'DKIM');
      await verify(domain.id);
      dns.remove(name);
      const states = [];
      for (let n = 0; n < 3; n++) states.push((await verify(domain.id)).status);
      expect(states).to.deep.equal(['VERIFIED', 'VERIFIED', 'PENDING']);
      const refused = await project.server.post('/v1/send', {
        to: 'ann@example.com',
        from: `me@${domain.domain}`,
        subject: 'Hi',
        body: 'Hi',
      });
      expect(refused).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
      expect(refused.body.error.suggestion).to.contain(domain.domain);
      publish(domain, 'DKIM');
      expect((await verify(domain.id)).status).to.equal('VERIFIED');
    });

    it('does not check managed domains', async () => {
      const [managed] = (await project.server.get('/domains/project/current')).body;
      const before = dns.queries.length;
      expect(await verify(managed.id)).to.include({ verified: true, lastCheckedAt: null });
      expect(dns.queries).to.have.length(before);
    });

    it('answers 404 to a domain of another project without a DNS lookup', async () => {
      const domain = await add();
      const before = dns.queries.length;
      expect(await other.server.get(`/domains/${domain.id}/verify`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(dns.queries).to.have.length(before);
    });
  });

  describe('a name that several projects add', () => {
    const addTo = async (owner: ApiProject, domain: string): Promise<Shown> => {
      const answer = await owner.server.post('/domains', { domain });
      expect(answer).to.have.status(201);
      return answer.body;
    };
    const shown = async (owner: ApiProject, id: string): Promise<Shown | undefined> =>
      ((await owner.server.get('/domains/project/current')).body as Shown[]).find((domain) => domain.id === id);
    const mailFrom = (domain: string) => ({ to: 'ann@example.com', from: `me@${domain}`, subject: 'Hi', body: 'Hi' });
    /** Pending in both projects; then `project` verifies it. */
    const contested = async () => {
      const name = `contested${++made}.example`;
      const mine = await addTo(project, name);
      const theirs = await addTo(other, name);
      publishAll(mine);
      await verify(mine.id);
      return { name, mine, theirs };
    };

    it('is pending in each of them, with a key of its own', async () => {
      const name = `shared${++made}.example`;
      const mine = await addTo(project, name);
      const theirs = await addTo(other, name);
      expect([mine.status, theirs.status, mine.conflict, theirs.conflict]).to.deep.equal([
        'PENDING',
        'PENDING',
        false,
        false,
      ]);
      expect(recordOf(mine, 'DKIM').name).to.not.equal(recordOf(theirs, 'DKIM').name);
      expect(recordOf(mine, 'DKIM').value).to.not.equal(recordOf(theirs, 'DKIM').value);
    });

    it('is verified by the project whose records are published, and stays pending with conflict in others', async () => {
      const { name, mine, theirs } = await contested();
      expect(await shown(project, mine.id)).to.include({ status: 'VERIFIED', conflict: false });
      expect(await shown(other, theirs.id)).to.include({ status: 'PENDING', verified: false, conflict: true });
      publishAll(theirs);
      expect(await other.server.get(`/domains/${theirs.id}/verify`)).to.be.envelope(409, 'CONFLICT');
      expect(await shown(other, theirs.id)).to.include({ status: 'PENDING', conflict: true });
      expect(await project.server.post('/v1/send', mailFrom(name))).to.have.status(200);
      expect(await other.server.post('/v1/send', mailFrom(name))).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
      const template = { name: 'T', subject: 'S', body: 'B', type: 'MARKETING', from: `a@${name}` };
      expect(await other.server.post('/templates', template)).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
    });

    it('rejects adding it with 409 once another project has verified it', async () => {
      const { name } = await contested();
      const third = await api.project();
      expect(await third.server.post('/domains', { domain: name })).to.be.envelope(409, 'CONFLICT');
      expect((await third.server.get('/domains/project/current')).body).to.have.length(1);
    });

    it('can be verified by another project after the first one deletes it', async () => {
      const { name, mine, theirs } = await contested();
      publishAll(theirs);
      expect(await project.server.delete(`/domains/${mine.id}`)).to.have.status(204);
      const after = await other.server.get(`/domains/${theirs.id}/verify`);
      expect(after.body).to.include({ status: 'VERIFIED', conflict: false });
      expect(await other.server.post('/v1/send', mailFrom(name))).to.have.status(200);
      expect(await project.server.post('/domains', { domain: name })).to.be.envelope(409, 'CONFLICT');
    });

    it('can be verified by another project after the first one fails three checks', async () => {
      const { mine, theirs } = await contested();
      publishAll(theirs);
      dns.remove(recordOf(mine, 'DKIM').name ?? '');
      for (let n = 0; n < 3; n++) await verify(mine.id);
      const after = await other.server.get(`/domains/${theirs.id}/verify`);
      expect(after.body).to.include({ status: 'VERIFIED', conflict: false });
      publish(mine, 'DKIM');
      expect(await project.server.get(`/domains/${mine.id}/verify`)).to.be.envelope(409, 'CONFLICT');
    });

    it('is verified by exactly one of several projects that verify at the same moment', async () => {
      const name = `raced${++made}.example`;
      const owners = [project, other, await api.project(), await api.project()];
      const added = await Promise.all(owners.map((owner) => addTo(owner, name)));
      for (const domain of added) publishAll(domain);
      const answers = await Promise.all(owners.map((owner, n) => owner.server.get(`/domains/${added[n]?.id}/verify`)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409]);
      const shown = await Promise.all(owners.map((owner) => owner.server.get(`/domains/project/${owner.id}`)));
      const states = shown
        .flatMap(({ body }) => body.filter(({ domain }: { domain: string }) => domain === name))
        .map(({ status }) => status)
        .sort();
      expect(states).to.deep.equal(['PENDING', 'PENDING', 'PENDING', 'VERIFIED']);
      const notifications = await systemMailsWith(api.db, `${name} is verified`);
      expect(notifications).to.have.length(1);
    });
  });

  describe('DELETE /domains/:id', () => {
    const verified = async () => {
      const domain = await add();
      publishAll(domain);
      return verify(domain.id);
    };
    const template = (from: string) =>
      project.server.post('/templates', { name: 'T', subject: 'S', body: 'B', type: 'MARKETING', from });

    it('removes the domain, cancels its Temporal workflow and frees its name', async () => {
      const domain = await verified();
      expect(await project.server.delete(`/domains/${domain.id}`)).to.have.status(204);
      expect(await project.server.delete(`/domains/${domain.id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      const actions = await outboxMessages(api.db, { workflowId: `domain/${project.id}/${domain.id}/1` });
      expect(actions.map(({ action }) => action)).to.deep.equal(['start', 'cancel']);
      expect(await other.server.post('/domains', { domain: domain.domain })).to.have.status(201);
    });

    it('answers 409 while a template sends from it, in any spelling', async () => {
      const domain = await verified();
      const { id } = (await template(`a@${domain.domain}`)).body;
      expect(await project.server.delete(`/domains/${domain.id}`)).to.be.envelope(409, 'CONFLICT');
      await project.server.delete(`/templates/${id}`);
      expect(await project.server.delete(`/domains/${domain.id}`)).to.have.status(204);

      const international = await add('zürich.example');
      publishAll(international);
      await verify(international.id);
      expect(await template('a@zürich.example')).to.have.status(201);
      expect(await project.server.delete(`/domains/${international.id}`)).to.be.envelope(409, 'CONFLICT');
    });

    it('answers 409 while an unfinished campaign sends from it', async () => {
      const domain = await verified();
      const body = { name: 'News', subject: 'S', body: 'B', from: `a@${domain.domain}`, audienceType: 'ALL' };
      const { data } = (await project.server.post('/campaigns', body)).body;
      for (const status of ['DRAFT', 'SENDING']) {
        await setCampaigns(api.db, { id: data.id }, { status });
        expect(await project.server.delete(`/domains/${domain.id}`), status).to.be.envelope(409, 'CONFLICT');
      }
      await setCampaigns(api.db, { id: data.id }, { status: 'SENT' });
      expect(await project.server.delete(`/domains/${domain.id}`)).to.have.status(204);
    });

    it('answers 404 to a domain of another project and keeps it', async () => {
      const domain = await verified();
      expect(await other.server.delete(`/domains/${domain.id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect((await verify(domain.id)).status).to.equal('VERIFIED');
    });
  });

  it('is not accepted as a sender by another project', async () => {
    const domain = await add();
    publishAll(domain);
    await verify(domain.id);
    const mail = { to: 'ann@example.com', from: `me@${domain.domain}`, subject: 'Hi', body: 'Hi' };
    const refused = await other.server.post('/v1/send', mail);
    expect(refused).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
    expect(refused.body.error.suggestion).to.be.a('string');
  });
});
