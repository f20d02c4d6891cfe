import { type Language, languageOf } from '../../platform/languages.ts';
import type { ConsentEvidence } from '../../services/access/consent-context.ts';
import type { Consent } from '../../services/topics/consents.ts';
import type { Proof } from '../../services/topics/proof.ts';
import { proofPage } from '../../web/pages.ts';
import { type ProofTexts, proofTexts } from '../../web/proof-texts.ts';
import type { Answer } from '../http/answers.ts';

interface View {
  proof: Proof;
  language: Language;
  texts: ProofTexts;
}

/** In the language of the project. */
export function presentProof(proof: Proof): Answer {
  const language = languageOf(proof.language);
  const view = { proof, language, texts: proofTexts[language] };
  const { texts } = view;
  const { contact, consents, isCut, madeAt, projectName } = proof;
  const facts: Record<string, string> = {
    address: contact.email,
    project: projectName,
    id: contact.id,
    created: timeOf(contact.createdAt, view),
    now: timeOf(madeAt, view),
  };
  const page = proofPage({
    language,
    title: filled(texts.title, facts),
    intro: filled(texts.intro, facts),
    stateHeading: texts.state,
    states: statesOf(view),
    recordsHeading: texts.records,
    records: consents.map((consent) => ({ rows: rowsOf(consent, view), text: consent.text })),
    empty: texts.none,
    ...(isCut && { cut: texts.cut }),
  });
  return { status: 200, ...page };
}

const filled = (text: string, facts: Record<string, string>): string =>
  text.replace(/\{(\w+)\}/g, (_all, name: string) => facts[name] ?? '');

const timeOf = (at: Date, { language }: Pick<View, 'language'>): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'medium', timeZone: 'UTC' }).format(at);

function statesOf(view: View): [string, string][] {
  const { proof, texts } = view;
  const { subscribed, snoozedUntil, topics } = proof.preferences;
  const names = { SUBSCRIBED: texts.subscribed, UNSUBSCRIBED: texts.unsubscribed, PENDING: texts.pending };
  return [
    [texts.allMail, subscribed ? texts.subscribed : texts.unsubscribed],
    ...(snoozedUntil ? [[texts.snoozedUntil, timeOf(snoozedUntil, view)] satisfies [string, string]] : []),
    ...topics.map(({ name, state, source, since }): [string, string] => [
      name,
      `${names[state]} (${source === 'DEFAULT' ? texts.byDefault : timeOf(since, view)})`,
    ]),
  ];
}

function rowsOf(consent: Consent, view: View): [string, string][] {
  const { proof, texts } = view;
  const { topicId, emailId, formId, evidence } = consent;
  const email = emailId === null ? undefined : proof.emails.get(emailId);
  const rows: [string, string | null][] = [
    [texts.time, timeOf(consent.at, view)],
    [texts.subject, topicId === null ? texts.allMail : (proof.topicNames.get(topicId) ?? topicId)],
    [texts.action, texts.actions[consent.action]],
    [texts.method, texts.methods[consent.method]],
    [texts.address, consent.email],
    [texts.ip, consent.ip],
    [texts.program, consent.userAgent],
    [texts.page, consent.pageUrl],
    [texts.form, formId && formOf(formId, consent, view)],
    [
      texts.email,
      email
        ? [email.subject, email.sentAt && timeOf(email.sentAt, view), email.id].filter(Boolean).join(', ')
        : emailId,
    ],
    [texts.actor, actorOf(consent, view)],
    [texts.request, consent.requestId],
    [texts.evidence, evidence && evidenceOf(evidence, view)],
  ];
  return rows.flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []));
}

function formOf(id: string, { formVersion }: Consent, { proof, texts }: View): string {
  const version = formVersion === null ? '' : filled(texts.version, { version: String(formVersion) });
  return [proof.formNames.get(id) ?? id, version].filter(Boolean).join(', ');
}

function actorOf({ actor }: Consent, { proof, texts }: View): string | null {
  if (!actor || actor.type === 'SYSTEM') return actor && texts.methods.SYSTEM;
  const known = actor.id === null ? undefined : proof.actors.get(actor.id);
  if (actor.type === 'USER') return known?.name ?? actor.id;
  return known && known.name === null ? texts.secretKey : filled(texts.key, { name: known?.name ?? actor.id ?? '' });
}

function evidenceOf({ at, ip, source, text, note }: ConsentEvidence, view: View): string {
  const { texts } = view;
  const parts: [string, string | undefined][] = [
    [texts.time, at && timeOf(new Date(at), view)],
    [texts.ip, ip],
    [texts.evidenceSource, source],
    [texts.evidenceNote, note],
  ];
  return [...parts.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : [])), text].filter(Boolean).join('\n');
}
