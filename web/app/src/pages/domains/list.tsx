import './list.css';
import { Alert, Badge, Box, Button, Code, Collapse, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconRefresh, IconTrash, IconWorldCheck } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { useLive } from '../../api/live.ts';
import type { Domain, DomainRecord } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Copyable, CopyButton, Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';

export function DomainsPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const cache = useQueryClient();
  const [adding, { open, close }] = useDisclosure();
  const queryKey = key('domains');
  const domains = useQuery({
    queryKey,
    queryFn: () => unwrap(client.GET('/domains/project/{projectId}', { params: { path: { projectId } } })),
  });
  const pending = (domains.data ?? []).filter(({ verified }) => !verified);
  useLive(
    pending.slice(0, 20).map(({ id }) => `domain:${id}`),
    ({ data }) => {
      const changed = data as Domain;
      cache.setQueryData<Domain[]>(queryKey, (all) =>
        all?.map((domain) => (domain.id === changed.id ? changed : domain)),
      );
    },
    pending.length > 0,
  );
  const add = write && (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      {t.domains.add}
    </Button>
  );
  return (
    <Page title={t.domains.title} description={t.domains.description} actions={add}>
      <Loaded query={domains}>
        {(all) =>
          all.length === 0 ? (
            <Panel>
              <Empty
                icon={<IconWorldCheck size={30} />}
                title={t.domains.emptyTitle}
                text={t.domains.emptyText}
                action={add}
              />
            </Panel>
          ) : (
            all.map((domain) => <DomainPanel key={domain.id} domain={domain} />)
          )
        }
      </Loaded>
      <AddDomainDialog opened={adding} onClose={close} />
    </Page>
  );
}

function DomainPanel({ domain }: { domain: Domain }) {
  const { client, key } = useApi();
  const { write } = useRights();
  const { id, domain: name, verified, records } = domain;
  const params = { params: { path: { id } } };
  const [zone, { toggle }] = useDisclosure();
  // A domain of the installation itself is verified without any record.
  const isManaged = verified && records.every(({ required }) => !required);
  const check = useAction({
    run: () => unwrap(client.GET('/domains/{id}/verify', params)),
    done: (checked) => t.domains.checked(checked.verified),
    changes: [key('domains'), key('setup')],
  });
  const remove = useAction({
    run: () => unwrap(client.DELETE('/domains/{id}', params)),
    done: () => t.domains.removed(name),
    changes: [key('domains')],
    quiet: true,
  });
  return (
    <Panel>
      <Group justify="space-between" align="flex-start">
        <Box miw={0}>
          <Group gap="sm">
            <Title order={2} size="h3" className="breakable">
              {name}
            </Title>
            <Badge color={verified ? 'teal' : 'yellow'}>{t.domains.statuses[domain.status]}</Badge>
          </Group>
          <Text size="sm" c="dimmed">
            {isManaged ? (
              t.domains.managed
            ) : (
              <>
                {t.domains.lastChecked}: <Time at={domain.lastCheckedAt} />
                {!verified && ` · ${t.domains.watching}`}
              </>
            )}
          </Text>
        </Box>
        {write && (
          <Group gap="xs">
            {!isManaged && (
              <Button
                variant="default"
                size="sm"
                leftSection={<IconRefresh size={16} />}
                onClick={() => check.mutate()}
                loading={check.isPending}
              >
                {t.domains.check}
              </Button>
            )}
            <ConfirmButton
              danger
              variant="light"
              size="sm"
              label={t.domains.remove}
              icon={<IconTrash size={16} />}
              title={t.domains.removeTitle(name)}
              confirm={t.domains.remove}
              onConfirm={() => remove.mutateAsync()}
            >
              {t.domains.removeText(name)}
            </ConfirmButton>
          </Group>
        )}
      </Group>
      {domain.conflict && (
        <Alert color="red" mt="md">
          {t.domains.conflict}
        </Alert>
      )}
      {!isManaged && (
        <Stack mt="lg" gap="md">
          <Text size="sm" c="dimmed">
            {t.domains.recordsText}
          </Text>
          {records.map((record) => (
            <RecordBox key={`${record.purpose}:${record.name}:${record.type}`} record={record} />
          ))}
          <Box>
            <Button variant="subtle" size="xs" onClick={toggle} aria-expanded={zone}>
              {zone ? t.domains.hideZone : t.domains.showZone}
            </Button>
            <Collapse expanded={zone}>
              <Group align="flex-start" wrap="nowrap" mt="xs">
                <Code block flex={1} miw={0} className="zone" tabIndex={0}>
                  {zoneFile(records)}
                </Code>
                <CopyButton value={zoneFile(records)} label={t.domains.zone} />
              </Group>
            </Collapse>
          </Box>
        </Stack>
      )}
    </Panel>
  );
}

const recordColors = { FOUND: 'teal', MISSING: 'red', MISMATCH: 'orange' };

function RecordBox({ record }: { record: DomainRecord }) {
  const { purpose, type, name, value, priority, required, status, found, error } = record;
  return (
    <Box className="record" role="group" aria-label={t.domains.purposes[purpose]}>
      <Group gap="sm" mb="xs">
        <Text fw={600}>{t.domains.purposes[purpose]}</Text>
        <Badge color={status === 'MISSING' && !required ? 'gray' : recordColors[status]}>
          {t.domains.recordStatuses[status]}
        </Badge>
        <Text size="xs" c="dimmed">
          {required ? t.domains.required : t.domains.optional}
        </Text>
      </Group>
      <dl className="facts">
        <dt>{t.domains.recordType}</dt>
        <dd>{type}</dd>
        <dt>{t.domains.recordName}</dt>
        <dd>
          <Copyable value={name} label={`${t.domains.purposes[purpose]}, ${t.domains.recordName}`} />
        </dd>
        <dt>{t.domains.recordValue}</dt>
        <dd>
          <Copyable value={value} label={`${t.domains.purposes[purpose]}, ${t.domains.recordValue}`} />
        </dd>
        {priority !== undefined && (
          <>
            <dt>{t.domains.priority}</dt>
            <dd>{priority}</dd>
          </>
        )}
        {status === 'MISMATCH' && (
          <>
            <dt>{t.domains.found}</dt>
            <dd className="breakable">{found ?? t.domains.nothingFound}</dd>
          </>
        )}
      </dl>
      {error && (
        <Text size="sm" c="red">
          {error}
        </Text>
      )}
    </Box>
  );
}

/** Text records longer than 255 bytes are split into several strings (RFC 1035, 3.3). */
export function zoneFile(records: DomainRecord[]): string {
  const strings = (text: string) =>
    (text.match(/.{1,255}/gs) ?? ['']).map((part) => `"${part.replaceAll('"', '\\"')}"`);
  return records
    .map(({ name, type, value, priority }) =>
      type === 'MX'
        ? `${name}. 3600 IN MX ${priority ?? 10} ${value}.`
        : `${name}. 3600 IN TXT ${strings(value).join(' ')}`,
    )
    .join('\n');
}

function AddDomainDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const { client, key } = useApi();
  const form = useForm({ initialValues: { domain: '' } });
  const add = useAction({
    run: (name: string) => unwrap(client.POST('/domains', { body: { domain: name } })),
    done: (added) => t.domains.added(added.domain),
    changes: [key('domains'), key('setup')],
    quiet: true,
    onDone: () => {
      form.reset();
      onClose();
    },
  });
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={t.domains.addTitle}
      error={add.error}
      busy={add.isPending}
      submit={t.domains.add}
      onSubmit={form.onSubmit(({ domain }) => add.mutate(domain.trim().toLowerCase()))}
    >
      <TextInput
        label={t.domains.domain}
        description={t.domains.domainHint}
        required
        data-autofocus
        {...form.getInputProps('domain')}
      />
    </FormDialog>
  );
}
