import './palette.css';
import { Loader, Modal, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  IconAddressBook,
  IconAlertTriangle,
  IconBuilding,
  IconFilter,
  IconPlus,
  IconRoute,
  IconSearch,
  IconSend,
  IconTemplate,
} from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { linkOptions, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { unwrap } from '../api/client.ts';
import { type ProjectApi, useApi, useMe, useProjects, useRights } from '../api/hooks.ts';
import { t } from '../texts/index.ts';
import type { PageLink } from '../ui/links.tsx';
import { takeEarlyKeys } from './early-keys.ts';
import { navItems } from './navigation.ts';

interface Option {
  id: string;
  label: string;
  /** Beside the label, such as the name of a contact. */
  detail?: string | undefined;
  icon: typeof IconPlus;
  link: PageLink;
}

interface OptionGroup {
  title: string;
  options: Option[];
}

const MIN_LENGTH = 2;
const MOST = 5;

/** Searches pages, things to create, contacts, campaigns, templates, workflows and segments. */
export function Palette({ opening }: { opening: number }) {
  const [opened, setOpened] = useState(false);
  // Every request opens it.
  useEffect(() => setOpened(opening > 0), [opening]);
  return (
    <Modal
      opened={opened}
      onClose={() => setOpened(false)}
      withCloseButton={false}
      centered={false}
      padding={0}
      size={600}
      yOffset={80}
      aria-label={t.common.search}
    >
      <PaletteBody opening={opening} onClose={() => setOpened(false)} />
    </Modal>
  );
}

function PaletteBody({ opening, onClose }: { opening: number; onClose(): void }) {
  const navigate = useNavigate();
  const listId = useId();
  const [query, setQuery] = useState('');
  const [marked, setMarked] = useState(0);
  const [isEntered, setEntered] = useState(false);
  const { groups, isPending } = useGroups(query.trim());
  const options = groups.flatMap((group) => group.options);
  const at = Math.min(marked, Math.max(options.length - 1, 0));
  const current = options[at];
  const type = (text: string) => {
    setQuery(text);
    setMarked(0);
    setEntered(false);
  };
  const open = (option: Option) => {
    onClose();
    void navigate(option.link);
  };
  const input = useRef<HTMLInputElement>(null);
  // What was typed before the field had the focus.
  const takeEarly = () => {
    const early = takeEarlyKeys();
    if (early.text) type(early.text);
    if (early.isEntered) setEntered(true);
  };
  useEffect(() => {
    if (document.activeElement === input.current) takeEarly();
  }, [opening]);
  // Enter takes the first result, also when it was pressed before there was one.
  const isCertain = !isPending || marked > 0 || current?.id.startsWith('page:') === true;
  useEffect(() => {
    if (!isEntered || !isCertain) return;
    setEntered(false);
    if (current) open(current);
  }, [isEntered, isCertain, current]);
  useEffect(() => {
    if (current) document.getElementById(`${listId}-${current.id}`)?.scrollIntoView({ block: 'nearest' });
  }, [current?.id]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') setMarked((at + 1) % Math.max(options.length, 1));
    else if (event.key === 'ArrowUp') setMarked((at - 1 + options.length) % Math.max(options.length, 1));
    else if (event.key === 'Enter') setEntered(true);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        size="lg"
        variant="unstyled"
        px="xs"
        ref={input}
        onFocus={takeEarly}
        data-autofocus
        role="combobox"
        aria-label={t.frame.search}
        aria-expanded
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={current && `${listId}-${current.id}`}
        placeholder={t.frame.search}
        leftSection={<IconSearch size={20} aria-hidden />}
        rightSection={isPending ? <Loader size="xs" /> : null}
        maxLength={200}
        value={query}
        onChange={(event) => type(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div className="palette-list" id={listId} role="listbox" aria-label={t.common.search}>
        {groups.map(({ title, options: shown }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is none of a list
          <div key={title} role="group" aria-label={title}>
            <div className="palette-title" aria-hidden>
              {title}
            </div>
            {shown.map((option) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the field names the marked option
              <div
                key={option.id}
                id={`${listId}-${option.id}`}
                role="option"
                aria-selected={option.id === current?.id}
                className="palette-option"
                onMouseDown={(event) => event.preventDefault()}
                onMouseMove={() => setMarked(options.indexOf(option))}
                onClick={() => open(option)}
              >
                <option.icon size={18} aria-hidden />
                <span className="breakable">{option.label}</span>
                {option.detail && (
                  <Text span c="dimmed" size="sm" className="breakable">
                    {option.detail}
                  </Text>
                )}
              </div>
            ))}
          </div>
        ))}
        {options.length === 0 && !isPending && (
          <Text c="dimmed" p="md" ta="center">
            {t.palette.nothingFound}
          </Text>
        )}
      </div>
    </>
  );
}

/** The groups of a query. Pages whose name begins with it come first: they are there at once. */
function useGroups(query: string): { groups: OptionGroup[]; isPending: boolean } {
  const api = useApi();
  const [search] = useDebouncedValue(query, 150);
  const isSearched = search.length >= MIN_LENGTH;
  const found = useQuery({
    queryKey: api.key('palette', search),
    queryFn: () => findAll(api, search),
    enabled: isSearched,
    staleTime: 10_000,
    placeholderData: keepPreviousData,
  });
  const isPending = query.length >= MIN_LENGTH && (query !== search || found.isPlaceholderData || found.isFetching);
  const needle = query.toLowerCase();
  const { pages, create, projects } = useFixedOptions();
  const matches = ({ label }: Option) => label.toLowerCase().includes(needle);
  const begins = ({ label }: Option) => needle !== '' && label.toLowerCase().startsWith(needle);
  const groups = [
    { title: t.palette.bestMatch, options: pages.filter(begins) },
    ...(query.length >= MIN_LENGTH ? (found.data ?? []) : []),
    { title: t.palette.pages, options: pages.filter((page) => matches(page) && !begins(page)) },
    { title: t.palette.create, options: create.filter(matches) },
    { title: t.palette.projects, options: projects.filter(matches) },
  ];
  return { groups: groups.filter(({ options }) => options.length > 0), isPending };
}

/** Finds contacts, campaigns, templates, workflows and segments by name. */
async function findAll({ client, projectId }: ProjectApi, search: string): Promise<OptionGroup[]> {
  const params = { query: { search, pageSize: MOST } };
  const [contacts, campaigns, templates, workflows, segments] = await Promise.all([
    unwrap(client.GET('/contacts', { params: { query: { query: search, limit: MOST } } })),
    unwrap(client.GET('/campaigns', { params })),
    unwrap(client.GET('/templates', { params })),
    unwrap(client.GET('/workflows', { params })),
    unwrap(client.GET('/segments')),
  ]);
  const needle = search.toLowerCase();
  const options = (
    all: readonly { id: string; name: string }[],
    kind: string,
    icon: Option['icon'],
    linkTo: (id: string) => PageLink,
  ): Option[] => all.map(({ id, name }) => ({ id: `${kind}:${id}`, label: name, icon, link: linkTo(id) }));
  return [
    {
      title: t.palette.found,
      options: contacts.data.map(({ id, email, data }) => ({
        id: `contact:${id}`,
        label: email,
        detail: nameOf(data),
        icon: IconAddressBook,
        link: linkOptions({ to: '/p/$projectId/contacts/$id', params: { projectId, id } }),
      })),
    },
    {
      title: t.palette.foundCampaigns,
      options: options(campaigns.data, 'campaign', IconSend, (id) =>
        linkOptions({ to: '/p/$projectId/campaigns/$id', params: { projectId, id } }),
      ),
    },
    {
      title: t.nav.templates,
      options: options(templates.data, 'template', IconTemplate, (id) =>
        linkOptions({ to: '/p/$projectId/templates/$id', params: { projectId, id } }),
      ),
    },
    {
      title: t.nav.workflows,
      options: options(workflows.data, 'workflow', IconRoute, (id) =>
        linkOptions({ to: '/p/$projectId/workflows/$id', params: { projectId, id } }),
      ),
    },
    {
      title: t.nav.segments,
      options: options(
        segments.filter(({ name }) => name.toLowerCase().includes(needle)).slice(0, MOST),
        'segment',
        IconFilter,
        (id) => linkOptions({ to: '/p/$projectId/segments/$id', params: { projectId, id } }),
      ),
    },
  ];
}

/** The values of fields whose names contain "name". */
function nameOf(data: Record<string, unknown> | null): string | undefined {
  const names = Object.entries(data ?? {}).filter(
    ([field, value]) => /name/i.test(field) && typeof value === 'string' && value !== '',
  );
  // The API orders fields by their length.
  const isFirst = ([field]: [string, unknown]) => /first|given|vor/i.test(field);
  const inOrder = [...names.filter(isFirst), ...names.filter((name) => !isFirst(name))];
  return inOrder.map(([, value]) => String(value)).join(' ') || undefined;
}

function useFixedOptions(): Record<'pages' | 'create' | 'projects', Option[]> {
  const { projectId } = useApi();
  const { data: projects = [] } = useProjects();
  const { write, admin } = useRights();
  const { data: me } = useMe();
  const params = { projectId };
  const pages: Option[] = [
    ...navItems
      .filter((item) => (admin || !item.admin) && (me?.operator || !item.operator))
      .map(({ to, label, icon }) => ({ id: `page:${to}`, label, icon, link: linkOptions({ to, params }) })),
    {
      id: 'page:failed',
      label: t.nav.failedExecutions,
      icon: IconAlertTriangle,
      link: linkOptions({ to: '/p/$projectId/executions', params, search: { status: 'FAILED' } }),
    },
    {
      id: 'page:import',
      label: t.nav.import,
      icon: IconAddressBook,
      link: linkOptions({ to: '/p/$projectId/contacts/import', params }),
    },
  ];
  const create = [
    {
      id: 'new:campaign',
      label: t.palette.newCampaign,
      link: linkOptions({ to: '/p/$projectId/campaigns/new', params }),
    },
    {
      id: 'new:template',
      label: t.palette.newTemplate,
      link: linkOptions({ to: '/p/$projectId/templates/new', params }),
    },
    {
      id: 'new:segment',
      label: t.palette.newSegment,
      link: linkOptions({ to: '/p/$projectId/segments/new', params }),
    },
    { id: 'new:domain', label: t.palette.addDomain, link: linkOptions({ to: '/p/$projectId/domains', params }) },
    ...(admin
      ? [
          {
            id: 'new:member',
            label: t.palette.inviteMember,
            link: linkOptions({ to: '/p/$projectId/members', params, search: { invite: true } }),
          },
        ]
      : []),
    {
      id: 'new:suppression',
      label: t.palette.suppressAddress,
      link: linkOptions({ to: '/p/$projectId/suppressions', params, search: { add: true } }),
    },
    ...(admin
      ? [
          {
            id: 'new:webhook',
            label: t.palette.newWebhook,
            link: linkOptions({ to: '/p/$projectId/webhooks', params, search: { add: true } }),
          },
          {
            id: 'new:key',
            label: t.palette.newKey,
            link: linkOptions({ to: '/p/$projectId/developers', params, search: { add: true } }),
          },
        ]
      : []),
  ].map((action) => ({ ...action, icon: IconPlus }));
  const others = projects
    .filter(({ id }) => id !== projectId)
    .slice(0, 20)
    .map(({ id, name }) => ({
      id: `project:${id}`,
      label: name,
      icon: IconBuilding,
      link: linkOptions({ to: '/p/$projectId', params: { projectId: id } }),
    }));
  return { pages, create: write ? create : [], projects: others };
}
