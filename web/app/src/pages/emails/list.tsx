import { Alert, Badge, Box, Button, CloseButton, Group, Text, TextInput } from '@mantine/core';
import { IconMailFast, IconSearchOff } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList } from '../../api/hooks.ts';
import type { Email } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Choice, Time } from '../../ui/controls.tsx';
import { DateField } from '../../ui/date-field.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { EmailStatusBadge } from '../../ui/status.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { type EmailsSearch, emailFilters } from './search.ts';

const references = ['contactId', 'campaignId', 'templateId', 'workflowId'] as const;

export function EmailsPage() {
  const { client, key, projectId } = useApi();
  const search = useSearch({ from: '/signed-in/p/$projectId/emails' });
  const navigate = useNavigate({ from: '/p/$projectId/emails' });
  const change = (next: EmailsSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const { from, to, status, ...filters } = search;
  // Days as YYYY-MM-DD sort as texts.
  const reversed = from !== undefined && to !== undefined && from > to;
  const load = (cursor: string | undefined) =>
    unwrap(
      client.GET('/emails', {
        params: {
          query: {
            ...filters,
            ...(status === 'BLOCKED' ? { blocked: true } : { status }),
            // Days of the user's own calendar.
            ...(from && { startDate: new Date(`${from}T00:00:00`).toISOString() }),
            ...(to && { endDate: new Date(`${to}T23:59:59.999`).toISOString() }),
            limit: 50,
            cursor,
          },
        },
      }),
    );
  const list = useCursorList<Email>(key('emails', search), load, { enabled: !reversed });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page title={t.emails.title} description={t.emails.description}>
      <Panel flush>
        <Group p="md" gap="sm" className="filters" align="flex-start">
          <Choice
            label={t.common.status}
            visibleLabel
            w={200}
            value={status ?? 'any'}
            onChange={(value) => change({ status: value === 'any' ? undefined : value })}
            data={[
              { value: 'any', label: t.emails.anyStatus },
              ...emailFilters.map((value) => ({
                value,
                label: value === 'BLOCKED' ? t.emails.blocked : t.emails.statuses[value],
              })),
            ]}
          />
          <RecipientField value={search.email} onChange={(email) => change({ email })} />
          <DateField
            label={t.emails.fromDay}
            value={from ?? ''}
            max={to}
            error={reversed}
            onChange={(day) => change({ from: day || undefined })}
          />
          <DateField
            label={t.emails.toDay}
            value={to ?? ''}
            min={from}
            error={reversed}
            onChange={(day) => change({ to: day || undefined })}
          />
          {references
            .filter((name) => search[name])
            .map((name) => (
              <Badge
                variant="light"
                key={name}
                size="lg"
                className="beside-field"
                rightSection={
                  <CloseButton
                    size="xs"
                    aria-label={t.emails.removeFilter}
                    onClick={() => change({ [name]: undefined })}
                  />
                }
              >
                {t.emails.onlyMailOf(t.emails.onlyOf[name])}
              </Badge>
            ))}
          {isFiltered && (
            <Button variant="subtle" className="beside-field" onClick={() => void navigate({ search: {} })}>
              {t.common.clearFilters}
            </Button>
          )}
        </Group>
        {reversed ? (
          <Alert color="yellow" m="md" mt={0}>
            {t.emails.reversedDays}
          </Alert>
        ) : (
          <CursorTable<Email>
            label={t.emails.title}
            list={list}
            rowId={({ id }) => id}
            empty={
              isFiltered ? (
                <Empty icon={<IconSearchOff size={30} />} title={t.emails.noMatch} />
              ) : (
                <Empty icon={<IconMailFast size={30} />} title={t.emails.emptyTitle} text={t.emails.emptyText} />
              )
            }
            columns={[
              {
                id: 'mail',
                header: t.emails.mail,
                main: true,
                cell: ({ id, to: recipient, subject }) => (
                  <Box>
                    <TextLink to="/p/$projectId/emails/$id" params={{ projectId, id }} fw={600} inherit>
                      {subject || t.emails.noSubject}
                    </TextLink>
                    <Text size="sm" c="dimmed" fw={400}>
                      {recipient}
                    </Text>
                  </Box>
                ),
              },
              { id: 'status', header: t.common.status, cell: ({ status }) => <EmailStatusBadge status={status} /> },
              { id: 'reason', header: t.emails.reason, cell: ({ reason }) => reason ?? '—' },
              { id: 'source', header: t.emails.source, cell: ({ sourceType }) => t.emails.sources[sourceType] },
              { id: 'created', header: t.common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
            ]}
          />
        )}
      </Panel>
    </Page>
  );
}

interface RecipientFieldProps {
  value: string | undefined;
  onChange(email: string | undefined): void;
}

/** Takes a whole address, with Enter or on leaving the field: half of one would be refused. */
function RecipientField({ value = '', onChange }: RecipientFieldProps) {
  const [text, setText] = useState(value);
  const [isPart, setIsPart] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setText(value), [value]);
  const apply = () => {
    const isWhole = input.current?.checkValidity() ?? true;
    setIsPart(!isWhole);
    if (isWhole && text.trim() !== value) onChange(text.trim() || undefined);
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <TextInput
        ref={input}
        label={t.emails.recipient}
        type="email"
        placeholder={t.emails.recipientHint}
        value={text}
        error={isPart && t.emails.wholeAddress}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setIsPart(false);
        }}
        onBlur={apply}
        maw="12rem"
      />
    </form>
  );
}
