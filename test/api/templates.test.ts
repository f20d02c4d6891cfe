import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { blockProject, setDomainStatus } from '../support/rows/projects.ts';
import { setVersions } from '../support/rows/workflows.ts';
import { newTemplate, TEMPLATE_FIELDS } from '../support/templates.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describeApi('templates', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const create = async (body: object = {}) => {
    const answer = await project.server.post('/templates', { ...newTemplate, ...body });
    expect(answer).to.have.status(201);
    return answer.body;
  };
  const get = async (id: string) => (await project.server.get(`/templates/${id}`)).body;
  const stored = async () => (await project.server.get('/templates?pageSize=100')).body.data;

  describe('POST /templates', () => {
    it('answers 201 with the template', async () => {
      const template = await create();
      expect(template).to.have.all.keys(TEMPLATE_FIELDS);
      expect(template).to.include({ ...newTemplate, projectId: project.id });
      expect(template).to.include({ description: null, from: null, fromName: null, replyTo: null });
      expect(template.id).to.match(UUID);
      expect(new Date(template.createdAt).toISOString()).to.equal(template.createdAt);
      expect(template.updatedAt).to.equal(template.createdAt);
      expect(await get(template.id)).to.deep.equal(template);
    });

    it('stores every field of a template', async () => {
      const all = {
        description: 'Sent on the first day',
        from: `hello@${project.senderDomain}`,
        fromName: 'Everpost',
        replyTo: 'help@example.com',
        type: 'MARKETING',
      };
      expect(await create(all)).to.include(all);
    });

    it('takes the sender name from `Name <address>` unless `fromName` is given', async () => {
      const from = `Ann <HELLO@${project.senderDomain}>`;
      const address = `hello@${project.senderDomain}`;
      expect(await create({ from })).to.include({ from: address, fromName: 'Ann' });
      expect(await create({ from, fromName: 'Bob' })).to.include({ from: address, fromName: 'Bob' });
    });

    it('ignores unknown and read-only fields', async () => {
      const forged = { id: newId(), projectId: newId(), createdAt: '2020-01-01T00:00:00.000Z', colour: 'red' };
      const template = await create(forged);
      expect(template).to.have.all.keys(TEMPLATE_FIELDS);
      expect(template.id).not.to.equal(forged.id);
      expect(template.projectId).to.equal(project.id);
      expect(template.createdAt).not.to.equal(forged.createdAt);
    });

    it('accepts a session of the owner', async () => {
      expect(await project.owner.post('/templates', newTemplate)).to.have.status(201);
    });

    describe('400', () => {
      it('reports line and column of an error in the body', async () => {
        const body = '<h1>\n  {{ name | shout }}\n</h1>';
        const answer = await project.server.post('/templates', { ...newTemplate, body });
        expect(answer).to.be.envelope(400, 'BAD_REQUEST');
        const { message, errors, details } = answer.body.error;
        expect(message).to.equal('The template is invalid. Line 2, column 13 of "body": unknown filter "shout".');
        expect(errors).to.deep.equal([
          { field: 'body', message: 'Line 2, column 13 of "body": unknown filter "shout"', code: 'custom' },
        ]);
        expect(details.faults).to.deep.equal([
          { field: 'body', line: 2, column: 13, message: 'unknown filter "shout"' },
        ]);
        expect(await stored()).to.deep.equal([]);
      });

      it('checks the subject too', async () => {
        const answer = await project.server.post('/templates', {
          ...newTemplate,
          subject: 'Hi {{ name',
          body: '{% if %}',
        });
        expect(answer).to.be.envelope(400, 'BAD_REQUEST');
        const faults = answer.body.error.details.faults.map((fault: Record<string, unknown>) =>
          [fault.field, fault.line, fault.column].join(' '),
        );
        expect(faults).to.deep.equal(['subject 1 4', 'body 1 7']);
      });

      for (const body of [
        '{% include "x" %}',
        '{% extends "x" %}',
        '{% import "x" as y %}',
        '{{ a.b() }}',
        '{{ cycler() }}',
      ])
        it(`rejects ${body}`, async () => {
          expect(await project.server.post('/templates', { ...newTemplate, body })).to.be.envelope(400, 'BAD_REQUEST');
        });
    });

    describe('403', () => {
      const unverified = async (from: string) => {
        const answer = await project.server.post('/templates', { ...newTemplate, from });
        expect(answer).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
        expect(answer.body.error.suggestion).to.contain('POST /domains');
        expect(await stored()).to.deep.equal([]);
      };

      it('from an unknown domain', () => unverified('a@nowhere.example'));

      it('from a domain of another project', async () => unverified(`a@${(await api.project()).senderDomain}`));

      it('from a pending domain', async () => {
        await setDomainStatus(api.db, project.id, 'PENDING');
        await unverified(`a@${project.senderDomain}`);
      });

      it('from a subdomain of a verified one', () => unverified(`a@sub.${project.senderDomain}`));

      it('when the project is disabled', async () => {
        await blockProject(api.db, project.id);
        const answer = await project.server.post('/templates', newTemplate);
        expect(answer).to.be.envelope(403, 'PROJECT_DISABLED');
        expect(await stored()).to.deep.equal([]);
      });
    });

    describe('422', () => {
      for (const field of ['name', 'subject', 'body', 'type'])
        it(`without ${field}`, async () => {
          const answer = await project.server.post('/templates', { ...newTemplate, [field]: undefined });
          expect(answer).to.have.validationError(field, 'required');
        });

      const wrong: [field: string, value: unknown, code: string][] = [
        ['name', '', 'too_small'],
        ['name', 5, 'invalid_type'],
        ['name', 'x'.repeat(256), 'too_big'],
        ['subject', '', 'too_small'],
        ['subject', 'a\nb', 'invalid_string'],
        ['subject', 'a\rBcc: x@example.com', 'invalid_string'],
        ['subject', 'x'.repeat(999), 'too_big'],
        ['body', '', 'too_small'],
        ['body', null, 'invalid_type'],
        ['type', 'HEADLESS', 'invalid_enum'],
        ['type', 'marketing', 'invalid_enum'],
        ['from', 'nobody', 'invalid_string'],
        ['replyTo', 'nobody', 'invalid_string'],
        ['fromName', 'Ann\r\nBcc: x@example.com', 'invalid_string'],
        ['body', 'a\u0000b', 'invalid_string'],
      ];
      for (const [field, value, code] of wrong)
        it(`with ${field} ${JSON.stringify(value)?.slice(0, 30)}`, async () => {
          expect(await project.server.post('/templates', { ...newTemplate, [field]: value })).to.have.validationError(
            field,
            code,
          );
          expect(await stored()).to.deep.equal([]);
        });

      it('is not the answer to emoji in a subject', async () => {
        expect(await create({ subject: 'Hi 👩‍👩‍👧 {{ name }}' })).to.have.property('subject', 'Hi 👩‍👩‍👧 {{ name }}');
      });
    });
  });

  describe('PATCH /templates/:id', () => {
    it('changes only the given fields', async () => {
      const before = await create({ from: `a@${project.senderDomain}`, fromName: 'Ann', description: 'd' });
      const answer = await project.server.patch(`/templates/${before.id}`, { subject: 'New' });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ ...before, subject: 'New', updatedAt: answer.body.updatedAt });
      expect(answer.body.updatedAt).not.to.equal(before.updatedAt);
      expect(await get(before.id)).to.deep.equal(answer.body);
    });

    it('clears fields that are null', async () => {
      const from = `Ann <a@${project.senderDomain}>`;
      const { id } = await create({ from, replyTo: 'r@example.com', description: 'd' });
      const nothing = { from: null, fromName: null, replyTo: null, description: null };
      expect((await project.server.patch(`/templates/${id}`, nothing)).body).to.include(nothing);
    });

    it('keeps the name of the sender when only the address changes', async () => {
      const { id } = await create({ from: `Ann <a@${project.senderDomain}>` });
      const change = async (from: string) => (await project.server.patch(`/templates/${id}`, { from })).body;
      expect(await change(`b@${project.senderDomain}`)).to.include({
        from: `b@${project.senderDomain}`,
        fromName: 'Ann',
      });
      expect(await change(`Bob <b@${project.senderDomain}>`)).to.include({ fromName: 'Bob' });
    });

    it('changes nothing for an empty body', async () => {
      const before = await create();
      expect((await project.server.patch(`/templates/${before.id}`, {})).body).to.deep.equal(before);
    });

    it('makes a template HEADLESS', async () => {
      const { id } = await create();
      expect((await project.server.patch(`/templates/${id}`, { type: 'HEADLESS' })).body.type).to.equal('HEADLESS');
    });

    const refused: [status: number, change: object][] = [
      [400, { body: '{% for %}' }],
      [400, { subject: '{{ x | nope }}' }],
      [403, { from: 'a@nowhere.example' }],
      [422, { name: '' }],
      [422, { subject: null }],
      [422, { type: 'OTHER' }],
    ];
    for (const [status, change] of refused)
      it(`answers ${status} to ${JSON.stringify(change)}, and changes nothing`, async () => {
        const before = await create();
        expect(await project.server.patch(`/templates/${before.id}`, { description: 'x', ...change })).to.have.status(
          status,
        );
        expect(await get(before.id)).to.deep.equal(before);
      });
  });

  describe('POST /templates/:id/duplicate', () => {
    it('answers 201 with a copy that is independent of the original', async () => {
      const original = await create({ from: `Ann <a@${project.senderDomain}>`, description: 'd', type: 'MARKETING' });
      const answer = await project.server.post(`/templates/${original.id}/duplicate`);
      expect(answer).to.have.status(201);
      const { id, createdAt, updatedAt, ...copy } = answer.body;
      expect(id).to.match(UUID).and.not.equal(original.id);
      expect({ ...original, ...copy }).to.deep.equal({ ...original, name: 'Welcome (Copy)' });
      await project.server.patch(`/templates/${id}`, { subject: 'Other' });
      expect(await get(original.id)).to.deep.equal(original);
      expect((await project.server.post(`/templates/${id}/duplicate`)).body.name).to.equal('Welcome (Copy) (Copy)');
    });

    it('truncates the name of a copy to the maximum length', async () => {
      const { id } = await create({ name: 'x'.repeat(255) });
      const { body: copy } = await project.server.post(`/templates/${id}/duplicate`);
      expect(copy.name).to.equal(`${'x'.repeat(248)} (Copy)`);
      expect(await project.server.patch(`/templates/${copy.id}`, { name: copy.name })).to.have.status(200);
    });

    it('copies a HEADLESS template, although POST cannot create one', async () => {
      const { id } = await create();
      await project.server.patch(`/templates/${id}`, { type: 'HEADLESS' });
      expect((await project.server.post(`/templates/${id}/duplicate`)).body.type).to.equal('HEADLESS');
    });
  });

  describe('GET /templates/:id/usage', () => {
    it('lists the workflows and campaigns that use it', async () => {
      const { id } = await create();
      const answer = await project.server.get(`/templates/${id}/usage`);
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ campaigns: [], workflowSteps: [], canDelete: true });
    });

    it('omits workflows and campaigns of another project', async () => {
      const { id } = await create();
      const other = await api.project();
      const { body: workflow } = await other.server.post('/workflows', { name: 'Foreign', eventName: 'signup' });
      const step = { id: newId(), type: 'SEND_EMAIL', name: 'Send', config: { templateId: id } };
      await setVersions(
        api.db,
        { workflowId: workflow.id },
        { templateIds: [id], graph: JSON.stringify({ steps: [step], transitions: [] }) },
      );
      expect((await project.server.get(`/templates/${id}/usage`)).body).to.deep.equal({
        campaigns: [],
        workflowSteps: [],
        canDelete: true,
      });
      expect(await project.server.delete(`/templates/${id}`)).to.have.status(204);
    });
  });

  describe('DELETE /templates/:id', () => {
    it('answers 204 without a body, then 404', async () => {
      const { id } = await create();
      const answer = await project.server.delete(`/templates/${id}`);
      expect(answer).to.have.status(204);
      expect(answer.body).to.equal('');
      expect(await project.server.delete(`/templates/${id}`)).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
      expect(await stored()).to.deep.equal([]);
    });
  });

  describe('404', () => {
    const calls: [method: string, path: string, body?: object][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'Stolen' }],
      ['PATCH', '', { body: '{% if %}' }],
      ['PATCH', '', { from: 'a@nowhere.example' }],
      ['DELETE', ''],
      ['POST', '/duplicate'],
      ['GET', '/usage'],
    ];
    for (const [method, path, body] of calls) {
      const what = `${method} /templates/:id${path} ${body ? JSON.stringify(body) : ''}`;
      it(`${what} with the id of another project, and nothing changes there`, async () => {
        const other = await api.project();
        const { id } = (await other.server.post('/templates', newTemplate)).body;
        const before = (await other.server.get('/templates')).body;
        const answer = await project.server.request(method, `/templates/${id}${path}`, body);
        expect(answer).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
        expect((await other.server.get('/templates')).body).to.deep.equal(before);
      });

      it(`${what} with an invalid id`, async () => {
        for (const id of [newId(), 'nonsense', '1'])
          expect(await project.server.request(method, `/templates/${id}${path}`, body)).to.be.envelope(
            404,
            'TEMPLATE_NOT_FOUND',
          );
      });
    }
  });
});
