import { Alert, Badge, Button, Group } from '@mantine/core';
import { IconDots, IconPlayerPlay, IconSearchOff, IconSend, IconWebhook } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { WebhookDelivery, WebhookEndpoint } from '../../api/types.ts';
import { dateTime } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { BackLink, TextLink } from '../../ui/links.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { type DeliveriesSearch, deliveryStatuses } from './search.ts';
import { DeliveryStatus, EndpointStatus, NextAttempt } from './status.tsx';

const dialogs = () => import('./dialogs.tsx');
const RecoverDialog = lazy(() => dialogs().then(({ RecoverDialog }) => ({ default: RecoverDialog })));
const RotateDialog = lazy(() => dialogs().then(({ RotateDialog }) => ({ default: RotateDialog })));
const DisableDialog = lazy(() => dialogs().then(({ DisableDialog }) => ({ default: DisableDialog })));
const DeleteDialog = lazy(() => dialogs().then(({ DeleteDialog }) => ({ default: DeleteDialog })));
const EditDialog = lazy(() =>
  import('./endpoint-form.tsx').then(({ EditEndpointDialog }) => ({ default: EditEndpointDialog })),
);

const allDialogs = {
  edit: EditDialog,
  recover: RecoverDialog,
  rotate: RotateDialog,
  disable: DisableDialog,
  delete: DeleteDialog,
};
/** Deliveries have no stream of their own. */
const REFRESH_MS = 5_000;

export function WebhookPage() {
  const { client, key, projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/webhooks/$id' });
  const endpoint = useQuery({
    queryKey: key('webhooks', id),
    queryFn: () => unwrap(client.GET('/webhook-endpoints/{id}', { params: { path: { id } } })),
  });
  const { data } = endpoint;
  return (
    <Page
      title={data?.url ?? t.webhooks.title}
      back={
        <BackLink to="/p/$projectId/webhooks" params={{ projectId }}>
          {t.webhooks.title}
        </BackLink>
      }
      badge={data && <EndpointStatus endpoint={data} />}
      description={data?.description}
      actions={data && <EndpointActions endpoint={data} />}
    >
      <Loaded query={endpoint}>
        {(loaded) => (
          <>
            {loaded.failingSince && (
              <Alert color="orange">{t.webhooks.failingSince(dateTime(loaded.failingSince))}</Alert>
            )}
            <Panel>
              <EndpointFacts endpoint={loaded} />
            </Panel>
            <Deliveries endpointId={id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function EndpointActions({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { client, key } = useApi();
  const { admin } = useRights();
  const [dialog, setDialog] = useState<keyof typeof allDialogs>();
  const path = { params: { path: { id: endpoint.id } } };
  const test = useAction({
    run: () => unwrap(client.POST('/webhook-endpoints/{id}/test', path)),
    done: () => t.webhooks.testSent,
    changes: [key('deliveries', endpoint.id)],
  });
  const enable = useAction({
    run: () => unwrap(client.PATCH('/webhook-endpoints/{id}', { ...path, body: { enabled: true } })),
    done: () => t.webhooks.enabled,
    changes: [key('webhooks'), key('deliveries', endpoint.id)],
  });
  if (!admin) return null;
  const Opened = dialog && allDialogs[dialog];
  return (
    <>
      {endpoint.enabled ? (
        <Button
          variant="default"
          leftSection={<IconSend size={16} />}
          onClick={() => test.mutate()}
          loading={test.isPending}
        >
          {t.webhooks.test}
        </Button>
      ) : (
        <Button leftSection={<IconPlayerPlay size={16} />} onClick={() => enable.mutate()} loading={enable.isPending}>
          {t.webhooks.enable}
        </Button>
      )}
      <MenuButton
        items={[
          { key: 'edit', label: t.common.edit, onClick: () => setDialog('edit') },
          { key: 'recover', label: t.webhooks.recover, onClick: () => setDialog('recover') },
          { key: 'rotate', label: t.webhooks.rotate, onClick: () => setDialog('rotate') },
          ...(endpoint.enabled
            ? [{ key: 'disable', label: t.webhooks.disable, onClick: () => setDialog('disable') }]
            : []),
          { key: 'delete', label: t.common.delete, danger: true, onClick: () => setDialog('delete') },
        ]}
      >
        {(props) => (
          <Button variant="default" leftSection={<IconDots size={16} />} {...props}>
            {t.common.moreActions}
          </Button>
        )}
      </MenuButton>
      {Opened && (
        <Suspense>
          <Opened endpoint={endpoint} onClose={() => setDialog(undefined)} />
        </Suspense>
      )}
    </>
  );
}

function EndpointFacts({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { types, headers, ratePerSecond, createdAt } = endpoint;
  const names = Object.keys(headers);
  return (
    <dl className="facts">
      <dt>{t.webhooks.types}</dt>
      <dd>
        <Group gap={4}>
          {types.map((type) => (
            <Badge key={type} color="gray">
              {type}
            </Badge>
          ))}
        </Group>
      </dd>
      <dt>{t.webhooks.headers}</dt>
      <dd>{names.length > 0 ? names.join(', ') : t.common.none}</dd>
      <dt>{t.webhooks.rate}</dt>
      <dd>{ratePerSecond === null ? t.common.none : t.webhooks.perSecond(ratePerSecond)}</dd>
      <dt>{t.common.created}</dt>
      <dd>
        <Time at={createdAt} exact />
      </dd>
    </dl>
  );
}

function Deliveries({ endpointId: id }: { endpointId: string }) {
  const { client, key, projectId } = useApi();
  const search = useSearch({ from: '/signed-in/p/$projectId/webhooks/$id' });
  const navigate = useNavigate({ from: '/p/$projectId/webhooks/$id' });
  const list = useCursorList<WebhookDelivery>(
    key('deliveries', id, search),
    (cursor) =>
      unwrap(
        client.GET('/webhook-endpoints/{id}/deliveries', {
          params: { path: { id }, query: { ...search, cursor, limit: 50 } },
        }),
      ),
    { refetchInterval: REFRESH_MS },
  );
  const change = (next: DeliveriesSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Panel flush title={t.webhooks.deliveries} description={t.webhooks.deliveriesText}>
      <Group p="md" gap="sm">
        <SearchField
          label={t.webhooks.typeFilter}
          value={search.type ?? ''}
          maxLength={261}
          onChange={(type) => change({ type: type.trim() || undefined })}
          flex="1 1 12rem"
        />
        <Choice
          label={t.common.status}
          value={search.status ?? 'any'}
          onChange={(value) => change({ status: value === 'any' ? undefined : value })}
          data={[
            { value: 'any', label: t.webhooks.anyStatus },
            ...deliveryStatuses.map((value) => ({ value, label: t.webhooks.deliveryStatuses[value] })),
          ]}
        />
      </Group>
      <CursorTable<WebhookDelivery>
        label={t.webhooks.deliveries}
        list={list}
        rowId={(delivery) => delivery.id}
        empty={
          isFiltered ? (
            <Empty icon={<IconSearchOff size={30} />} title={t.webhooks.noDeliveryMatch} />
          ) : (
            <Empty icon={<IconWebhook size={30} />} title={t.webhooks.noDeliveries} />
          )
        }
        columns={[
          {
            id: 'type',
            header: t.webhooks.type,
            main: true,
            cell: (delivery) => (
              <TextLink
                to="/p/$projectId/webhooks/$id/deliveries/$deliveryId"
                params={{ projectId, id, deliveryId: delivery.id }}
                fw={500}
                inherit
              >
                {delivery.type}
              </TextLink>
            ),
          },
          { id: 'status', header: t.common.status, cell: ({ status }) => <DeliveryStatus status={status} /> },
          { id: 'attempts', header: t.webhooks.attempts, align: 'right', cell: ({ attempts }) => attempts },
          {
            id: 'answer',
            header: t.webhooks.lastAnswer,
            cell: ({ lastStatusCode, lastError }) => lastError ?? lastStatusCode ?? '—',
          },
          { id: 'next', header: t.webhooks.next, cell: ({ nextAttemptAt }) => <NextAttempt at={nextAttemptAt} /> },
          { id: 'created', header: t.common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
    </Panel>
  );
}
