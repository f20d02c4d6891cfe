import { ActionIcon, Alert, Anchor, Button, Checkbox, Group, Stack, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconRefresh, IconUserPlus, IconUsers, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Contact, Segment } from '../../api/types.ts';
import { joinList } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { asCursorPage, pageOf } from '../../ui/offset-list.ts';
import { Empty, Panel } from '../../ui/page.tsx';
import { SubscribedBadge } from '../../ui/status.tsx';
import { type Column, CursorTable } from '../../ui/table.tsx';

export function MembersTab({ segment }: { segment: Segment }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const [adding, { open, close }] = useDisclosure();
  const { id, type } = segment;
  const list = useCursorList<Contact>(key('segment-contacts', id), async (cursor) =>
    asCursorPage(
      await unwrap(
        client.GET('/segments/{id}/contacts', {
          params: { path: { id }, query: { page: pageOf(cursor), pageSize: 50 } },
        }),
      ),
    ),
  );
  const changes = [key('segment', id), key('segments'), key('segment-contacts', id)];
  const refresh = useAction({
    run: () => unwrap(client.POST('/segments/{id}/refresh', { params: { path: { id } } })),
    done: ({ memberCount }) => t.segments.refreshed(memberCount),
    changes,
  });
  const remove = useAction({
    run: (email: string) =>
      unwrap(client.DELETE('/segments/{id}/members', { params: { path: { id } }, body: { emails: [email] } })),
    done: (_, email) => t.segments.memberRemoved(email),
    changes,
  });
  const isStatic = type === 'STATIC';
  const columns: Column<Contact>[] = [
    {
      id: 'email',
      header: t.contacts.email,
      main: true,
      cell: (contact) => (
        <Anchor component={Link} to={`/p/${projectId}/contacts/${contact.id}`} inherit>
          {contact.email}
        </Anchor>
      ),
    },
    {
      id: 'subscribed',
      header: t.contacts.subscription,
      cell: ({ subscribed }) => <SubscribedBadge subscribed={subscribed} />,
    },
    { id: 'created', header: t.common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  if (isStatic && write)
    columns.push({
      id: 'remove',
      header: t.common.actions,
      align: 'right',
      cell: ({ email }) => (
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t.segments.removeMember(email)}
          onClick={() => remove.mutate(email)}
        >
          <IconX size={16} />
        </ActionIcon>
      ),
    });
  return (
    <Panel flush>
      {write && (
        <Group p="md" justify="flex-end">
          {isStatic ? (
            <Button leftSection={<IconUserPlus size={16} />} onClick={open}>
              {t.segments.addMembers}
            </Button>
          ) : (
            <Button
              variant="default"
              leftSection={<IconRefresh size={16} />}
              onClick={() => refresh.mutate()}
              loading={refresh.isPending}
            >
              {t.segments.refresh}
            </Button>
          )}
        </Group>
      )}
      <CursorTable
        label={t.segments.members}
        list={list}
        rowId={(contact) => contact.id}
        columns={columns}
        empty={<Empty icon={<IconUsers size={28} />} title={t.segments.noMembers} />}
      />
      <AddMembersDialog segment={segment} opened={adding} onClose={close} />
    </Panel>
  );
}

function AddMembersDialog({ segment, opened, onClose }: { segment: Segment; opened: boolean; onClose(): void }) {
  const { client, key } = useApi();
  const [text, setText] = useState('');
  const [createMissing, setCreateMissing] = useState(false);
  const { id } = segment;
  const add = useAction({
    run: (emails: string[]) =>
      unwrap(client.POST('/segments/{id}/members', { params: { path: { id } }, body: { emails, createMissing } })),
    done: ({ added, created }) => t.segments.membersAdded(added, created),
    changes: [key('segment', id), key('segments'), key('segment-contacts', id), key('contacts')],
    quiet: true,
    onDone: ({ notFound }) => {
      if (notFound.length > 0) return;
      setText('');
      onClose();
    },
  });
  const notFound = add.data?.notFound ?? [];
  return (
    <Dialog opened={opened} onClose={onClose} title={t.segments.addMembers}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate(text.split(/[\s,;]+/).filter(Boolean));
        }}
      >
        <Stack>
          {add.error && <Alert color="red">{messageOf(add.error)}</Alert>}
          {notFound.length > 0 && (
            <Alert color="yellow" className="breakable">
              {t.segments.membersNotFound(joinList(notFound))}
            </Alert>
          )}
          <Textarea
            label={t.segments.addresses}
            description={t.segments.addMembersHint}
            autosize
            minRows={4}
            maxRows={12}
            required
            data-autofocus
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Checkbox
            label={t.segments.createMissing}
            checked={createMissing}
            onChange={(event) => setCreateMissing(event.currentTarget.checked)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={add.isPending}>
              {t.segments.addMembers}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
