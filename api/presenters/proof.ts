import type { Consent } from '../../services/topics/consents.ts';
import type { Proof } from '../../services/topics/proof.ts';
import { proofPage } from '../../web/pages.ts';
import { type ProofTexts, proofTexts } from '../../web/proof-texts.ts';
import type { Answer } from '../http/answers.ts';

/** In German for projects whose language is German, in English for all others. */
export function presentProof(proof: Proof): Answer {
  const language = proof.language === 'de' ? 'de' : 'en';
  const texts = proofTexts[language];
  const { contact, consents, isCut, madeAt, projectName } = proof;
  const facts: Record<string, string> = {
    address: contact.email,
    project: projectName,
    id: contact.id,
    created: timeOf(contact.createdAt),
    now: timeOf(madeAt),
  };
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_all, name: string) => facts[name] ?? '');
  const page = proofPage({
    language,
    title: filled(texts.title),
    intro: filled(texts.intro),
    stateHeading: texts.state,
    states: statesOf(proof, texts),
    recordsHeading: texts.records,
    records: consents.map((consent) => ({ rows: rowsOf(consent, proof, texts), text: consent.text })),
    empty: texts.none,
    ...(isCut && { cut: texts.cut }),
  });
  return { status: 200, ...page };
}

const timeOf = (at: Date): string => at.toISOString().replace('T', ' ').replace(/\..*/, '');

function statesOf({ preferences }: Proof, texts: ProofTexts): [string, string][] {
  const { subscribed, snoozedUntil, topics } = preferences;
  const names = { SUBSCRIBED: texts.subscribed, UNSUBSCRIBED: texts.unsubscribed, PENDING: texts.pending };
  return [
    [texts.allMail, subscribed ? texts.subscribed : texts.unsubscribed],
    ...(snoozedUntil ? [[texts.snoozedUntil, timeOf(snoozedUntil)] satisfies [string, string]] : []),
    ...topics.map(({ name, state, source, since }): [string, string] => [
      name,
      `${names[state]} (${source === 'DEFAULT' ? texts.byDefault : timeOf(since)})`,
    ]),
  ];
}

function rowsOf(consent: Consent, { topicNames, emails }: Proof, texts: ProofTexts): [string, string][] {
  const { topicId, emailId, actor, evidence } = consent;
  const email = emailId === null ? undefined : emails.get(emailId);
  const rows: [string, string | null][] = [
    [texts.time, timeOf(consent.at)],
    [texts.subject, topicId === null ? texts.allMail : (topicNames.get(topicId) ?? topicId)],
    [texts.action, consent.action],
    [texts.method, consent.method],
    [texts.address, consent.email],
    [texts.ip, consent.ip],
    [texts.program, consent.userAgent],
    [texts.page, consent.pageUrl],
    [
      texts.email,
      email ? [email.subject, email.sentAt && timeOf(email.sentAt), email.id].filter(Boolean).join(', ') : emailId,
    ],
    [texts.actor, actor && [actor.type, actor.id].filter(Boolean).join(' ')],
    [texts.request, consent.requestId],
    [texts.evidence, evidence && JSON.stringify(evidence)],
  ];
  return rows.flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []));
}
