import { ActionIcon, Alert, Kbd, UnstyledButton } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { IconBook2, IconMenu2, IconSearch, IconX } from '@tabler/icons-react';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useApi, useMe, useProject, useProjects, useRights } from '../api/hooks.ts';
import { t } from '../texts/index.ts';
import { NotFoundPage } from './error-pages.tsx';
import { Logo } from './logo.tsx';
import { AccountMenu, AppearanceMenu } from './menus.tsx';
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
