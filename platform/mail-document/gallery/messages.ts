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
  repeat,
  section,
  small,
  spacer,
} from './builders.ts';

const SITE = 'https://example.com';

export const welcome = galleryEntry({
  id: 'welcome',
  name: { en: 'Welcome', de: 'Willkommen' },
  description: { en: 'The first email after someone signs up.', de: 'Die erste E-Mail nach der Anmeldung.' },
  subject: { en: 'Welcome aboard', de: 'Herzlich willkommen' },
  preheader: { en: 'Three steps to get started.', de: 'In drei Schritten startklar.' },
  content: (t) => [
    heading(1, t('Welcome, ', 'Willkommen, '), chip('firstName', t('glad you are here', 'schön, dass Sie da sind'))),
    paragraph(
      t(
        'Thank you for signing up. Most people are up and running in ten minutes:',
        'Vielen Dank für Ihre Anmeldung. Die meisten sind nach zehn Minuten startklar:',
      ),
    ),
    itemList(
      'orderedList',
      t('Complete your profile.', 'Vervollständigen Sie Ihr Profil.'),
      t('Take the short tour.', 'Machen Sie den kurzen Rundgang.'),
      t('Invite your team.', 'Laden Sie Ihr Team ein.'),
    ),
    button(t('Get started', 'Jetzt loslegen'), `${SITE}/start`),
    paragraph(t('Any questions? Just reply to this email.', 'Fragen? Antworten Sie einfach auf diese E-Mail.')),
    marketingFooter(t),
  ],
});

export const receipt = galleryEntry({
  id: 'receipt',
  isTransactional: true,
  name: { en: 'Receipt', de: 'Beleg' },
  description: {
    en: 'Lists the items of an order, which your request passes as data.',
    de: 'Zeigt die Artikel einer Bestellung aus den Daten Ihrer Anfrage.',
  },
  subject: { en: 'Your receipt', de: 'Ihr Beleg' },
  preheader: { en: 'Thank you for your order.', de: 'Vielen Dank für Ihre Bestellung.' },
  content: (t) => [
    heading(1, t('Thank you for your order', 'Vielen Dank für Ihre Bestellung')),
    paragraph(
      t('Order ', 'Bestellung '),
      bold('#'),
      chip('order.number', '—'),
      t(', placed on ', ' vom '),
      chip('order.date', '—', 'date'),
    ),
    divider,
    repeat('order.items', 'item', {
      type: 'columns',
      attrs: { valign: 'top', stack: false },
      content: [
        { type: 'column', attrs: { width: 70 }, content: [paragraph(chip('item.name'))] },
        {
          type: 'column',
          attrs: { width: 30 },
          content: [
            {
              type: 'paragraph',
              attrs: { align: 'right', size: 'normal' },
              content: [chip('item.price', null, 'number')],
            },
          ],
        },
      ],
    }),
    divider,
    {
      type: 'paragraph',
      attrs: { align: 'right', size: 'large' },
      content: [bold(t('Total ', 'Summe ')), chip('order.total', '—', 'number')],
    },
    button(t('View your order', 'Bestellung ansehen'), `${SITE}/orders`),
    small(t('Keep this email as your receipt.', 'Bewahren Sie diese E-Mail als Beleg auf.')),
    small(chip('address')),
  ],
});

export const passwordReset = galleryEntry({
  id: 'password-reset',
  isTransactional: true,
  name: { en: 'Password reset', de: 'Passwort zurücksetzen' },
  description: {
    en: 'One button with the link that your request passes as data.',
    de: 'Eine Schaltfläche mit dem Link aus den Daten Ihrer Anfrage.',
  },
  subject: { en: 'Reset your password', de: 'Passwort zurücksetzen' },
  preheader: { en: 'The link works for one hour.', de: 'Der Link gilt eine Stunde lang.' },
  content: (t) => [
    heading(1, t('Reset your password', 'Passwort zurücksetzen')),
    paragraph(
      t(
        'Someone asked for a new password for your account. If it was you, choose one here:',
        'Für Ihr Konto wurde ein neues Passwort angefordert. Wenn Sie das waren, wählen Sie es hier:',
      ),
    ),
    button(t('Choose a new password', 'Neues Passwort wählen'), '{{ resetUrl }}'),
    paragraph(t('The link works for one hour, and once.', 'Der Link gilt eine Stunde lang und nur einmal.')),
    divider,
    small(
      t(
        'You did not ask for it? Ignore this email: your password stays as it is.',
        'Sie waren das nicht? Dann ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist.',
      ),
    ),
    small(chip('address')),
  ],
});

export const plainLetter = galleryEntry({
  id: 'plain-letter',
  name: { en: 'Plain letter', de: 'Einfacher Brief' },
  description: {
    en: 'Looks like an email that you wrote yourself.',
    de: 'Sieht aus wie eine selbst geschriebene E-Mail.',
  },
  subject: { en: 'A quick question', de: 'Eine kurze Frage' },
  preheader: { en: 'It takes two minutes.', de: 'Es dauert zwei Minuten.' },
  content: (t) => [
    paragraph(t('Hi ', 'Hallo '), chip('firstName', t('there', 'zusammen')), ','),
    paragraph(
      t(
        'I am writing because I would like to know what you think. Say in a few sentences what this is about, and ask one question.',
        'ich schreibe Ihnen, weil mich Ihre Meinung interessiert. Sagen Sie in wenigen Sätzen, worum es geht, und stellen Sie eine Frage.',
      ),
    ),
    paragraph(t('Reply to this email, I read every answer.', 'Antworten Sie auf diese E-Mail, ich lese jede Antwort.')),
    paragraph(t('Best regards,', 'Mit freundlichen Grüßen')),
    paragraph(t('Your name', 'Ihr Name')),
    spacer(16),
    marketingFooter(t),
  ],
});

export const announcement = galleryEntry({
  id: 'announcement',
  name: { en: 'Announcement', de: 'Ankündigung' },
  description: {
    en: 'One message, two ways to read on, questions and answers.',
    de: 'Eine Nachricht, zwei Wege weiterzulesen, Fragen und Antworten.',
  },
  subject: { en: 'An important change', de: 'Eine wichtige Änderung' },
  preheader: { en: 'What changes, when, and what to do.', de: 'Was sich ändert, wann, und was zu tun ist.' },
  content: (t) => [
    heading(1, t('Something changes on 1 March', 'Am 1. März ändert sich etwas')),
    paragraph(
      t(
        'Say first what changes, then why, then what readers need to do. If they need to do nothing, say so.',
        'Sagen Sie zuerst, was sich ändert, dann warum, dann was zu tun ist. Wenn nichts zu tun ist, sagen Sie das.',
      ),
    ),
    section(
      '#eef0ff',
      heading(3, t('In short', 'In Kürze')),
      paragraph(t('The change in one sentence.', 'Die Änderung in einem Satz.')),
    ),
    heading(2, t('Questions and answers', 'Fragen und Antworten')),
    heading(3, t('Do I need to do anything?', 'Muss ich etwas tun?')),
    paragraph(t('No. ', 'Nein. '), link(t('Read the details', 'Einzelheiten lesen'), `${SITE}/change`), '.'),
    heading(3, t('Whom can I ask?', 'Wen kann ich fragen?')),
    paragraph(t('Reply to this email.', 'Antworten Sie auf diese E-Mail.')),
    columns(
      [button(t('See what changes', 'Änderungen ansehen'), `${SITE}/change`)],
      [button(t('Contact us', 'Kontakt'), `${SITE}/contact`)],
    ),
    marketingFooter(t),
  ],
});
