import type { Language } from '../../platform/languages.ts';

export const confirmationKinds = ['confirm', 'reminder', 'already'] as const;
export type ConfirmationKind = (typeof confirmationKinds)[number];

interface EmailTexts {
  subject: string;
  /** `{{ formName }}` and `{{ topicNames }}` are variables; the second is empty for all email. */
  intro: string;
  button: string;
}

interface LanguageTexts extends Record<ConfirmationKind, EmailTexts> {
  /** Above the names of topics. */
  topics: string;
  ignore: string;
  decline: string;
}

const texts: Record<Language, LanguageTexts> = {
  en: {
    confirm: {
      subject: 'Please confirm your subscription: {{ formName }}',
      intro: 'Please confirm that you want to subscribe to {{ formName }}.',
      button: 'Confirm subscription',
    },
    reminder: {
      subject: 'Reminder: please confirm your subscription: {{ formName }}',
      intro: 'Your subscription to {{ formName }} still waits for your confirmation.',
      button: 'Confirm subscription',
    },
    already: {
      subject: 'You are already subscribed: {{ formName }}',
      intro: 'You are already subscribed to {{ formName }}. You can change your settings at any time.',
      button: 'Manage subscription',
    },
    topics: 'Topics: {{ topicNames }}',
    ignore: 'If you did not request this, ignore this email.',
    decline: 'That was not me',
  },
  de: {
    confirm: {
      subject: 'Bitte bestätigen Sie Ihre Anmeldung: {{ formName }}',
      intro: 'Bitte bestätigen Sie, dass Sie sich für {{ formName }} anmelden möchten.',
      button: 'Anmeldung bestätigen',
    },
    reminder: {
      subject: 'Erinnerung: Bitte bestätigen Sie Ihre Anmeldung: {{ formName }}',
      intro: 'Ihre Anmeldung für {{ formName }} wartet noch auf Ihre Bestätigung.',
      button: 'Anmeldung bestätigen',
    },
    already: {
      subject: 'Sie sind bereits angemeldet: {{ formName }}',
      intro: 'Sie sind bereits für {{ formName }} angemeldet. Ihre Einstellungen können Sie jederzeit ändern.',
      button: 'Anmeldung verwalten',
    },
    topics: 'Themen: {{ topicNames }}',
    ignore: 'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail.',
    decline: 'Das war ich nicht',
  },
  fr: {
    confirm: {
      subject: 'Veuillez confirmer votre inscription : {{ formName }}',
      intro: 'Veuillez confirmer que vous souhaitez vous inscrire à {{ formName }}.',
      button: 'Confirmer l’inscription',
    },
    reminder: {
      subject: 'Rappel : veuillez confirmer votre inscription : {{ formName }}',
      intro: 'Votre inscription à {{ formName }} attend encore votre confirmation.',
      button: 'Confirmer l’inscription',
    },
    already: {
      subject: 'Vous êtes déjà inscrit : {{ formName }}',
      intro: 'Vous êtes déjà inscrit à {{ formName }}. Vous pouvez modifier vos préférences à tout moment.',
      button: 'Gérer l’inscription',
    },
    topics: 'Thèmes : {{ topicNames }}',
    ignore: 'Si vous n’avez rien demandé, ignorez cet e-mail.',
    decline: 'Ce n’était pas moi',
  },
  es: {
    confirm: {
      subject: 'Confirme su suscripción: {{ formName }}',
      intro: 'Confirme que desea suscribirse a {{ formName }}.',
      button: 'Confirmar suscripción',
    },
    reminder: {
      subject: 'Recordatorio: confirme su suscripción: {{ formName }}',
      intro: 'Su suscripción a {{ formName }} aún espera su confirmación.',
      button: 'Confirmar suscripción',
    },
    already: {
      subject: 'Ya está suscrito: {{ formName }}',
      intro: 'Ya está suscrito a {{ formName }}. Puede cambiar sus preferencias en cualquier momento.',
      button: 'Gestionar suscripción',
    },
    topics: 'Temas: {{ topicNames }}',
    ignore: 'Si no lo ha solicitado, ignore este correo.',
    decline: 'No fui yo',
  },
  nl: {
    confirm: {
      subject: 'Bevestig uw aanmelding: {{ formName }}',
      intro: 'Bevestig dat u zich wilt aanmelden voor {{ formName }}.',
      button: 'Aanmelding bevestigen',
    },
    reminder: {
      subject: 'Herinnering: bevestig uw aanmelding: {{ formName }}',
      intro: 'Uw aanmelding voor {{ formName }} wacht nog op uw bevestiging.',
      button: 'Aanmelding bevestigen',
    },
    already: {
      subject: 'U bent al aangemeld: {{ formName }}',
      intro: 'U bent al aangemeld voor {{ formName }}. U kunt uw voorkeuren altijd wijzigen.',
      button: 'Aanmelding beheren',
    },
    topics: 'Onderwerpen: {{ topicNames }}',
    ignore: 'Hebt u dit niet aangevraagd? Negeer dan deze e-mail.',
    decline: 'Dat was ik niet',
  },
  pt: {
    confirm: {
      subject: 'Confirme a sua subscrição: {{ formName }}',
      intro: 'Confirme que pretende subscrever {{ formName }}.',
      button: 'Confirmar subscrição',
    },
    reminder: {
      subject: 'Lembrete: confirme a sua subscrição: {{ formName }}',
      intro: 'A sua subscrição de {{ formName }} ainda aguarda a sua confirmação.',
      button: 'Confirmar subscrição',
    },
    already: {
      subject: 'Já está subscrito: {{ formName }}',
      intro: 'Já está subscrito em {{ formName }}. Pode alterar as suas preferências a qualquer momento.',
      button: 'Gerir subscrição',
    },
    topics: 'Temas: {{ topicNames }}',
    ignore: 'Se não fez este pedido, ignore este e-mail.',
    decline: 'Não fui eu',
  },
  it: {
    confirm: {
      subject: 'Conferma la tua iscrizione: {{ formName }}',
      intro: 'Conferma di volerti iscrivere a {{ formName }}.',
      button: 'Conferma iscrizione',
    },
    reminder: {
      subject: 'Promemoria: conferma la tua iscrizione: {{ formName }}',
      intro: 'La tua iscrizione a {{ formName }} attende ancora la tua conferma.',
      button: 'Conferma iscrizione',
    },
    already: {
      subject: 'Sei già iscritto: {{ formName }}',
      intro: 'Sei già iscritto a {{ formName }}. Puoi cambiare le tue preferenze in qualsiasi momento.',
      button: 'Gestisci iscrizione',
    },
    topics: 'Argomenti: {{ topicNames }}',
    ignore: 'Se non l’hai richiesto, ignora questa e-mail.',
    decline: 'Non sono stato io',
  },
};

/** The built-in confirmation email, as templates of subject and body. */
export function builtInEmail(kind: ConfirmationKind, language: Language): { subject: string; html: string } {
  const { topics, ignore, decline, [kind]: words } = texts[language];
  const url = kind === 'already' ? '{{ manageUrl }}' : '{{ confirmUrl }}';
  return {
    subject: words.subject,
    html: `<!doctype html>
<html lang="${language}"><body style="font-family: sans-serif; line-height: 1.5; color: #1f2933; max-width: 36em; margin: 2em auto; padding: 0 1em">
<p>${words.intro}</p>
{% if topicNames %}<p>${topics}</p>
{% endif %}<p><a href="${url}" style="display: inline-block; padding: .6em 1.2em; background: #1f4b99; color: #fff; border-radius: 4px; text-decoration: none">${words.button}</a></p>
<p style="color: #616e7c; font-size: .9em">${ignore}${kind === 'already' ? '' : ` <a href="{{ declineUrl }}" style="color: #616e7c">${decline}</a>`}</p>
</body></html>`,
  };
}
