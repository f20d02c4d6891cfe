import { Alert, Box, Grid, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import { unwrap } from '../api/client.ts';
import { useApi, useCustomFields } from '../api/hooks.ts';
import { messageOf } from '../api/problem.ts';
import type { Contact, Template } from '../api/types.ts';
import { number } from '../format.ts';
import { t } from '../texts/index.ts';
import { EmailWarnings } from './email-warnings.tsx';
import { MailFrame } from './mail-frame.tsx';
import { Placeholder } from './page.tsx';

const CodeEditor = lazy(() => import('./code-editor.tsx').then(({ CodeEditor }) => ({ default: CodeEditor })));

interface MailEditorProps {
  subject: string;
  body: string;
  type: Template['type'];
  topicId?: string | null | undefined;
  onSubject(subject: string): void;
  onBody(body: string): void;
  /** People to preview as; without them any contact can be searched for. */
  people?: Contact[] | undefined;
  readOnly?: boolean;
  subjectError?: string | undefined;
}

/** A frame may only show this very host; the API's address may name the host otherwise. */
export const previewPath = (url: string): string => {
  const { pathname, search } = new URL(url, window.location.origin);
  return pathname + search;
};

/** Subject and body with a preview beside them that follows every change. */
export function MailEditor(props: MailEditorProps) {
  const { subject, body, type, topicId, onSubject, onBody, people, readOnly = false, subjectError } = props;
  const { client, key } = useApi();
  const [contactId, setContactId] = useState<string | null>(null);
  const person = contactId ?? people?.[0]?.id ?? null;
  const [content] = useDebouncedValue({ subject, body }, 400);
  const request = { ...content, type, ...(topicId && { topicId }), ...(person && { contactId: person }) };
  const rendered = useQuery({
    queryKey: key('render', request),
    queryFn: () => unwrap(client.POST('/render', { body: request })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  });
  const custom = useCustomFields();
  const variables = useMemo(() => [...custom, 'email'], [custom]);
  const faults = rendered.data?.faults ?? [];
  // An empty subject is a finding about a person; before anything is typed it is none.
  const warnings = (rendered.data?.warnings ?? []).filter(
    ({ code }) => code !== 'subject_empty' || (person !== null && content.subject.trim() !== ''),
  );
  const bodyFaults = useMemo(
    () => rendered.data?.faults.filter(({ part }) => part === 'body') ?? [],
    [rendered.data?.faults],
  );
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <Stack gap="md">
          <TextInput
            label={t.templates.subject}
            value={subject}
            onChange={(event) => onSubject(event.currentTarget.value)}
            required
            readOnly={readOnly}
            error={subjectError ?? faults.find(({ part }) => part === 'subject')?.message}
          />
          <Box>
            <Text size="sm" fw={500} mb={4}>
              {t.templates.body}
            </Text>
            <Box className="editor-box">
              <Suspense fallback={<Placeholder lines={8} />}>
                <CodeEditor
                  value={body}
                  onChange={onBody}
                  label={t.templates.body}
                  variables={variables}
                  faults={bodyFaults}
                  readOnly={readOnly}
                />
              </Suspense>
            </Box>
            <Text size="xs" c="dimmed" mt={4}>
              {t.templates.editorHint}
            </Text>
          </Box>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <Stack gap="sm">
          <Group justify="space-between" align="flex-end">
            <PersonSelect people={people} value={person} onChange={setContactId} />
            {rendered.data && (
              <Text size="sm" c="dimmed">
                {t.templates.size(number(Math.ceil(rendered.data.size / 1000)))}
              </Text>
            )}
          </Group>
          {rendered.error && <Alert color="red">{messageOf(rendered.error)}</Alert>}
          {faults.length > 0 && (
            <Alert color="red" title={t.templates.faults(faults.length)}>
              {faults.map(({ part, line, column, message }) => (
                <div key={`${part}:${line}:${column}:${message}`}>
                  {t.templates.faultAt(t.templates.parts[part] ?? part, line, column)}: {message}
                </div>
              ))}
            </Alert>
          )}
          <EmailWarnings warnings={warnings} />
          {rendered.data && (
            <MailFrame
              previewUrl={previewPath(rendered.data.previewUrl)}
              text={rendered.data.text}
              subject={rendered.data.subject}
            />
          )}
          {rendered.isPending && <Placeholder lines={8} />}
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

interface PersonSelectProps {
  people: Contact[] | undefined;
  value: string | null;
  onChange(id: string | null): void;
}

/** A contact to preview an email as. */
export function PersonSelect({ people, value, onChange }: PersonSelectProps) {
  const { client, key } = useApi();
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim(), 250);
  const found = useQuery({
    queryKey: key('contacts', 'people', search),
    queryFn: () => unwrap(client.GET('/contacts', { params: { query: { search: search || undefined, limit: 10 } } })),
    enabled: people === undefined,
    placeholderData: keepPreviousData,
  });
  const contacts = people ?? found.data?.data ?? [];
  return (
    <Select
      label={t.templates.previewPerson}
      placeholder={t.templates.previewSomebody}
      data={contacts.map(({ id, email }) => ({ value: id, label: email }))}
      value={value}
      onChange={onChange}
      onSearchChange={setTyped}
      searchable
      clearable={people === undefined}
      filter={people ? undefined : ({ options }) => options}
      flex="1 1 14rem"
      clearButtonProps={{ 'aria-label': t.templates.previewSomebody }}
    />
  );
}
