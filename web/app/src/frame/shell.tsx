import {
  ActionIcon,
  Alert,
  AppShell,
  Box,
  Burger,
  Container,
  Group,
  Kbd,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import {
  IconAddressBook,
  IconBook2,
  IconFilter,
  IconHome,
  IconLogout,
  IconMailFast,
  IconMoon,
  IconSearch,
  IconSend,
  IconSun,
  IconTemplate,
  IconUserCircle,
  IconWorldCheck,
} from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { accountApi, unwrap } from '../api/client.ts';
import { useApi, useMe, useProject, useProjects } from '../api/hooks.ts';
import { t } from '../texts/index.ts';
import { NotFoundPage } from './error-pages.tsx';
import { Logo } from './logo.tsx';
import { ProjectSwitcher } from './project-switcher.tsx';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })));

export interface NavItem {
  to: string;
  label: string;
  icon: typeof IconHome;
}

const navigation: { title?: string; items: NavItem[] }[] = [
  { items: [{ to: '', label: t.nav.home, icon: IconHome }] },
  {
    title: t.nav.audience,
    items: [
      { to: 'contacts', label: t.nav.contacts, icon: IconAddressBook },
      { to: 'segments', label: t.nav.segments, icon: IconFilter },
    ],
  },
  {
    title: t.nav.messages,
    items: [
      { to: 'campaigns', label: t.nav.campaigns, icon: IconSend },
      { to: 'templates', label: t.nav.templates, icon: IconTemplate },
      { to: 'emails', label: t.nav.emails, icon: IconMailFast },
    ],
  },
  { title: t.nav.sending, items: [{ to: 'domains', label: t.nav.domains, icon: IconWorldCheck }] },
];

export const navItems: NavItem[] = navigation.flatMap(({ items }) => items);

/** The frame around the pages of a project. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const [palette, setPalette] = useState(0);
  const { projectId } = useApi();
  const projects = useProjects();
  const project = useProject();
  const { pathname } = useLocation();
  useHotkeys([['mod+K', () => setPalette((count) => count + 1)]], []);
  useEffect(() => {
    if (project) localStorage.setItem('everpost.project', project.id);
  }, [project]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the navigation of narrow screens
  useEffect(close, [pathname]);
  if (projects.data && !project) return <NotFoundPage />;
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 248, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a href="#main" className="skip-link">
        {t.nav.skip}
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? t.nav.close : t.nav.open}
            />
            <Logo />
          </Group>
          <UnstyledButton className="palette-button" visibleFrom="sm" onClick={() => setPalette(palette + 1)}>
            <IconSearch size={16} aria-hidden />
            <Text size="sm" c="dimmed" flex={1}>
              {t.frame.search}
            </Text>
            <Kbd size="xs">Ctrl K</Kbd>
          </UnstyledButton>
          <Group gap={4} wrap="nowrap">
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              hiddenFrom="sm"
              aria-label={t.frame.search}
              onClick={() => setPalette(palette + 1)}
            >
              <IconSearch size={20} />
            </ActionIcon>
            <AppearanceMenu />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={t.nav.label}>
        <AppShell.Section mb="sm">
          <ProjectSwitcher />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea}>
          {navigation.map(({ title, items }) => (
            <Box key={title ?? 'start'} mb="sm">
              {title && (
                <Text size="xs" fw={600} c="dimmed" px="sm" pb={4}>
                  {title}
                </Text>
              )}
              {items.map((item) => (
                <NavItemLink key={item.to} item={item} projectId={projectId} pathname={pathname} />
              ))}
            </Box>
          ))}
        </AppShell.Section>
        <AppShell.Section>
          <NavLink href="/docs" label={t.nav.docs} leftSection={<IconBook2 size={18} aria-hidden />} className="nav-link" />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <Container size={1200} px={0}>
          {project?.disabled && (
            <Alert color="red" title={t.frame.disabledTitle} mb="lg">
              {t.frame.disabledText(project.disabledReason)}
            </Alert>
          )}
          <Outlet />
        </Container>
      </AppShell.Main>
      {palette > 0 && (
        <Suspense>
          <Palette opening={palette} />
        </Suspense>
      )}
    </AppShell>
  );
}

function NavItemLink({ item, projectId, pathname }: { item: NavItem; projectId: string; pathname: string }) {
  const base = `/p/${projectId}`;
  const path = item.to ? `${base}/${item.to}` : base;
  const active = item.to ? pathname.startsWith(path) : pathname.replace(/\/$/, '') === base;
  return (
    <NavLink
      component={Link}
      to={path}
      label={item.label}
      leftSection={<item.icon size={18} aria-hidden />}
      active={active}
      className="nav-link"
      aria-current={active ? 'page' : undefined}
    />
  );
}

function AppearanceMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const options = [
    ['light', t.frame.light],
    ['dark', t.frame.dark],
    ['auto', t.frame.system],
  ] as const;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.frame.theme}>
          {colorScheme === 'dark' ? <IconMoon size={20} /> : <IconSun size={20} />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {options.map(([value, label]) => (
          <Menu.Item
            key={value}
            onClick={() => setColorScheme(value)}
            role="menuitemradio"
            aria-checked={colorScheme === value}
            fw={colorScheme === value ? 600 : undefined}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function AccountMenu() {
  const { data: user } = useMe();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const signOut = async () => {
    await unwrap(accountApi.POST('/auth/logout'));
    cache.clear();
    await navigate({ to: '/sign-in' });
  };
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.frame.account}>
          <IconUserCircle size={22} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className="breakable">{user?.email}</Menu.Label>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {t.frame.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
