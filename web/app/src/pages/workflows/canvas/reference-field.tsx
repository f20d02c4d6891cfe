import { Anchor, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { unwrap } from '../../../api/client.ts';
import { type ProjectApi, useApi } from '../../../api/hooks.ts';
import { t } from '../../../texts/index.ts';

interface Named {
  id: string;
  name: string;
}

interface Source {
  /** Where the thing has its page. */
  page: string;
  load(api: ProjectApi): Promise<Named[]>;
}

const MOST = 100;

/** What an id of a config refers to, by the name of the property. */
const sources: Record<string, Source> = {
  templateId: {
    page: 'templates',
    load: async ({ client }) =>
      (await unwrap(client.GET('/templates', { params: { query: { pageSize: MOST, sort: 'updatedAt' } } }))).data,
  },
  segmentId: {
    page: 'segments',
    load: async ({ client }) =>
      (await unwrap(client.GET('/segments'))).filter(({ type }) => (type as string) === 'STATIC'),
  },
  workflowId: {
    page: 'workflows',
    load: async ({ client }) =>
      (await unwrap(client.GET('/workflows', { params: { query: { pageSize: MOST } } }))).data,
  },
};

export const hasReferences = (name: string): boolean => name in sources;

interface ReferenceFieldProps {
  name: string;
  value: string;
  onChange(id: string | undefined): void;
  label: string;
  description: string | undefined;
  error: string | undefined;
  required: boolean;
  disabled: boolean;
}

/** Chooses one of the project's templates, segments or workflows. */
export function ReferenceField({ name, value, onChange, ...field }: ReferenceFieldProps) {
  const api = useApi();
  const source = sources[name];
  const { data = [] } = useQuery({
    queryKey: api.key('references', name),
    queryFn: async () => (await source?.load(api)) ?? [],
    staleTime: 15_000,
  });
  const known = data.map(({ id, name: label }) => ({ value: id, label }));
  const isUnknown = value !== '' && !known.some((one) => one.value === value);
  return (
    <div>
      <Select
        {...field}
        searchable
        clearable
        data={isUnknown ? [...known, { value, label: t.canvas.otherReference }] : known}
        value={value || null}
        onChange={(id) => onChange(id ?? undefined)}
        nothingFoundMessage={t.canvas.nothingFound}
      />
      {value !== '' && (
        <Anchor component={Link} to={`/p/${api.projectId}/${source?.page}/${value}`} size="sm">
          {t.canvas.openReference}
        </Anchor>
      )}
    </div>
  );
}

/** Names that the project already has, as suggestions of the browser. */
export function SuggestedNames({ id, name }: { id: string; name: string }) {
  const { client, key } = useApi();
  const wanted = name === 'eventName';
  const { data } = useQuery({
    queryKey: key('event-names'),
    queryFn: () => unwrap(client.GET('/events/names')),
    staleTime: 60_000,
    enabled: wanted,
  });
  if (!wanted) return null;
  return (
    <datalist id={id}>
      {(data?.names ?? []).map(({ name: event }) => (
        <option key={event} value={event} />
      ))}
    </datalist>
  );
}
