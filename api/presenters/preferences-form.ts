import type { TopicDefault } from '../../db/models/topic.ts';
import type { PageChange } from '../../services/pages/change.ts';
import { type PageVisit, type ShownTopic, shownText } from '../../services/pages/visit.ts';
import { type Frequency, frequencyUnits } from '../../services/topics/choices.ts';
import type { PreferencesForm, TopicChoice } from '../../web/pages.ts';
import type { PreferencesTexts } from '../../web/preferences-texts.ts';

// The form of a contact's preferences: how it is shown, and what it sends.

/** What a topic's field says about the page that it was shown on. */
export const shownField = ({ key, isJoined, version }: ShownTopic): string => `${key}:${isJoined ? 1 : 0}:${version}`;

export function preferencesForm(visit: PageVisit, texts: PreferencesTexts, action: string): PreferencesForm {
  const { topics, language, snoozedUntil, frequency } = visit;
  const choices = (kind: ShownTopic['kind']): TopicChoice[] =>
    topics.filter((topic) => topic.kind === kind).map((topic) => choiceOf(topic, texts));
  const groups = [
    { heading: texts.topics, topics: choices('MARKETING') },
    { heading: texts.notifications, hint: texts.notificationsHint, topics: choices('NOTIFICATION') },
  ];
  const until =
    snoozedUntil && new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(snoozedUntil);
  const countPer = frequency && (frequency.count === 1 ? texts.oncePer : texts.countPer)[frequency.per];
  return {
    action,
    groups: groups.filter((group) => group.topics.length > 0),
    selects: [
      {
        label: texts.pause,
        name: 'snooze',
        options: [
          { value: 'keep', text: until ? texts.pausedUntil.replace('{date}', until) : texts.noPause },
          ...(until ? [{ value: 'end', text: texts.endPause }] : []),
          { value: '2w', text: texts.twoWeeks },
          { value: '1m', text: texts.oneMonth },
          { value: '3m', text: texts.threeMonths },
          { value: '6m', text: texts.sixMonths },
        ],
      },
      {
        label: texts.frequency,
        name: 'frequency',
        options: [
          { value: 'keep', text: countPer ? countPer.replace('{count}', String(frequency?.count)) : texts.noLimit },
          ...(frequency ? [{ value: 'none', text: texts.noLimit }] : []),
          ...(['DAY', 'WEEK', 'MONTH'] as const)
            .filter((per) => frequency?.count !== 1 || frequency.per !== per)
            .map((per) => ({ value: per, text: texts.oncePer[per] })),
        ],
      },
    ],
    button: texts.save,
  };
}

const choiceOf = (topic: ShownTopic, texts: PreferencesTexts): TopicChoice => ({
  key: topic.key,
  shown: shownField(topic),
  name: topic.name,
  description: topic.description,
  consentText: topic.consentText,
  hint: topic.state === 'PENDING' ? texts.pending : undefined,
  isJoined: topic.isJoined,
});

/** The fields that a page sends: lists of strings by name. */
export interface SentForm {
  all?: string[] | undefined;
  frequency?: string[] | undefined;
  page?: string[] | undefined;
  shown?: string[] | undefined;
  snooze?: string[] | undefined;
  topic?: string[] | undefined;
  undo?: string[] | undefined;
  version?: string[] | undefined;
  'List-Unsubscribe'?: string[] | undefined;
}

/** Returns what is to change, and whether a topic was joined whose texts have changed since, so that no one agreed to them. */
export function readPreferences(
  visit: PageVisit,
  { shown = [], topic: joined = [], snooze = [], frequency = [] }: SentForm,
  texts: PreferencesTexts,
): { change: PageChange; isOutdated: boolean } {
  const topics: Record<string, TopicDefault> = {};
  const shownTexts: Record<string, string> = {};
  let isOutdated = false;
  for (const field of shown) {
    const [key, wasJoined, version] = field.split(':');
    const topic = visit.topics.find((known) => known.key === key);
    if (!topic) continue;
    const isJoined = joined.includes(topic.key);
    // What was not touched stays, even if it was changed elsewhere since.
    if (isJoined === (wasJoined === '1')) continue;
    if (isJoined && version !== topic.version) isOutdated = true;
    topics[topic.id] = isJoined ? 'SUBSCRIBED' : 'UNSUBSCRIBED';
    shownTexts[topic.id] = shownText(topic);
  }
  const snoozedUntil = snoozeEnd(snooze.at(-1), new Date());
  const limit = limitOf(frequency.at(-1));
  const change: PageChange = {
    topics,
    texts: shownTexts,
    ...(snoozedUntil !== undefined && { snoozedUntil, text: `${texts.pause}: ${snoozeLabel(snooze.at(-1), texts)}` }),
    ...(limit !== undefined && { frequency: limit }),
  };
  return { change, isOutdated };
}

const DAY_MS = 86_400_000;
const MONTHS: Record<string, number> = { '1m': 1, '3m': 3, '6m': 6 };

/** Returns undefined where nothing is to change. */
function snoozeEnd(value: string | undefined, now: Date): Date | null | undefined {
  if (value === 'end') return null;
  if (value === '2w') return new Date(now.getTime() + 14 * DAY_MS);
  const months = MONTHS[value ?? ''];
  if (months === undefined) return undefined;
  const end = new Date(now);
  end.setUTCMonth(end.getUTCMonth() + months);
  // The last day of a shorter month.
  if (end.getUTCDate() !== now.getUTCDate()) end.setUTCDate(0);
  return end;
}

function snoozeLabel(value: string | undefined, texts: PreferencesTexts): string {
  const labels: Record<string, string> = {
    end: texts.endPause,
    '2w': texts.twoWeeks,
    '1m': texts.oneMonth,
    '3m': texts.threeMonths,
    '6m': texts.sixMonths,
  };
  return labels[value ?? ''] ?? '';
}

function limitOf(value: string | undefined): Frequency | null | undefined {
  if (value === 'none') return null;
  const per = frequencyUnits.find((unit) => unit === value);
  return per && { count: 1, per };
}
