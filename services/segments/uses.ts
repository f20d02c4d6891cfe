import type { Uses } from '../conditions/types.ts';

/** The columns that store what a condition uses, so that it need not be parsed for that. */
export interface StoredUses {
  filterCount: number;
  refersTo: Record<string, number>;
  ownDependencies: string[];
  ownTimeDependent: boolean;
}

export const storedUses = (uses: Uses | undefined): StoredUses => ({
  filterCount: uses?.filterCount ?? 0,
  refersTo: Object.fromEntries([...(uses?.segments ?? [])].map(([id, paths]) => [id, paths.length])),
  ownDependencies: uses ? dependenciesOf(uses) : [],
  ownTimeDependent: uses?.timeDependent ?? false,
});

const dependenciesOf = ({ fields, keys, events, segments, topics, emailSources, emailQuestions }: Uses): string[] => [
  ...fields,
  ...[...keys].map((key) => `data.${key}`),
  ...[...events].map((name) => `event.${name}`),
  ...[...segments.keys()].map((id) => `segment.${id}`),
  ...[...topics.keys()].map((name) => `topic.${name}`),
  ...emailSources.keys(),
  // Let the database see at once whether a change of an email or a click concerns any segment.
  ...(emailSources.size > 0 ? ['emails'] : []),
  ...(emailQuestions.some(({ link }) => link !== undefined) ? ['links'] : []),
];
