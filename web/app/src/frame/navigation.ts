import {
  IconActivity,
  IconAddressBook,
  IconBolt,
  IconBuildingBroadcastTower,
  IconChartLine,
  IconCreditCard,
  IconFilter,
  IconHistory,
  IconHome,
  IconKey,
  IconListCheck,
  IconListDetails,
  IconMailFast,
  IconMailOff,
  IconRoute,
  IconSend,
  IconSettings,
  IconShieldLock,
  IconTemplate,
  IconUsers,
  IconWebhook,
  IconWorldCheck,
} from '@tabler/icons-react';
import { t } from '../texts/index.ts';

export interface NavItem {
  /** Below the project's address. */
  to: string;
  label: string;
  icon: typeof IconHome;
  /** Offered to admins of the project only. */
  admin?: true;
  /** Offered to operators of the installation only. */
  operator?: true;
}

export const navigation: { title?: string; items: NavItem[] }[] = [
  {
    items: [
      { to: '', label: t.nav.home, icon: IconHome },
      { to: 'activity', label: t.nav.activity, icon: IconActivity },
      { to: 'analytics', label: t.nav.analytics, icon: IconChartLine },
    ],
  },
  {
    title: t.nav.audience,
    items: [
      { to: 'contacts', label: t.nav.contacts, icon: IconAddressBook },
      { to: 'segments', label: t.nav.segments, icon: IconFilter },
      { to: 'events', label: t.nav.events, icon: IconBolt },
      { to: 'jobs', label: t.nav.jobs, icon: IconListCheck },
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
  {
    title: t.nav.automation,
    items: [
      { to: 'workflows', label: t.nav.workflows, icon: IconRoute },
      { to: 'executions', label: t.nav.executions, icon: IconListDetails },
    ],
  },
  {
    title: t.nav.sending,
    items: [
      { to: 'domains', label: t.nav.domains, icon: IconWorldCheck },
      { to: 'suppressions', label: t.nav.suppressions, icon: IconMailOff },
    ],
  },
  {
    title: t.nav.developers,
    items: [
      { to: 'developers', label: t.nav.keys, icon: IconKey },
      { to: 'webhooks', label: t.nav.webhooks, icon: IconWebhook, admin: true },
    ],
  },
  {
    title: t.nav.administration,
    items: [
      { to: 'members', label: t.nav.members, icon: IconUsers },
      { to: 'project', label: t.nav.project, icon: IconSettings },
      { to: 'billing', label: t.nav.billing, icon: IconCreditCard, admin: true },
      { to: 'audit', label: t.nav.audit, icon: IconHistory, admin: true },
      { to: 'security', label: t.nav.security, icon: IconShieldLock },
    ],
  },
  {
    title: t.nav.installation,
    items: [{ to: 'operator', label: t.nav.operator, icon: IconBuildingBroadcastTower, operator: true }],
  },
];

export const navItems: NavItem[] = navigation.flatMap(({ items }) => items);
