export const conditionTexts = {
  anniversaryWithin: 'has its anniversary in the next',
  anniversaryOlderThan: 'had its anniversary more than',
  days: 'days',
  daysAgo: 'days ago',
  topics: 'Topics',
  topic: (key: string) => `topic ${key}`,
  topicOperators: {
    subscribed: 'is subscribed',
    unsubscribed: 'is not subscribed',
    pending: 'awaits confirmation',
    changedWithin: 'changed within the last',
    changedOlderThan: 'changed longer ago than',
  } as Record<string, string>,
  where: 'where',
  addTest: 'Where …',
  removeTest: 'Remove this test of the event',
  key: 'Property of the event',
  keyHint: 'Such as total or order.total',
  test: 'Comparison',
  campaign: 'Campaign',
  chooseCampaign: 'Choose a campaign',
  keyLabels: { campaignId: 'campaign', link: 'link', templateId: 'template', subject: 'subject' } as Record<
    string,
    string
  >,
};
