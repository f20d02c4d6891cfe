import {
  IconActivity,
  IconAddressBook,
  IconChartLine,
  IconFilter,
  IconHome,
  IconMailFast,
  IconSend,
  IconTemplate,
  IconWorldCheck,
} from '@tabler/icons-react';
import { t } from '../texts/index.ts';

export interface NavItem {
  /** Below the project's address. */
  to: string;
  label: string;
  icon: typeof IconHome;
}

export const navigation: { title?: string; items: NavItem[] }[] = [
  {
    items: [
      { to: '', label: t.nav.home, icon: IconHome },
      { to: 'activity', label: t.activity.title, icon: IconActivity },
      { to: 'analytics', label: t.analytics.title, icon: IconChartLine },
    ],
  },
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
