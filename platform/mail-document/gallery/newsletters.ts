import {
  bold,
  button,
  chip,
  columns,
  divider,
  galleryEntry,
  heading,
  itemList,
  link,
  marketingFooter,
  paragraph,
  section,
  social,
  when,
} from './builders.ts';

const SITE = 'https://example.com';

export const monthlyNews = galleryEntry({
  id: 'newsletter',
  name: { en: 'Newsletter', de: 'Newsletter' },
  description: {
    en: 'A lead story, two shorter ones and links to read on.',
    de: 'Eine Hauptmeldung, zwei kürzere und Links zum Weiterlesen.',
  },
  subject: { en: 'What is new this month', de: 'Das ist neu in diesem Monat' },
  preheader: { en: 'Our lead story, and two things worth your time.', de: 'Unsere Hauptmeldung und zwei Lesetipps.' },
  content: (t) => [
    heading(1, t('News of the month', 'Neues im Monat')),
    paragraph(
      t('Hi ', 'Hallo '),
      chip('firstName', t('there', 'zusammen')),
      t(
        ', this is what we have been working on, and what we think you will like.',
        ', daran haben wir gearbeitet, und das wird Ihnen hoffentlich gefallen.',
      ),
    ),
    heading(2, t('The lead story', 'Die Hauptmeldung')),
    paragraph(
      t(
        'Say in two or three sentences what happened and why it matters to your readers. The rest is one click away.',
        'Sagen Sie in zwei oder drei Sätzen, was geschehen ist und warum es wichtig ist. Der Rest ist einen Klick entfernt.',
      ),
    ),
    button(t('Read the story', 'Meldung lesen'), `${SITE}/story`),
    divider,
    columns(
      [
        heading(3, t('A second topic', 'Ein zweites Thema')),
        paragraph(t('A short summary of two lines is enough here. ', 'Zwei Zeilen Zusammenfassung genügen hier. ')),
        paragraph(link(t('Read more', 'Mehr dazu'), `${SITE}/second`)),
      ],
      [
        heading(3, t('A third topic', 'Ein drittes Thema')),
        paragraph(t('Readers skim: put the point into the first words.', 'Das Wichtigste steht in den ersten Worten.')),
        paragraph(link(t('Read more', 'Mehr dazu'), `${SITE}/third`)),
      ],
    ),
    divider,
    social,
    marketingFooter(t),
  ],
});

export const productNews = galleryEntry({
  id: 'product-news',
  name: { en: 'Product news', de: 'Produktneuheit' },
  description: {
    en: 'Announces a feature, with another text for paying customers.',
    de: 'Kündigt eine Funktion an, mit eigenem Text für zahlende Kunden.',
  },
  subject: { en: 'New: say it in five words', de: 'Neu: in fünf Worten gesagt' },
  preheader: { en: 'What it does for you, in one sentence.', de: 'Was es Ihnen bringt, in einem Satz.' },
  content: (t) => [
    section(
      '#eef0ff',
      heading(1, t('The feature you asked for', 'Die Funktion, die Sie wollten')),
      paragraph(t('One sentence that says what is possible now.', 'Ein Satz dazu, was jetzt möglich ist.')),
    ),
    heading(2, t('What changes for you', 'Was sich für Sie ändert')),
    itemList(
      'bulletList',
      t('Start with what readers gain, not with how it works.', 'Beginnen Sie mit dem Nutzen, nicht mit der Technik.'),
      t('Name a number if you have one.', 'Nennen Sie eine Zahl, wenn es eine gibt.'),
      t('Three points are enough.', 'Drei Punkte genügen.'),
    ),
    when(
      { field: 'data.plan', operator: 'equals', value: 'pro' },
      [
        paragraph(
          bold(t('Included in your plan. ', 'In Ihrem Tarif enthalten. ')),
          t('Open it today.', 'Sofort nutzbar.'),
        ),
        button(t('Try it now', 'Jetzt ausprobieren'), `${SITE}/feature`),
      ],
      [
        paragraph(t('It is part of our pro plan.', 'Sie ist Teil unseres Pro-Tarifs.')),
        button(t('Compare plans', 'Tarife vergleichen'), `${SITE}/plans`),
      ],
    ),
    marketingFooter(t),
  ],
});

export const eventInvitation = galleryEntry({
  id: 'event-invitation',
  name: { en: 'Event invitation', de: 'Einladung' },
  description: { en: 'Date, place, agenda and one button.', de: 'Datum, Ort, Ablauf und eine Schaltfläche.' },
  subject: { en: 'You are invited', de: 'Sie sind eingeladen' },
  preheader: { en: 'An evening with customers and our team.', de: 'Ein Abend mit Kunden und unserem Team.' },
  content: (t) => [
    heading(1, t('Join us for an evening', 'Ein Abend mit uns')),
    paragraph(
      t('Dear ', 'Guten Tag '),
      chip('firstName', t('guest', 'und herzlich willkommen')),
      t(', we would like to meet you.', ', wir möchten Sie kennenlernen.'),
    ),
    section(
      '#eef0ff',
      columns(
        [heading(3, t('When', 'Wann')), paragraph(t('Thursday, 12 March, 6 pm', 'Donnerstag, 12. März, 18 Uhr'))],
        [heading(3, t('Where', 'Wo')), paragraph(t('1 Main Street, 2nd floor', 'Hauptstraße 1, 2. Stock'))],
      ),
    ),
    heading(2, t('The evening', 'Der Ablauf')),
    itemList(
      'orderedList',
      t('Welcome and drinks', 'Begrüßung und Getränke'),
      t('A short talk', 'Ein kurzer Vortrag'),
      t('Time for your questions', 'Zeit für Ihre Fragen'),
    ),
    button(t('Reserve your seat', 'Platz reservieren'), `${SITE}/event`),
    marketingFooter(t),
  ],
});

export const winBack = galleryEntry({
  id: 'win-back',
  name: { en: 'Win-back', de: 'Rückgewinnung' },
  description: {
    en: 'A friendly reminder for readers who have been away.',
    de: 'Eine freundliche Erinnerung an alle, die länger nicht da waren.',
  },
  subject: { en: 'We have missed you', de: 'Wir haben Sie vermisst' },
  preheader: { en: 'Here is what you have not seen yet.', de: 'Das haben Sie noch nicht gesehen.' },
  content: (t) => [
    heading(1, t('It has been a while', 'Lange nicht gesehen')),
    paragraph(
      t('Hi ', 'Hallo '),
      chip('firstName', t('there', 'zusammen')),
      t(
        ', a lot has happened since your last visit. Three things that readers like best:',
        ', seit Ihrem letzten Besuch ist viel passiert. Drei Dinge, die am besten ankommen:',
      ),
    ),
    itemList(
      'bulletList',
      t('The first thing', 'Die erste Sache'),
      t('The second thing', 'Die zweite Sache'),
      t('The third thing', 'Die dritte Sache'),
    ),
    button(t('Have a look', 'Jetzt ansehen'), SITE),
    paragraph(
      t('Not interested any more? ', 'Kein Interesse mehr? '),
      link(t('Tell us what you would like to read', 'Sagen Sie uns, was Sie lesen möchten'), '{{ manageUrl }}'),
      '.',
    ),
    marketingFooter(t),
  ],
});
