import { Alert, Anchor, Button, Group, NumberInput, SimpleGrid, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCreditCard } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Consumption, Invoice } from '../../api/types.ts';
import { date, money, number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';

const categories = ['transactional', 'campaigns', 'workflows'] as const;
type Category = (typeof categories)[number];
type BillingLimits = Record<Category, number | null>;

export function BillingPage() {
  const { client, key, projectId } = useApi();
  const { admin } = useRights();
  const setup = useQuery({
    queryKey: key('setup'),
    queryFn: () => unwrap(client.GET('/projects/{id}/setup-state', { params: { path: { id: projectId } } })),
  });
  return (
    <Page title={t.billing.title} description={t.billing.description}>
      <Loaded query={setup}>
        {({ billingEnabled }) =>
          !billingEnabled ? (
            <Panel>
              <Empty icon={<IconCreditCard size={30} />} title={t.billing.offTitle} text={t.billing.offText} />
            </Panel>
          ) : !admin ? (
            <Text c="dimmed">{t.project.onlyAdmins}</Text>
          ) : (
            <>
              <UsagePanel />
              <LimitsPanel />
              <InvoicesPanel />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function useBillingPath() {
  const { projectId, key } = useApi();
  return { key, params: { params: { path: { id: projectId } } } };
}

function UsagePanel() {
  const { key, params } = useBillingPath();
  const consumption = useQuery({
    queryKey: key('consumption'),
    queryFn: () => unwrap(accountApi.GET('/users/@me/projects/{id}/billing-consumption', params)),
  });
  const leave = ({ url }: { url: string }) => window.location.assign(url);
  const portal = useAction({
    run: () => unwrap(accountApi.POST('/users/@me/projects/{id}/billing-portal', params)),
    onDone: leave,
  });
  const checkout = useAction({
    run: () => unwrap(accountApi.POST('/users/@me/projects/{id}/checkout', params)),
    onDone: leave,
  });
  return (
    <Panel
      flush
      title={t.billing.usage}
      description={
        consumption.data && t.billing.period(date(consumption.data.periodStart), date(consumption.data.periodEnd))
      }
      actions={
        <>
          <Button variant="default" onClick={() => checkout.mutate()} loading={checkout.isPending}>
            {t.billing.checkout}
          </Button>
          <Button variant="default" onClick={() => portal.mutate()} loading={portal.isPending}>
            {t.billing.portal}
          </Button>
        </>
      }
    >
      <Loaded query={consumption}>
        {(data) => (
          <>
            <UsageTable consumption={data} />
            <Text p="lg" fw={600}>
              {t.billing.total}: {number(data.total)}
            </Text>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

const orUnlimited = (value: number | null): string => (value === null ? t.billing.unlimited : number(value));

function UsageTable({ consumption }: { consumption: Consumption }) {
  return (
    <DataTable<{ category: Category }>
      label={t.billing.usage}
      rows={categories.map((category) => ({ category }))}
      rowId={({ category }) => category}
      columns={[
        {
          id: 'category',
          header: t.billing.category,
          main: true,
          cell: ({ category }) => t.billing.categories[category],
        },
        {
          id: 'used',
          header: t.billing.used,
          align: 'right',
          cell: ({ category }) => number(consumption[category].used),
        },
        {
          id: 'limit',
          header: t.billing.limit,
          align: 'right',
          cell: ({ category }) => orUnlimited(consumption[category].limit),
        },
        {
          id: 'remaining',
          header: t.billing.remaining,
          align: 'right',
          cell: ({ category }) => orUnlimited(consumption[category].remaining),
        },
      ]}
    />
  );
}

function LimitsPanel() {
  const { key, params } = useBillingPath();
  const limits = useQuery({
    queryKey: key('billing-limits'),
    queryFn: () => unwrap(accountApi.GET('/users/@me/projects/{id}/billing-limits', params)),
  });
  return (
    <Panel title={t.billing.limits} description={t.billing.limitsText}>
      <Loaded query={limits}>{(data) => <LimitsForm limits={data} />}</Loaded>
    </Panel>
  );
}

function LimitsForm({ limits }: { limits: BillingLimits }) {
  const { key, params } = useBillingPath();
  const form = useForm({ initialValues: limits });
  const save = useAction({
    run: (body: BillingLimits) =>
      unwrap(accountApi.PUT('/users/@me/projects/{id}/billing-limits', { ...params, body })),
    done: () => t.billing.limitsSaved,
    changes: [key('consumption'), key('billing-limits')],
    quiet: true,
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        {save.error && <Alert color="red">{messageOf(save.error)}</Alert>}
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          {categories.map((category) => (
            <NumberInput
              key={category}
              label={t.billing.categories[category]}
              placeholder={t.billing.unlimited}
              min={0}
              max={2_000_000_000}
              allowDecimal={false}
              hideControls
              thousandSeparator
              value={form.values[category] ?? ''}
              onChange={(value) => form.setFieldValue(category, value === '' ? null : Number(value))}
            />
          ))}
        </SimpleGrid>
        <Group>
          <Button type="submit" loading={save.isPending}>
            {t.common.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function InvoicesPanel() {
  const { key, params } = useBillingPath();
  const invoices = useQuery({
    queryKey: key('invoices'),
    queryFn: () => unwrap(accountApi.GET('/users/@me/projects/{id}/billing-invoices', params)),
  });
  return (
    <Panel flush title={t.billing.invoices}>
      <Loaded query={invoices}>
        {(all) =>
          all.length === 0 ? (
            <Text c="dimmed" px="lg" pb="lg">
              {t.billing.noInvoices}
            </Text>
          ) : (
            <DataTable<Invoice>
              portable
              label={t.billing.invoices}
              rows={all}
              rowId={({ id }) => id}
              columns={[
                { id: 'number', header: t.billing.number, main: true, cell: ({ id, number: given }) => given ?? id },
                {
                  id: 'amount',
                  header: t.billing.amount,
                  align: 'right',
                  cell: ({ amountDue, currency }) => money(amountDue, currency),
                },
                { id: 'state', header: t.billing.state, cell: ({ status }) => status ?? '—' },
                { id: 'created', header: t.common.created, cell: ({ createdAt }) => <Time at={createdAt} exact /> },
                { id: 'open', header: t.common.actions, cell: (invoice) => <InvoiceLinks invoice={invoice} /> },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

const InvoiceLinks = ({ invoice: { hostedUrl, pdfUrl } }: { invoice: Invoice }) => (
  <Group gap="sm">
    {hostedUrl && (
      <Anchor href={hostedUrl} target="_blank" rel="noreferrer">
        {t.billing.open}
      </Anchor>
    )}
    {pdfUrl && (
      <Anchor href={pdfUrl} target="_blank" rel="noreferrer">
        {t.billing.pdf}
      </Anchor>
    )}
  </Group>
);
