import type { Language } from '../platform/languages.ts';

export interface SubscriptionTexts {
  subscribed: string;
  unsubscribed: string;
  askUnsubscribe: string;
  askSubscribe: string;
  unsubscribe: string;
  subscribe: string;
  /** `{address}` and `{sender}` are replaced. */
  gets: string;
  getsNone: string;
  wouldGetNone: string;
  wouldGet: string;
  badLink: string;
  badLinkHint: string;
  later: string;
  laterHint: string;
}

export const subscriptionTexts: Record<Language, SubscriptionTexts> = {
  en: {
    subscribed: 'You are subscribed',
    unsubscribed: 'You are unsubscribed',
    askUnsubscribe: 'Unsubscribe?',
    askSubscribe: 'Subscribe?',
    unsubscribe: 'Unsubscribe',
    subscribe: 'Subscribe',
    gets: '{address} receives e-mails from {sender}.',
    getsNone: '{address} no longer receives e-mails from {sender}.',
    wouldGetNone: '{address} will no longer receive e-mails from {sender}.',
    wouldGet: '{address} will receive e-mails from {sender}.',
    badLink: 'This link does not work',
    badLinkHint: 'It is incomplete or no longer valid. Please use the link in your latest e-mail.',
    later: 'Please try again',
    laterHint: 'This does not work just now. Please try again in a few minutes.',
  },
  de: {
    subscribed: 'Sie sind angemeldet',
    unsubscribed: 'Sie sind abgemeldet',
    askUnsubscribe: 'Abmelden?',
    askSubscribe: 'Anmelden?',
    unsubscribe: 'Abmelden',
    subscribe: 'Anmelden',
    gets: '{address} erhält E-Mails von {sender}.',
    getsNone: '{address} erhält keine E-Mails mehr von {sender}.',
    wouldGetNone: '{address} erhält dann keine E-Mails mehr von {sender}.',
    wouldGet: '{address} erhält dann E-Mails von {sender}.',
    badLink: 'Dieser Link funktioniert nicht',
    badLinkHint: 'Er ist unvollständig oder nicht mehr gültig. Bitte verwenden Sie den Link in Ihrer letzten E-Mail.',
    later: 'Bitte versuchen Sie es noch einmal',
    laterHint: 'Das geht gerade nicht. Bitte versuchen Sie es in einigen Minuten noch einmal.',
  },
  fr: {
    subscribed: 'Vous êtes abonné',
    unsubscribed: 'Vous êtes désabonné',
    askUnsubscribe: 'Se désabonner ?',
    askSubscribe: 'S’abonner ?',
    unsubscribe: 'Se désabonner',
    subscribe: 'S’abonner',
    gets: '{address} reçoit les e-mails de {sender}.',
    getsNone: '{address} ne reçoit plus les e-mails de {sender}.',
    wouldGetNone: '{address} ne recevra plus les e-mails de {sender}.',
    wouldGet: '{address} recevra les e-mails de {sender}.',
    badLink: 'Ce lien ne fonctionne pas',
    badLinkHint: 'Il est incomplet ou n’est plus valable. Utilisez le lien de votre dernier e-mail.',
    later: 'Veuillez réessayer',
    laterHint: 'Cela ne fonctionne pas pour le moment. Réessayez dans quelques minutes.',
  },
  es: {
    subscribed: 'Está suscrito',
    unsubscribed: 'Ha cancelado la suscripción',
    askUnsubscribe: '¿Cancelar la suscripción?',
    askSubscribe: '¿Suscribirse?',
    unsubscribe: 'Cancelar la suscripción',
    subscribe: 'Suscribirse',
    gets: '{address} recibe correos de {sender}.',
    getsNone: '{address} ya no recibe correos de {sender}.',
    wouldGetNone: '{address} dejará de recibir correos de {sender}.',
    wouldGet: '{address} recibirá correos de {sender}.',
    badLink: 'Este enlace no funciona',
    badLinkHint: 'Está incompleto o ya no es válido. Utilice el enlace de su último correo.',
    later: 'Inténtelo de nuevo',
    laterHint: 'No es posible en este momento. Inténtelo de nuevo en unos minutos.',
  },
  nl: {
    subscribed: 'U bent ingeschreven',
    unsubscribed: 'U bent uitgeschreven',
    askUnsubscribe: 'Uitschrijven?',
    askSubscribe: 'Inschrijven?',
    unsubscribe: 'Uitschrijven',
    subscribe: 'Inschrijven',
    gets: '{address} ontvangt e-mails van {sender}.',
    getsNone: '{address} ontvangt geen e-mails meer van {sender}.',
    wouldGetNone: '{address} ontvangt dan geen e-mails meer van {sender}.',
    wouldGet: '{address} ontvangt dan e-mails van {sender}.',
    badLink: 'Deze link werkt niet',
    badLinkHint: 'Hij is onvolledig of niet meer geldig. Gebruik de link in uw laatste e-mail.',
    later: 'Probeer het opnieuw',
    laterHint: 'Dit lukt nu niet. Probeer het over een paar minuten opnieuw.',
  },
  pt: {
    subscribed: 'Está inscrito',
    unsubscribed: 'A inscrição foi cancelada',
    askUnsubscribe: 'Cancelar a inscrição?',
    askSubscribe: 'Inscrever-se?',
    unsubscribe: 'Cancelar a inscrição',
    subscribe: 'Inscrever-se',
    gets: '{address} recebe e-mails de {sender}.',
    getsNone: '{address} já não recebe e-mails de {sender}.',
    wouldGetNone: '{address} deixará de receber e-mails de {sender}.',
    wouldGet: '{address} passará a receber e-mails de {sender}.',
    badLink: 'Esta ligação não funciona',
    badLinkHint: 'Está incompleta ou já não é válida. Use a ligação do seu e-mail mais recente.',
    later: 'Tente novamente',
    laterHint: 'Não é possível de momento. Tente novamente dentro de alguns minutos.',
  },
  it: {
    subscribed: 'È iscritto',
    unsubscribed: 'L’iscrizione è annullata',
    askUnsubscribe: 'Annullare l’iscrizione?',
    askSubscribe: 'Iscriversi?',
    unsubscribe: 'Annulla iscrizione',
    subscribe: 'Iscriviti',
    gets: '{address} riceve e-mail da {sender}.',
    getsNone: '{address} non riceve più e-mail da {sender}.',
    wouldGetNone: '{address} non riceverà più e-mail da {sender}.',
    wouldGet: '{address} riceverà e-mail da {sender}.',
    badLink: 'Questo link non funziona',
    badLinkHint: 'È incompleto o non più valido. Usi il link dell’ultima e-mail ricevuta.',
    later: 'Riprovi',
    laterHint: 'Al momento non è possibile. Riprovi tra qualche minuto.',
  },
};
