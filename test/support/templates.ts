/** The fields of every template that the API answers with, but in lists. */
export const TEMPLATE_FIELDS = [
  'id',
  'name',
  'description',
  'subject',
  'body',
  'document',
  'editor',
  'from',
  'fromName',
  'replyTo',
  'type',
  'topicId',
  'projectId',
  'createdAt',
  'updatedAt',
];

/** In lists, without the document. */
export const LISTED_TEMPLATE_FIELDS = TEMPLATE_FIELDS.filter((field) => field !== 'document');

export const newTemplate = {
  name: 'Welcome',
  subject: 'Hi {{ name }}',
  body: '<p>{{ name }}</p>',
  type: 'TRANSACTIONAL',
};
