// What the project "Sample shop" contains.

export const FIRST_NAMES = [
  'Ada',
  'Ben',
  'Chiara',
  'Dmitri',
  'Elif',
  'Farid',
  'Greta',
  'Hiro',
  'Ines',
  'Jonas',
  'Kofi',
  'Lena',
];
export const LAST_NAMES = ['Abel', 'Brandt', 'Costa', 'Duarte', 'Eriksen', 'Fischer'];
export const CITIES = ['Lisbon', 'Hamburg', 'Oslo', 'Turin', 'Accra', 'Kyoto'];
const PLANS = ['free', 'starter', 'pro'];
const DOMAINS = ['example.com', 'example.net', 'example.org'];

export interface SampleContact {
  email: string;
  subscribed: boolean;
  data: { firstName: string; lastName: string; plan: string; city: string; orders: number; signedUpAt: string };
}

/** 72 invented people; the same at every start. */
export const sampleContacts = (now: number): SampleContact[] =>
  LAST_NAMES.flatMap((lastName, row) =>
    FIRST_NAMES.map((firstName, column) => {
      const n = row * FIRST_NAMES.length + column;
      return {
        email: `${firstName}.${lastName}@${DOMAINS[n % 3]}`.toLowerCase(),
        subscribed: n % 9 !== 4,
        data: {
          firstName,
          lastName,
          plan: PLANS[(n + row) % 3] ?? 'free',
          city: CITIES[(n * 5 + row) % 6] ?? 'Lisbon',
          orders: (n * 7) % 13,
          signedUpAt: new Date(now - n * 5 * 86_400_000).toISOString().slice(0, 10),
        },
      };
    }),
  );

const mail = (title: string, text: string, button: string, link: string): string => `<!doctype html>
<html>
  <body style="margin:0;background:#f4f4f8;font-family:Helvetica,Arial,sans-serif;color:#1f2430">
    <div style="max-width:560px;margin:0 auto;padding:32px 16px">
      <div style="background:#ffffff;border-radius:16px;padding:32px">
        <p style="margin:0 0 24px;font-weight:bold;color:#4338ca">Sample shop</p>
        <h1 style="margin:0 0 16px;font-size:24px">${title}</h1>
        <p style="font-size:16px;line-height:1.6">${text}</p>
        <p style="margin:28px 0 0">
          <a href="${link}" style="background:#4338ca;color:#ffffff;padding:12px 22px;border-radius:10px;text-decoration:none">${button}</a>
        </p>
      </div>
    </div>
  </body>
</html>
`;

export const sampleTemplates = {
  welcome: {
    name: 'Welcome',
    type: 'MARKETING',
    subject: 'Welcome, {{firstName ?? "friend"}}!',
    body: mail(
      'Hello {{firstName ?? "there"}}',
      'Good that you are here. Your account is ready, and your first order ships for free.',
      'Look around',
      'https://example.com/new',
    ),
  },
  reminder: {
    name: 'Reminder',
    type: 'MARKETING',
    subject: '{{firstName ?? "Hello"}}, your first order ships for free',
    body: mail(
      'Still looking around?',
      'Your first order ships for free, and you can send everything back for thirty days.',
      'Look around',
      'https://example.com/new',
    ),
  },
  receipt: {
    name: 'Receipt',
    type: 'TRANSACTIONAL',
    subject: 'Your order {{event.number ?? ""}}',
    body: mail(
      'Thank you, {{firstName ?? "there"}}',
      'We have received your order and pack it today. You get a second mail with the tracking number.',
      'See the order',
      'https://example.com/orders',
    ),
  },
  autumn: {
    name: 'Autumn news',
    type: 'MARKETING',
    subject: '{{firstName ?? "Hello"}}, the autumn colours are here',
    body: mail(
      'New for autumn',
      'Wool from {{city ?? "the north"}}, three new colours, and free shipping until Sunday{% if plan == "pro" %}. As a pro you get 10% on everything{% endif %}.',
      'See what is new',
      'https://example.com/autumn',
    ),
  },
} as const;

const letter = (name: string, subject: string, title: string, text: string, path: string) => ({
  name,
  subject,
  body: mail(title, text, 'Read on', `https://example.com/${path}`),
  link: `https://example.com/${path}`,
});

/** The weekly letters of the last eight weeks, the oldest first. */
export const sampleLetters = [
  letter('Letter 1: Linen', 'Linen, from field to shirt', 'From field to shirt', 'How flax becomes cloth.', 'linen'),
  letter(
    'Letter 2: Repairs',
    '{{firstName ?? "Hello"}}, mend it with us',
    'Mend it',
    'Six stitches for every tear.',
    'repairs',
  ),
  letter(
    'Letter 3: Summer sale',
    'Three days: a third off all linen',
    'Three days only',
    'A third off all linen until Thursday.',
    'sale',
  ),
  letter('Letter 4: The makers', 'Who sews your coat', 'Two sisters in Turin', 'A visit to the workshop.', 'makers'),
  letter(
    'Letter 5: Wool',
    '{{firstName ?? "Hello"}}, the wool is here',
    'Six new yarns',
    'From sheep that we can show you.',
    'wool',
  ),
  letter(
    'Letter 6: Your questions',
    'How to wash wool, and nine more answers',
    'Ten answers',
    'You asked, we answer.',
    'questions',
  ),
  letter(
    'Letter 7: Coats',
    'The coats that we wear ourselves',
    'Four coats',
    'Made for rain, wind and cities.',
    'coats',
  ),
  letter(
    'Letter 8: Behind the scenes',
    '{{firstName ?? "Hello"}}, a day in the studio',
    'A day in the studio',
    'Coffee, cloth and chalk.',
    'studio',
  ),
] as const;

const filter = (field: string, operator: string, value?: unknown) => ({ field, operator, value });
const all = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });

export const sampleSegments = {
  pro: { name: 'Pro customers', description: 'On the pro plan', condition: all(filter('data.plan', 'equals', 'pro')) },
  regulars: {
    name: 'Regulars',
    description: 'Five orders or more, still subscribed',
    trackMembership: true,
    condition: all(filter('data.orders', 'greaterThanOrEqual', 5), filter('subscribed', 'equals', true)),
  },
  testers: { name: 'Testers', description: 'Chosen by hand', type: 'STATIC' },
} as const;

export const SAMPLE_EVENT = 'signed up';
export const SAMPLE_CAMPAIGN = 'Autumn news';
