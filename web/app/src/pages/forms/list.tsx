import { Group } from '@mantine/core';
import { IconForms, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Form } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi, useRights } from '../../api/hooks.ts';
import { number, percent } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { useFormStats } from './queries.ts';
import { AttackBanner, FormStatusBadges } from './status.tsx';

const DAYS = 30;

export function FormsPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const forms = useQuery({ queryKey: key('forms'), queryFn: () => unwrap(client.GET('/forms')) });
  const create = write && (
    <ButtonLink to="/p/$projectId/forms/new" params={{ projectId }} leftSection={<IconPlus size={16} />}>
      {t.forms.new}
    </ButtonLink>
  );
  return (
    <Page title={t.forms.title} description={t.forms.description} actions={create}>
      {forms.data && <AttackBanner forms={forms.data} />}
      <Panel flush>
        <Loaded query={forms} lines={6}>
          {(all) =>
            all.length > 0 ? (
              <FormsTable forms={all} />
            ) : (
              <Empty
                icon={<IconForms size={30} />}
                title={t.forms.emptyTitle}
                text={t.forms.emptyText}
                action={create}
              />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}

function FormsTable({ forms }: { forms: Form[] }) {
  const { projectId } = useApi();
  return (
    <DataTable<Form>
      portable
      label={t.forms.title}
      rows={forms}
      rowId={({ id }) => id}
      columns={[
        {
          id: 'name',
          header: t.common.name,
          main: true,
          cell: ({ id, name }) => (
            <TextLink to="/p/$projectId/forms/$id" params={{ projectId, id }} fw={600} inherit className="breakable">
              {name}
            </TextLink>
          ),
        },
        {
          id: 'status',
          header: t.common.status,
          cell: (form) => (
            <Group gap={6}>
              <FormStatusBadges form={form} />
            </Group>
          ),
        },
        { id: 'submitted', header: t.forms.submitted, align: 'right', cell: ({ id }) => <Figure id={id} /> },
        { id: 'rate', header: t.forms.confirmRate, align: 'right', cell: ({ id }) => <Figure id={id} isRate /> },
        { id: 'updated', header: t.common.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
      ]}
    />
  );
}

/** Submissions of the last days, or how many of them were confirmed. */
function Figure({ id, isRate = false }: { id: string; isRate?: boolean }) {
  const { data } = useFormStats(id, DAYS);
  const rate = data?.confirmRate ?? null;
  const shown = isRate ? rate !== null && percent(rate) : data && number(data.submitted);
  return <span title={t.forms.lastDays}>{shown || '—'}</span>;
}
