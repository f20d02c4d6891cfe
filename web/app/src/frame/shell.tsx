import './shell.css';
import { ActionIcon, Alert, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBook2, IconMenu2, IconSearch, IconX } from '@tabler/icons-react';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useId, useState } from 'react';
import { useApi, useMe, useProject, useProjects, useRights } from '../api/hooks.ts';
import { partTexts, t } from '../texts/index.ts';
import { keepEarlyKeys } from './early-keys.ts';
import { NotFoundPage } from './error-pages.tsx';
import { Logo } from './logo.tsx';
import { AccountMenu, AppearanceMenu } from './menus.tsx';
import { type NavGroup, type NavItem, navigation } from './navigation.ts';
import { NotificationBell } from './notification-bell.tsx';
import { ProjectSwitcher } from './project-switcher.tsx';

const Palette = lazy(async () => {
  const [{ Palette }] = await Promise.all([import('./palette.tsx'), partTexts('palette')]);
  return { default: Palette };
});

/** The frame around the pages of a project. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const [palette, setPalette] = useState(0);
  const openPalette = () => {
    keepEarlyKeys();
    setPalette((count) => count + 1);
  };
  const { projectId } = useApi();
  const projects = useProjects();
  const project = useProject();
  const { pathname } = useLocation();
  const { admin } = useRights();
  const { data: me } = useMe();
  const isOffered = (item: NavItem) => (admin || !item.admin) && (me?.operator || !item.operator);
  // The library's hotkeys take a kilobyte of every first visit.
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      openPalette();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  });
  useEffect(() => {
    if (project) localStorage.setItem('everpost.project', project.id);
  }, [project]);
  // A new page closes the navigation of narrow screens.
  useEffect(close, [pathname]);
  const offeredGroups = navigation
    .map((group) => ({ ...group, items: group.items.filter(isOffered) }))
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
          <kbd aria-hidden>Ctrl K</kbd>
        </UnstyledButton>
        <NotificationBell />
        <AppearanceMenu />
        <AccountMenu />
      </header>
      <nav className="shell-nav" id="navigation" aria-label={t.nav.label}>
        <div className="nav-content">
          <ProjectSwitcher />
          {offeredGroups.map((group) => (
            <NavGroupLinks key={group.title ?? 'start'} group={group} projectId={projectId} pathname={pathname} />
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

interface NavGroupProps {
  group: NavGroup;
  projectId: string;
  pathname: string;
}

function NavGroupLinks({ group: { title, items, folded }, projectId, pathname }: NavGroupProps) {
  const listId = useId();
  const isHere = items.some(({ to }) => pathname.startsWith(to.replace('$projectId', projectId)));
  const [isOpened, setOpened] = useState<boolean>();
  const isOpen = !folded || (isOpened ?? isHere);
  const links = items.map((item) => <NavItemLink key={item.to} item={item} projectId={projectId} />);
  return (
    <div>
      {title && !folded && <div className="nav-title">{title}</div>}
      {title && folded && (
        <UnstyledButton
          className="nav-title nav-fold"
          aria-expanded={isOpen}
          aria-controls={listId}
          onClick={() => setOpened(!isOpen)}
        >
          {title}
        </UnstyledButton>
      )}
      <div id={listId} hidden={!isOpen}>
        {links}
      </div>
    </div>
  );
}

function NavItemLink({ item, projectId }: { item: NavItem; projectId: string }) {
  const isHome = item.to === '/p/$projectId';
  return (
    <Link
      to={item.to}
      params={{ projectId }}
      className="nav-link"
      activeOptions={{ exact: isHome }}
      activeProps={{ 'data-active': true }}
    >
      <item.icon size={18} aria-hidden /> {item.label}
    </Link>
  );
}
