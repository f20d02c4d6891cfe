import { ActionIcon, Alert, Kbd, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import {
  IconBook2,
  IconLogout,
  IconMenu2,
  IconMoon,
  IconSearch,
  IconShieldLock,
  IconSun,
  IconUserCircle,
  IconX,
} from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { accountApi, unwrap } from '../api/client.ts';
import { useApi, useMe, useProject, useProjects, useRights } from '../api/hooks.ts';
import { session } from '../query-client.ts';
import { t } from '../texts/index.ts';
import { chooseLanguage, chosenLanguage, type Language, languages } from '../texts/language.ts';
import { MenuButton } from '../ui/menu-button.tsx';
import { NotFoundPage } from './error-pages.tsx';
import { Logo } from './logo.tsx';
import { type NavItem, navigation } from './navigation.ts';
import { NotificationBell } from './notification-bell.tsx';
import { ProjectSwitcher } from './project-switcher.tsx';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })));

/** The frame around the pages of a project. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const [palette, setPalette] = useState(0);
  const openPalette = () => setPalette((count) => count + 1);
  const { projectId } = useApi();
  const projects = useProjects();
  const project = useProject();
  const { pathname } = useLocation();
  const { admin } = useRights();
  const { data: me } = useMe();
  const isOffered = (item: NavItem) => (admin || !item.admin) && (me?.operator || !item.operator);
  useHotkeys([['mod+K', openPalette]], []);
  useEffect(() => {
    if (project) localStorage.setItem('everpost.project', project.id);
  }, [project]);
  // A new page closes the navigation of narrow screens.
  useEffect(close, [pathname]);
  const offeredGroups = navigation
    .map(({ title, items }) => ({ title, items: items.filter(isOffered) }))
    .filter(({ items }) => items.length > 0);
  if (projects.data && !project) return <NotFoundPage />;
  return (
    <div className="shell" data-nav={opened || undefined}>
      <a href="#main" className="skip-link">
        {t.nav.skip}
      </a>
      <header className="shell-header">
        <ActionIcon
          className="nav-toggle"
          variant="subtle"
          color="gray"
          size="lg"
          onClick={toggle}
          aria-expanded={opened}
          aria-controls="navigation"
          aria-label={opened ? t.nav.close : t.nav.open}
        >
          {opened ? <IconX size={22} /> : <IconMenu2 size={22} />}
        </ActionIcon>
        <Logo />
        <UnstyledButton className="palette-button" onClick={openPalette}>
          <IconSearch size={18} aria-hidden />
          <span className="palette-text">{t.frame.search}</span>
          <Kbd size="xs" visibleFrom="sm" aria-hidden>
            Ctrl K
          </Kbd>
        </UnstyledButton>
        <NotificationBell />
        <AppearanceMenu />
        <AccountMenu />
      </header>
      <nav className="shell-nav" id="navigation" aria-label={t.nav.label}>
        <div className="nav-content">
          <ProjectSwitcher />
          {offeredGroups.map(({ title, items }) => (
            <div key={title ?? 'start'}>
              {title && <div className="nav-title">{title}</div>}
              {items.filter(isOffered).map((item) => (
                <NavItemLink key={item.to} item={item} projectId={projectId} pathname={pathname} />
              ))}
            </div>
          ))}
          <a className="nav-link nav-last" href="/docs">
            <IconBook2 size={18} aria-hidden /> {t.nav.docs}
          </a>
        </div>
      </nav>
      <main className="shell-main" id="main" tabIndex={-1}>
        <div className="shell-content">
          {project?.disabled && (
            <Alert color="red" title={t.frame.disabledTitle} mb="lg">
              {t.frame.disabledText(project.disabledReason)}
            </Alert>
          )}
          <Outlet />
        </div>
      </main>
      {palette > 0 && (
        <Suspense>
          <Palette opening={palette} />
        </Suspense>
      )}
    </div>
  );
}

function NavItemLink({ item, projectId, pathname }: { item: NavItem; projectId: string; pathname: string }) {
  const base = `/p/${projectId}`;
  const path = item.to ? `${base}/${item.to}` : base;
  const active = item.to ? pathname.startsWith(path) : pathname.replace(/\/$/, '') === base;
  return (
    <Link to={path} className="nav-link" data-active={active || undefined} aria-current={active ? 'page' : undefined}>
      <item.icon size={18} aria-hidden /> {item.label}
    </Link>
  );
}

function AppearanceMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const options = [
    ['light', t.frame.light],
    ['dark', t.frame.dark],
    ['auto', t.frame.system],
  ] as const;
  const languageOptions: [Language | undefined, string][] = [
    ...Object.entries(languages).map(([language, name]): [Language, string] => [language as Language, name]),
    [undefined, t.frame.browserLanguage],
  ];
  return (
    <MenuButton
      items={[
        { kind: 'label', key: 'appearance', label: t.frame.theme },
        ...options.map(([value, label]) => ({
          key: value,
          label,
          current: colorScheme === value,
          onClick: () => setColorScheme(value),
        })),
        { kind: 'label', key: 'language', label: t.frame.language },
        ...languageOptions.map(([value, label]) => ({
          key: value ?? 'browser',
          label,
          current: chosenLanguage() === value,
          onClick: () => chooseLanguage(value),
        })),
      ]}
    >
      {(props) => (
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.frame.themeAndLanguage} {...props}>
          {colorScheme === 'dark' ? <IconMoon size={20} /> : <IconSun size={20} />}
        </ActionIcon>
      )}
    </MenuButton>
  );
}

function AccountMenu() {
  const { data: user } = useMe();
  const { projectId } = useApi();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const signOut = async () => {
    await unwrap(accountApi.POST('/auth/logout'));
    session.absent = true;
    cache.clear();
    await navigate({ to: '/sign-in' });
  };
  return (
    <MenuButton
      width={240}
      items={[
        { kind: 'label', key: 'email', label: user?.email ?? '' },
        {
          key: 'security',
          label: t.nav.security,
          icon: <IconShieldLock size={16} />,
          onClick: () => void navigate({ to: '/p/$projectId/security', params: { projectId } }),
        },
        {
          key: 'sign-out',
          label: t.frame.signOut,
          icon: <IconLogout size={16} />,
          onClick: () => void signOut(),
        },
      ]}
    >
      {(props) => (
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.frame.account} {...props}>
          <IconUserCircle size={22} />
        </ActionIcon>
      )}
    </MenuButton>
  );
}
