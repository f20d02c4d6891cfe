import { ActionIcon, Alert, Button, Checkbox, Group, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconRefresh, IconUserPlus, IconUsers, IconX } from '@tabler/icons-react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { Contact, Segment } from '../../api/types.ts';
import { joinList } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { TextLink } from '../../ui/links.tsx';
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
        <TextLink to="/p/$projectId/contacts/$id" params={{ projectId, id: contact.id }} inherit>
          {contact.email}
        </TextLink>
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
  const form = useForm({ initialValues: { addresses: '', createMissing: false } });
  const { id } = segment;
  const add = useAction({
    run: (body: { emails: string[]; createMissing: boolean }) =>
      unwrap(client.POST('/segments/{id}/members', { params: { path: { id } }, body })),
    done: ({ added, created }) => t.segments.membersAdded(added, created),
    changes: [key('segment', id), key('segments'), key('segment-contacts', id), key('contacts')],
    quiet: true,
    onDone: ({ notFound }) => {
      if (notFound.length > 0) return;
      form.setFieldValue('addresses', '');
      onClose();
    },
  });
  const notFound = add.data?.notFound ?? [];
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={t.segments.addMembers}
      error={add.error}
      busy={add.isPending}
      submit={t.segments.addMembers}
      onSubmit={form.onSubmit(({ addresses, createMissing }) =>
        add.mutate({ emails: addresses.split(/[\s,;]+/).filter(Boolean), createMissing }),
      )}
    >
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
        {...form.getInputProps('addresses')}
      />
      <Checkbox label={t.segments.createMissing} {...form.getInputProps('createMissing', { type: 'checkbox' })} />
    </FormDialog>
  );
}
