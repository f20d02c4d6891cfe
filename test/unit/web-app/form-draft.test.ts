import { resolve } from 'node:path';
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import { root } from '../../../dev/root.ts';

type Draft = Record<string, unknown> & { texts: Record<string, Record<string, unknown>> };

interface DraftModule {
  draftOf(form: object): Draft;
  requestOf(draft: Draft): Record<string, unknown>;
}

const field = {
  key: 'plan',
  label: 'Plan',
  type: 'SELECT',
  required: true,
  options: ['a', 'b'],
  maxLength: 500,
  default: 'b',
};
const redirects = {
  submitted: null,
  confirmed: 'https://example.com/done',
  already: null,
  declined: null,
  expired: null,
};
const settings = {
  topicIds: ['t1'],
  consentRequired: true,
  privacyUrl: null,
  doubleOptIn: true,
  confirm: 'BUTTON',
  from: 'news@example.com',
  fromName: null,
  confirmationTemplateId: null,
  reminderAfterHours: null,
  expiresAfterHours: 24,
  redirects,
  allowedOrigins: ['https://example.com'],
  blockDisposable: true,
  captureTimezone: true,
  captureLocale: false,
  design: { color: '#0b7285', css: null },
};
const texts = { name: 'Newsletter', consentText: 'Yes', submitLabel: null };
const translations = { de: { name: 'Rundbrief', labels: { plan: 'Tarif' }, options: { plan: { b: 'Groß' } } } };

describe('the draft of a form in its editor', () => {
  let draft: DraftModule;

  before(async () => {
    // Read as a file: it belongs to a program with the types of a browser.
    const file = resolve(root, 'web/app/src/pages/forms/draft.ts');
    draft = (await tsImport(file, import.meta.url)) as DraftModule;
  });

  it('is sent as it was read', () => {
    const fields = [
      field,
      { ...field, key: 'seats', type: 'NUMBER', options: [], default: 3 },
      { ...field, key: 'paper', type: 'BOOLEAN', options: [], default: true },
    ];
    const form = { ...settings, ...texts, fields, translations };
    expect(draft.requestOf(draft.draftOf(form))).to.deep.equal(form);
  });

  it('leaves out texts of a language that are empty', () => {
    const read = draft.draftOf({ ...settings, ...texts, fields: [field], translations });
    read.texts.de = { name: ' ', consentText: '', submitLabel: 'Los', labels: { plan: '' }, options: { plan: '\n' } };
    expect(draft.requestOf(read).translations).to.deep.equal({ de: { submitLabel: 'Los' } });
  });

  it('keeps the labels of a field whose key is changed', () => {
    const read = draft.draftOf({ ...settings, ...texts, fields: [field], translations });
    const [first] = read.fields as { key: string }[];
    const request = draft.requestOf({ ...read, fields: [{ ...first, key: 'tariff' }] });
    expect(request.translations).to.deep.equal({
      de: { name: 'Rundbrief', labels: { tariff: 'Tarif' }, options: { tariff: { b: 'Groß' } } },
    });
  });
});
