import { Badge, Button, Group, Text } from '@mantine/core';
import { IconInbox, IconSearchOff, IconSend } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { FormSubmission } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import { dateTime } from '../../format.ts';
import { oneOf } from '../../search-params.ts';
import { t } from '../../texts/index.ts';
import { Choice, Time } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Empty, Panel } from '../../ui/page.tsx';
import { type Column, CursorTable } from '../../ui/table.tsx';
import { REFRESH_MS } from './queries.ts';

type Status = FormSubmission['status'];

const statuses: Status[] = ['RECEIVED', 'PENDING', 'CONFIRMED', 'DECLINED', 'EXPIRED', 'ALREADY', 'REFUSED'];
const colors: Record<Status, string> = {
  RECEIVED: 'gray',
  PENDING: 'yellow',
  CONFIRMED: 'teal',
  DECLINED: 'orange',
  EXPIRED: 'gray',
  ALREADY: 'blue',
  REFUSED: 'red',
};

/** What visitors submitted, and what has become of it. */
export function SubmissionsTab({ formId: id }: { formId: string }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const search = useSearch({ from: '/signed-in/p/$projectId/forms/$id' });
  const navigate = useNavigate({ from: '/p/$projectId/forms/$id' });
  const status = oneOf(search.status, ...statuses);
  const list = useCursorList<FormSubmission>(
    key('form-submissions', id, status),
    (cursor) =>
      unwrap(client.GET('/forms/{id}/submissions', { params: { path: { id }, query: { status, cursor, limit: 50 } } })),
    { refetchInterval: REFRESH_MS },
  );
  return (
    <Panel flush>
      <Group p="md">
        <Choice
          label={t.common.status}
          value={status ?? 'any'}
          onChange={(value) =>
            void navigate({ search: { ...search, status: value === 'any' ? undefined : value }, replace: true })
          }
          data={[
            { value: 'any', label: t.forms.anyStatus },
            ...statuses.map((value) => ({ value, label: t.forms.submissionStatuses[value] })),
          ]}
        />
      </Group>
      <CursorTable<FormSubmission>
        label={t.forms.submissions}
        list={list}
        rowId={(submission) => submission.id}
        columns={columnsOf(id, projectId, write)}
        empty={
          status ? (
            <Empty icon={<IconSearchOff size={30} />} title={t.forms.submissionsNone} />
          ) : (
            <Empty
              icon={<IconInbox size={30} />}
              title={t.forms.submissionsEmpty}
              text={t.forms.submissionsEmptyText}
            />
          )
        }
      />
    </Panel>
  );
}

function columnsOf(formId: string, projectId: string, write: boolean): Column<FormSubmission>[] {
  return [
    {
      id: 'email',
      header: t.forms.address,
      main: true,
      cell: ({ email, ip, pageUrl, contactId }) => (
        <div className="breakable">
          {email === null ? (
            <span className="dimmed">{t.forms.erased}</span>
          ) : contactId ? (
            <TextLink to="/p/$projectId/contacts/$id" params={{ projectId, id: contactId }} inherit>
              {email}
            </TextLink>
          ) : (
            email
          )}
          {ip && (
            <Text size="xs" c="dimmed" fw={400}>
              {ip}
            </Text>
          )}
          {pageUrl && (
            <Text size="xs" c="dimmed" fw={400} lineClamp={2} title={pageUrl}>
              {shortUrl(pageUrl)}
            </Text>
          )}
        </div>
      ),
    },
    {
      id: 'status',
      header: t.common.status,
      cell: ({ status, reason }) => (
        <div>
          <Badge color={colors[status]}>{t.forms.submissionStatuses[status]}</Badge>
          {reason && (
            <Text size="sm" c="dimmed">
              {t.forms.reasons[reason]}
            </Text>
          )}
        </div>
      ),
    },
    { id: 'created', header: t.forms.submitted, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: 'sent',
      header: t.forms.sent,
      cell: ({ sentAt, remindedAt }) => (
        <div>
          <Time at={sentAt} />
          {remindedAt && (
            <Text size="xs" c="dimmed">
              {t.forms.reminded(dateTime(remindedAt))}
            </Text>
          )}
        </div>
      ),
    },
    { id: 'confirmed', header: t.forms.confirmed, cell: ({ confirmedAt }) => <Time at={confirmedAt} /> },
    ...(write
      ? [
          {
            id: 'actions',
            header: t.common.actions,
            align: 'right' as const,
            screenOnly: true,
            cell: ({ id, status, email }: FormSubmission) =>
              status === 'PENDING' && email && <ResendButton formId={formId} submissionId={id} email={email} />,
          },
        ]
      : []),
  ];
}

/** Host and path: what people recognize a page by. */
const shortUrl = (url: string): string => url.replace(/^https?:\/\//, '').replace(/[?#].*$/, '');

function ResendButton({ formId: id, submissionId, email }: { formId: string; submissionId: string; email: string }) {
  const { client, key } = useApi();
  const resend = useAction({
    run: () =>
      unwrap(client.POST('/forms/{id}/submissions/{submissionId}/resend', { params: { path: { id, submissionId } } })),
    done: () => t.forms.resent(email),
    changes: [key('form-submissions', id)],
  });
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconSend size={14} />}
      aria-label={t.forms.resendOf(email)}
      loading={resend.isPending}
      onClick={() => resend.mutate()}
    >
      {t.forms.resend}
    </Button>
  );
}
