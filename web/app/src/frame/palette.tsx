import '@mantine/spotlight/styles.css';
import { useDebouncedValue } from '@mantine/hooks';
import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight';
import { IconAddressBook, IconAlertTriangle, IconBuilding, IconPlus, IconSearch, IconSend } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { unwrap } from '../api/client.ts';
import { useApi, useMe, useProjects, useRights } from '../api/hooks.ts';
import { t } from '../texts/index.ts';
import { navItems } from './navigation.ts';

const [store, palette] = createSpotlight();

/** Pages, things to create, projects, and contacts and campaigns that match. Opens with every change of `opening`. */
export function Palette({ opening }: { opening: number }) {
  const { projectId, client, key } = useApi();
  const { data: projects = [] } = useProjects();
  const { write, admin } = useRights();
  const { data: me } = useMe();
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const [search] = useDebouncedValue(query.trim(), 200);
  // Every request opens it.
  useEffect(palette.open, [opening]);

  const go =
    (path: string, search: object = {}) =>
    () =>
      void navigate({ to: `/p/${projectId}/${path}`, search: search as never });
  const contacts = useQuery({
    queryKey: key('contacts', 'palette', search),
    queryFn: () => unwrap(client.GET('/contacts', { params: { query: { search, limit: 5 } } })),
    enabled: search.length >= 2,
  });
  const campaigns = useQuery({
    queryKey: key('campaigns', 'palette', search),
    queryFn: () => unwrap(client.GET('/campaigns', { params: { query: { search, pageSize: 5 } } })),
    enabled: search.length >= 2,
  });
  const matches = ({ label = '' }: SpotlightActionData) => label.toLowerCase().includes(query.trim().toLowerCase());
  const icon = (Icon: typeof IconPlus) => <Icon size={18} aria-hidden />;
  const pages = [
    ...navItems
      .filter((item) => (admin || !item.admin) && (me?.operator || !item.operator))
      .map(({ to, label, icon: Icon }) => ({
        id: `page:${to}`,
        label,
        leftSection: icon(Icon),
        onClick: go(to),
      })),
    {
      id: 'page:failed',
      label: t.nav.failedExecutions,
      leftSection: icon(IconAlertTriangle),
      onClick: go('executions', { status: 'FAILED' }),
    },
    { id: 'page:import', label: t.nav.import, leftSection: icon(IconAddressBook), onClick: go('contacts/import') },
  ].filter(matches);
  const create = [
    { id: 'new:campaign', label: t.frame.newCampaign, onClick: go('campaigns/new') },
    { id: 'new:template', label: t.frame.newTemplate, onClick: go('templates/new') },
    { id: 'new:segment', label: t.frame.newSegment, onClick: go('segments/new') },
    { id: 'new:domain', label: t.frame.addDomain, onClick: go('domains') },
    ...(admin ? [{ id: 'new:member', label: t.frame.inviteMember, onClick: go('members', { invite: true }) }] : []),
    { id: 'new:suppression', label: t.frame.suppressAddress, onClick: go('suppressions', { add: true }) },
    ...(admin
      ? [
          { id: 'new:webhook', label: t.frame.newWebhook, onClick: go('webhooks', { add: true }) },
          { id: 'new:key', label: t.frame.newKey, onClick: go('developers', { add: true }) },
        ]
      : []),
  ]
    .map((action) => ({ ...action, leftSection: icon(IconPlus) }))
    .filter(matches);
  const others = projects
    .filter(({ id }) => id !== projectId)
    .slice(0, 20)
    .map(({ id, name }) => ({
      id: `project:${id}`,
      label: name,
      leftSection: icon(IconBuilding),
      onClick: () => void navigate({ to: '/p/$projectId', params: { projectId: id } }),
    }))
    .filter(matches);
  const foundContacts = (contacts.data?.data ?? []).map(({ id, email }) => ({
    id: `contact:${id}`,
    label: email,
    leftSection: icon(IconAddressBook),
    onClick: go(`contacts/${id}`),
  }));
  const foundCampaigns = (campaigns.data?.data ?? []).map(({ id, name }) => ({
    id: `campaign:${id}`,
    label: name,
    leftSection: icon(IconSend),
    onClick: go(`campaigns/${id}`),
  }));
  const groups: SpotlightActionGroupData[] = [
    { group: t.frame.found, actions: search.length >= 2 ? foundContacts : [] },
    { group: t.frame.foundCampaigns, actions: search.length >= 2 ? foundCampaigns : [] },
    { group: t.frame.pages, actions: pages },
    { group: t.frame.create, actions: write ? create : [] },
    { group: t.frame.projects, actions: others },
  ].filter(({ actions }) => actions.length > 0);
  return (
    <Spotlight
      store={store}
      shortcut={null}
      actions={groups}
      query={query}
      onQueryChange={setQuery}
      filter={(_query, actions) => actions}
      nothingFound={t.frame.nothingFound}
      scrollable
      maxHeight={460}
      classNames={{ actionBody: 'breakable' }}
      searchProps={{
        leftSection: <IconSearch size={20} aria-hidden />,
        placeholder: t.frame.search,
        'aria-label': t.frame.search,
      }}
    />
  );
}
