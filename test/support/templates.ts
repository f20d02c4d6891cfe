/** The fields of every template that the API answers with. */
export const TEMPLATE_FIELDS = [
  'id',
  'name',
  'description',
  'subject',
  'body',
  'from',
  'fromName',
  'replyTo',
  'type',
  'projectId',
  'createdAt',
  'updatedAt',
];

export const newTemplate = {
  name: 'Welcome',
  subject: 'Hi {{ name }}',
  body: '<p>{{ name }}</p>',
  type: 'TRANSACTIONAL',
};
