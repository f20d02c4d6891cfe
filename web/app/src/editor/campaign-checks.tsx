import { Alert, Badge, Button, List, Stack, Text } from '@mantine/core';
import { IconCheck, IconLink } from '@tabler/icons-react';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { CampaignChecks } from '../api/api-types.ts';
import { unwrap } from '../api/client.ts';
import { useApi } from '../api/hooks.ts';
import { messageOf } from '../api/problem.ts';
import type { Campaign } from '../api/types.ts';
import { number } from '../format.ts';
import { t } from '../texts/index.ts';
import { EmailWarnings } from '../ui/email-warnings.tsx';
import { TextLink } from '../ui/links.tsx';
import { Loaded, Panel } from '../ui/page.tsx';

/** What may be wrong with the campaign as it is stored. */
export function useChecks({ id, revision }: Campaign, { links = false, enabled = true } = {}) {
  const { client, key } = useApi();
  return useQuery({
    queryKey: key('campaign-checks', id, revision, links),
    queryFn: () => unwrap(client.POST('/campaigns/{id}/checks', { params: { path: { id } }, body: { links } })),
    enabled,
    staleTime: 30_000,
    retry: false,
  });
}

interface ChecksPanelProps {
  campaign: Campaign;
  checks: UseQueryResult<CampaignChecks>;
  /** Leads to a place of the document. */
  onShow(path: string): void;
}

/** The checks of a campaign in plain words, before it is sent. */
export function ChecksPanel({ campaign, checks, onShow }: ChecksPanelProps) {
  const { projectId } = useApi();
  return (
    <Panel title={t.editor.checks}>
      <Loaded query={checks}>
        {({ warnings, variables, domain }) => (
          <Stack gap="md">
            {isFine({ warnings, variables, domain }) && (
              <Text className="with-icon">
                <IconCheck size={18} aria-hidden /> {t.editor.checksFine}
              </Text>
            )}
            {!domain.verified && (
              <Alert color="red" title={t.editor.domainPending(domain.domain)}>
                {t.editor.domainPendingText}{' '}
                <TextLink to="/p/$projectId/domains" params={{ projectId }} inherit underline="always">
                  {t.editor.openDomains}
                </TextLink>
              </Alert>
            )}
            <EmptyVariables variables={variables} />
            <EmailWarnings warnings={warnings} {...(campaign.editor === 'VISUAL' && { onShow })} />
          </Stack>
        )}
      </Loaded>
      <LinkChecks campaign={campaign} />
    </Panel>
  );
}

type Shown = Pick<CampaignChecks, 'warnings' | 'variables' | 'domain'>;

const isFine = ({ warnings, variables, domain }: Shown): boolean =>
  warnings.length === 0 && domain.verified && variables.every(({ empty }) => empty === 0);

/** How many recipients have no value for a variable, and what they see instead. */
function EmptyVariables({ variables }: Pick<CampaignChecks, 'variables'>) {
  const lacking = variables
    .filter(({ empty }) => empty > 0)
    .sort((a, b) => Number(a.hasFallback) - Number(b.hasFallback));
  if (lacking.length === 0) return null;
  const isBare = lacking.some(({ hasFallback }) => !hasFallback);
  return (
    <Alert color={isBare ? 'orange' : 'gray'} title={isBare ? t.testMail.withoutFallback : t.editor.variables}>
      <List spacing={4} size="sm">
        {lacking.map(({ name, empty, total, hasFallback }) => (
          <List.Item key={name} className="breakable">
            {hasFallback
              ? t.editor.emptyWithFallback(name, number(empty), number(total))
              : t.editor.emptyWithout(name, number(empty), number(total))}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** Calls the links when the user asks for it. */
function LinkChecks({ campaign }: { campaign: Campaign }) {
  const [wanted, setWanted] = useState(false);
  const checks = useChecks(campaign, { links: true, enabled: wanted });
  const links = checks.data?.links ?? [];
  const broken = links.filter(({ error }) => error !== null);
  return (
    <Stack gap="xs" mt="md" align="flex-start">
      <Button
        variant="default"
        size="xs"
        leftSection={<IconLink size={14} />}
        loading={checks.isFetching}
        onClick={() => {
          if (wanted) void checks.refetch();
          else setWanted(true);
        }}
      >
        {t.editor.checkLinks}
      </Button>
      {checks.error && <Alert color="red">{messageOf(checks.error)}</Alert>}
      {checks.data && (
        <Text size="sm" role="status">
          {t.editor.linksChecked(links.length, broken.length)}
        </Text>
      )}
      {broken.length > 0 && (
        <List spacing={4} size="sm">
          {broken.map(({ link, status, error }) => (
            <List.Item key={link} className="breakable">
              {status !== null && <Badge color="red">{status}</Badge>} {link}: {error}
            </List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
}
