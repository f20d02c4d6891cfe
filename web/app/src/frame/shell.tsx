import { ActionIcon, Alert, Kbd, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import {
  IconBook2,
  IconLogout,
  IconMenu2,
  IconMoon,
  IconSearch,
  IconSun,
  IconUserCircle,
  IconX,
} from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { accountApi, unwrap } from '../api/client.ts';
import { useApi, useMe, useProject, useProjects } from '../api/hooks.ts';
import { session } from '../query-client.ts';
import { t } from '../texts/index.ts';
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
  useHotkeys([['mod+K', openPalette]], []);
  useEffect(() => {
    if (project) localStorage.setItem('everpost.project', project.id);
  }, [project]);
  // A new page closes the navigation of narrow screens.
  useEffect(close, [pathname]);
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
          {navigation.map(({ title, items }) => (
            <div key={title ?? 'start'}>
              {title && <div className="nav-title">{title}</div>}
              {items.map((item) => (
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
  return (
    <MenuButton
      items={options.map(([value, label]) => ({
        key: value,
        label,
        current: colorScheme === value,
        onClick: () => setColorScheme(value),
      }))}
    >
      {(props) => (
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.frame.theme} {...props}>
          {colorScheme === 'dark' ? <IconMoon size={20} /> : <IconSun size={20} />}
        </ActionIcon>
      )}
    </MenuButton>
  );
}

function AccountMenu() {
  const { data: user } = useMe();
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
