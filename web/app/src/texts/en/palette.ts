/** Of the search over everything. */
export const palette = {
  nothingFound: 'Nothing found.',
  bestMatch: 'Best match',
  pages: 'Pages',
  create: 'Create',
  projects: 'Projects',
  found: 'Contacts',
  foundCampaigns: 'Campaigns',
  newCampaign: 'New campaign',
  newTemplate: 'New template',
  newSegment: 'New segment',
  addDomain: 'Add a domain',
  inviteMember: 'Invite a member',
  newWebhook: 'Add a webhook endpoint',
  newKey: 'Create a key',
  suppressAddress: 'Suppress an address',
};
