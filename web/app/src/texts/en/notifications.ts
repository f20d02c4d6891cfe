import { number, plural } from '../../format.ts';

const categories: Record<string, string> = {
  transactional: 'transactional mails',
  campaigns: 'campaign mails',
  workflows: 'workflow mails',
};

export const notifications = {
  title: 'Notifications',
  description: 'What happened in your projects without you. Kept for 90 days.',
  empty: 'Nothing yet',
  emptyText: 'Finished campaigns, lost domains and the like show up here.',
  unread: 'unread',
  markAll: 'Mark all as read',
  marked: (count: number) => `${plural(count, { one: 'notification is', other: 'notifications are' })} marked as read.`,
  what: 'What happened',
  project: 'Project',
  when: 'When',
  settings: 'What you are told about',
  settingsText: 'For all of your projects. Mail goes to your account’s address.',
  inApp: 'Here',
  byMail: 'By mail',
  saved: 'Your settings are saved.',
  types: {
    'campaign.finished': 'A campaign has finished',
    'campaign.paused': 'A campaign was paused automatically',
    'domain.lost': 'A domain is no longer verified',
    'endpoint.disabled': 'A webhook endpoint was disabled because it fails',
    'form.attacked': 'A form is under attack by bots',
    'import.finished': 'An import has finished',
    'project.near_limit': 'A project is near its limits',
  },
  campaignFinished: (name: string) => `The campaign ${name} has finished`,
  campaignPaused: (name: string) => `The campaign ${name} was paused automatically`,
  domainLost: (domain: string) => `${domain} is no longer verified`,
  endpointDisabled: (host: string) => `The webhook endpoint at ${host} was disabled`,
  formAttacked: (name: string) => `The form ${name} is under attack`,
  importFinished: (total: number) => `An import has finished: ${plural(total, { one: 'row', other: 'rows' })}`,
  importFailed: 'An import has failed',
  nearLimit: (category: string, used: number, limit: number) =>
    `${number(used)} of ${number(limit)} ${categories[category] ?? 'mails'} of this period are used`,
};
