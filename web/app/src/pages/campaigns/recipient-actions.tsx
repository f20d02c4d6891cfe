import { Button, Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconSend, IconTableExport, IconUsersPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import type { Campaign, RecipientStatus } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import type { RecipientOutcome } from './search.ts';

export interface RecipientFilter {
  status?: RecipientStatus | undefined;
  outcome?: RecipientOutcome | undefined;
  link?: string | undefined;
  reason?: string | undefined;
  search?: string | undefined;
}

/** The API compares so much of a reason, because it is part of an address. */
const COMPARED_REASON = 300;

/** As the API takes it. */
export const comparedFilter = ({ reason, ...filter }: RecipientFilter): RecipientFilter => ({
  ...filter,
  reason: reason?.slice(0, COMPARED_REASON),
});

interface RecipientActionsProps {
  campaign: Campaign;
  filter: RecipientFilter;
  /** How many recipients match; undefined while the list loads. */
  total: number | undefined;
  /** How many recipients have failed. */
  failed: number;
}

/** What can be done with the recipients that are shown. */
export function RecipientActions({ campaign, filter, total = 0, failed }: RecipientActionsProps) {
  const { projectId } = useApi();
  const { write } = useRights();
  const { id, status } = campaign;
  const given = Object.entries(comparedFilter(filter)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const address = new URLSearchParams([['projectId', projectId], ...given]);
  const isFailed = (filter.status === 'FAILED' || given.length === 0) && filter.search === undefined;
  const canResend = isFailed && failed > 0 && (status === 'SENT' || status === 'SENDING');
  if (!write || total === 0) return null;
  return (
    <Group gap="xs" ml="auto">
      {canResend && <ResendButton id={id} reason={filter.reason} count={filter.reason ? total : failed} />}
      <SegmentButton campaign={campaign} filter={filter} total={total} />
      <Button
        component="a"
        variant="default"
        href={`/campaigns/${id}/recipients/export?${address}`}
        download="recipients.csv"
        leftSection={<IconTableExport size={16} />}
      >
        {t.results.export}
      </Button>
    </Group>
  );
}

function ResendButton({ id, reason, count }: { id: string; reason: string | undefined; count: number }) {
  const { client, key } = useApi();
  const resend = useAction({
    run: () =>
      unwrap(
        client.POST('/campaigns/{id}/recipients/resend', {
          params: { path: { id } },
          body: { status: 'FAILED', ...(reason !== undefined && { reason }) },
        }),
      ),
    done: () => t.results.resendQueued,
    changes: [key('campaign', id), key('recipients', id)],
    quiet: true,
  });
  return (
    <ConfirmButton
      label={t.results.resendFailed}
      icon={<IconSend size={16} />}
      title={t.results.resendTitle(count)}
      confirm={t.results.resend}
      onConfirm={() => resend.mutateAsync()}
    >
      {t.results.resendText}
    </ConfirmButton>
  );
}

function SegmentButton({ campaign, filter, total }: { campaign: Campaign; filter: RecipientFilter; total: number }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const [opened, { open, close }] = useDisclosure();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? t.results.segmentNameNeeded : null) },
  });
  const create = useAction({
    run: (name: string) =>
      unwrap(
        client.POST('/campaigns/{id}/recipients/segment', {
          params: { path: { id: campaign.id } },
          body: { name, ...comparedFilter(filter) },
        }),
      ),
    done: ({ name, memberCount }) => t.results.segmentCreated(name, memberCount),
    quiet: true,
    onDone: ({ id }) => {
      void cache.invalidateQueries({ queryKey: key('segments') });
      void navigate({ to: '/p/$projectId/segments/$id', params: { projectId, id } });
    },
  });
  const { outcome, status } = filter;
  const what = outcome
    ? t.results.outcomes[outcome]
    : status
      ? t.campaigns.recipientStatuses[status]
      : t.results.everyone;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconUsersPlus size={16} />}
        onClick={() => {
          create.reset();
          form.setValues({ name: t.results.segmentDefault(campaign.name, what) });
          open();
        }}
      >
        {t.results.segment}
      </Button>
      <FormDialog
        opened={opened}
        title={t.results.segment}
        onClose={close}
        intro={t.results.segmentText(total)}
        error={create.error}
        busy={create.isPending}
        submit={t.results.segmentCreate}
        onSubmit={form.onSubmit(({ name }) => create.mutate(name.trim()))}
      >
        <TextInput label={t.results.segmentName} maxLength={255} data-autofocus {...form.getInputProps('name')} />
      </FormDialog>
    </>
  );
}
