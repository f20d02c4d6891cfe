import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { tabSearch } from '../../search-params.ts';
import { contactsSearch, importContactsSearch } from './search.ts';

const contacts = createRoute({
  getParentRoute: () => project,
  path: '/contacts',
  validateSearch: contactsSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'ContactsPage'),
});

const importContacts = createRoute({
  getParentRoute: () => project,
  path: '/contacts/import',
  validateSearch: importContactsSearch,
  component: lazyRouteComponent(() => import('./import.tsx'), 'ImportPage'),
});

const contact = createRoute({
  getParentRoute: () => project,
  path: '/contacts/$id',
  validateSearch: tabSearch,
  component: lazyRouteComponent(() => import('./contact.tsx'), 'ContactPage'),
});

export const contactRoutes = [contacts, importContacts, contact] as const;
