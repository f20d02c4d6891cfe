import {
  IconActivity,
  IconAddressBook,
  IconBolt,
  IconBrush,
  IconChartLine,
  IconComponents,
  IconCreditCard,
  IconFilter,
  IconForms,
  IconHistory,
  IconHome,
  IconKey,
  IconListCheck,
  IconListDetails,
  IconMailFast,
  IconMailOff,
  IconRoute,
  IconSend,
  IconServer,
  IconSettings,
  IconShieldLock,
  IconTemplate,
  IconUsers,
  IconWebhook,
  IconWorldCheck,
} from '@tabler/icons-react';
import { t } from '../texts/index.ts';
import type { ProjectPath } from '../ui/links.tsx';

export interface NavItem {
  to: ProjectPath;
  label: string;
  icon: typeof IconHome;
  /** Offered to admins of the project only. */
  admin?: true;
  /** Offered to operators of the installation only. */
  operator?: true;
}

export interface NavGroup {
  title?: string;
  items: NavItem[];
  /** Closed until it is opened, or one of its pages is shown. */
  folded?: true;
}

/** At most five groups, which fit a window of 900 px. */
export const navigation: NavGroup[] = [
  {
    items: [
      { to: '/p/$projectId', label: t.nav.home, icon: IconHome },
      { to: '/p/$projectId/activity', label: t.nav.activity, icon: IconActivity },
      { to: '/p/$projectId/analytics', label: t.nav.analytics, icon: IconChartLine },
    ],
  },
  {
    title: t.nav.audience,
    items: [
      { to: '/p/$projectId/contacts', label: t.nav.contacts, icon: IconAddressBook },
      { to: '/p/$projectId/segments', label: t.nav.segments, icon: IconFilter },
      { to: '/p/$projectId/topics', label: t.nav.topics, icon: IconListCheck },
      { to: '/p/$projectId/forms', label: t.nav.forms, icon: IconForms },
      { to: '/p/$projectId/events', label: t.nav.events, icon: IconBolt },
      { to: '/p/$projectId/suppressions', label: t.nav.suppressions, icon: IconMailOff },
      { to: '/p/$projectId/jobs', label: t.nav.jobs, icon: IconListDetails },
    ],
  },
  {
    title: t.nav.messages,
    items: [
      { to: '/p/$projectId/campaigns', label: t.nav.campaigns, icon: IconSend },
      { to: '/p/$projectId/templates', label: t.nav.templates, icon: IconTemplate },
      { to: '/p/$projectId/saved-blocks', label: t.nav.savedBlocks, icon: IconComponents },
      { to: '/p/$projectId/brand', label: t.nav.brand, icon: IconBrush },
      { to: '/p/$projectId/emails', label: t.nav.emails, icon: IconMailFast },
    ],
  },
  {
    title: t.nav.automation,
    items: [
      { to: '/p/$projectId/workflows', label: t.nav.workflows, icon: IconRoute },
      { to: '/p/$projectId/executions', label: t.nav.executions, icon: IconListDetails },
    ],
  },
  {
    title: t.nav.settings,
    folded: true,
    items: [
      { to: '/p/$projectId/project', label: t.nav.project, icon: IconSettings },
      { to: '/p/$projectId/domains', label: t.nav.domains, icon: IconWorldCheck },
      { to: '/p/$projectId/developers', label: t.nav.keys, icon: IconKey },
      { to: '/p/$projectId/webhooks', label: t.nav.webhooks, icon: IconWebhook, admin: true },
      { to: '/p/$projectId/members', label: t.nav.members, icon: IconUsers },
      { to: '/p/$projectId/billing', label: t.nav.billing, icon: IconCreditCard, admin: true },
      { to: '/p/$projectId/audit', label: t.nav.audit, icon: IconHistory, admin: true },
      { to: '/p/$projectId/security', label: t.nav.security, icon: IconShieldLock },
      { to: '/p/$projectId/operator', label: t.nav.operator, icon: IconServer, operator: true },
    ],
  },
];

export const navItems: NavItem[] = navigation.flatMap(({ items }) => items);
