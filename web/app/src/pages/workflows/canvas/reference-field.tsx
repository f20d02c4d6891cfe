import { Autocomplete, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../../../api/client.ts';
import { useApi } from '../../../api/hooks.ts';
import { t } from '../../../texts/index.ts';
import { type ResourcePath, TextLink } from '../../../ui/links.tsx';
import { type referenceLoaders, useReferences } from './names.ts';

/** Where the thing that an id of a config refers to has its page. */
const pages: Record<keyof typeof referenceLoaders, ResourcePath> = {
  templateId: '/p/$projectId/templates/$id',
  segmentId: '/p/$projectId/segments/$id',
  topicId: '/p/$projectId/topics/$id',
  workflowId: '/p/$projectId/workflows/$id',
};

export type ReferenceName = keyof typeof pages;

export const hasReferences = (name: string): name is ReferenceName => name in pages;

interface ReferenceFieldProps {
  name: ReferenceName;
  value: string;
  onChange(id: string | undefined): void;
  label: string;
  description: string | undefined;
  error: string | undefined;
  required: boolean;
  disabled: boolean;
}

/** Chooses one of the project's templates, segments, topics or workflows. */
export function ReferenceField({ name, value, onChange, ...field }: ReferenceFieldProps) {
  const { projectId } = useApi();
  // Steps change the members of static segments only.
  const data = (useReferences(name) ?? []).filter(({ type }) => name !== 'segmentId' || type === 'STATIC');
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
        <TextLink to={pages[name]} params={{ projectId, id: value }} size="sm">
          {t.canvas.openReference}
        </TextLink>
      )}
    </div>
  );
}

interface EventFieldProps {
  label?: string;
  'aria-label'?: string;
  description?: string | undefined;
  error?: string | undefined;
  required?: boolean;
  disabled?: boolean;
  value: string;
  onChange(name: string): void;
}

/** The name of an event, with those that the project already has as suggestions. */
export function EventField(props: EventFieldProps) {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('event-names'),
    queryFn: () => unwrap(client.GET('/events/names')),
    staleTime: 60_000,
  });
  const names = [...new Set((data?.names ?? []).map(({ name }) => name))];
  return <Autocomplete {...props} maxLength={255} limit={20} data={names} />;
}
