import { namedType, nullable, text, uuid, wholeNumber } from '../http/schemas.ts';

const count = () => wholeNumber({ min: 0 });

/** An email counts once in each. */
const mailCounts = {
  sent: count().description('Number of emails that were sent.'),
  delivered: count().description('Number of emails that were delivered.'),
  opened: count().description('Number of emails that were opened, including automated opens.'),
  clicked: count().description('Number of emails with a clicked link, including automated clicks.'),
  humanOpened: count().description('Number of emails that were opened by a person.'),
  humanClicked: count().description('Number of emails with a link clicked by a person.'),
  peopleOpened: count().description('Number of emails that were opened or clicked by a person.'),
  bounced: count().description('Number of emails that bounced.'),
  complained: count().description('Number of emails that were reported as spam.'),
  failed: count().description('Number of emails that could not be sent.'),
};

export const domainStatsSchema = namedType('DomainStats', 'Email counts of a recipient domain.', {
  domain: text()
    .description(
      'Recipient domain. `other` stands for all beyond 1,000 domains of a campaign or day, `unknown` for addresses ' +
        'that are no longer stored.',
    )
    .example('example.com'),
  ...mailCounts,
});

export const templateStatsSchema = namedType('TemplateStats', 'Email counts of a template.', {
  templateId: uuid().description('Template ID.'),
  name: nullable(text()).description('Template name; null once the template is deleted.'),
  ...mailCounts,
});
