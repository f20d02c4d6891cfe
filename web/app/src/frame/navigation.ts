import {
  IconAddressBook,
  IconBolt,
  IconFilter,
  IconHome,
  IconKey,
  IconListCheck,
  IconMailFast,
  IconMailOff,
  IconSend,
  IconTemplate,
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
}

export const navigation: { title?: string; items: NavItem[] }[] = [
  { items: [{ to: '', label: t.nav.home, icon: IconHome }] },
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
];

export const navItems: NavItem[] = navigation.flatMap(({ items }) => items);
