import type { Language } from '../platform/languages.ts';

/** `{name}` is the form's. */
export interface ConfirmationTexts {
  ask: string;
  askText: string;
  confirm: string;
  confirmed: string;
  confirmedText: string;
  expired: string;
  expiredText: string;
  sendAgain: string;
  sentAgain: string;
  sentAgainText: string;
  askDecline: string;
  askDeclineText: string;
  decline: string;
  declined: string;
  declinedText: string;
  /** On the page to decline, where it has been confirmed. */
  isConfirmed: string;
  manage: string;
  chooseOne: string;
}

export const confirmationTexts: Record<Language, ConfirmationTexts> = {
  en: {
    ask: 'Confirm your subscription',
    askText: 'Please confirm that you want to subscribe to {name}.',
    confirm: 'Confirm subscription',
    confirmed: 'Subscription confirmed',
    confirmedText: 'Thank you. You are now subscribed to {name}.',
    expired: 'This link has expired',
    expiredText: 'Your subscription to {name} was not confirmed.',
    sendAgain: 'Send a new link',
    sentAgain: 'Check your inbox',
    sentAgainText: 'If the limit allows it, a new link is on its way. Otherwise please try again tomorrow.',
    askDecline: 'Was that not you?',
    askDeclineText: 'If you did not ask for this, we will send no more confirmation emails for {name} to this address.',
    decline: 'That was not me',
    declined: 'You will not be subscribed',
    declinedText: 'We will send no more confirmation emails for {name} to this address.',
    isConfirmed: 'This subscription has been confirmed. You can change or end it.',
    manage: 'Manage subscription',
    chooseOne: 'Please choose at least one topic.',
  },
  de: {
    ask: 'Anmeldung bestätigen',
    askText: 'Bitte bestätigen Sie, dass Sie sich für {name} anmelden möchten.',
    confirm: 'Anmeldung bestätigen',
    confirmed: 'Anmeldung bestätigt',
    confirmedText: 'Vielen Dank. Sie sind nun für {name} angemeldet.',
    expired: 'Dieser Link ist abgelaufen',
    expiredText: 'Ihre Anmeldung für {name} wurde nicht bestätigt.',
    sendAgain: 'Neuen Link senden',
    sentAgain: 'Sehen Sie in Ihr Postfach',
    sentAgainText:
      'Wenn die Begrenzung es erlaubt, ist ein neuer Link unterwegs. Sonst versuchen Sie es bitte morgen noch einmal.',
    askDecline: 'Waren Sie das nicht?',
    askDeclineText: 'Dann erhalten Sie keine E-Mails von {name} mehr, die um eine Bestätigung bitten.',
    decline: 'Das war ich nicht',
    declined: 'Sie werden nicht angemeldet',
    declinedText: 'Sie erhalten keine E-Mails von {name} mehr, die um eine Bestätigung bitten.',
    isConfirmed: 'Diese Anmeldung wurde bestätigt. Sie können sie ändern oder beenden.',
    manage: 'Anmeldung verwalten',
    chooseOne: 'Bitte wählen Sie mindestens ein Thema.',
  },
  fr: {
    ask: 'Confirmer votre inscription',
    askText: 'Veuillez confirmer que vous souhaitez vous inscrire à {name}.',
    confirm: 'Confirmer l’inscription',
    confirmed: 'Inscription confirmée',
    confirmedText: 'Merci. Vous êtes maintenant inscrit à {name}.',
    expired: 'Ce lien a expiré',
    expiredText: 'Votre inscription à {name} n’a pas été confirmée.',
    sendAgain: 'Envoyer un nouveau lien',
    sentAgain: 'Consultez votre messagerie',
    sentAgainText: 'Si la limite le permet, un nouveau lien vous est envoyé.',
    askDecline: 'Ce n’était pas vous ?',
    askDeclineText: 'Vous ne recevrez alors plus de demandes de confirmation de {name}.',
    decline: 'Ce n’était pas moi',
    declined: 'Vous ne serez pas inscrit',
    declinedText: 'Vous ne recevrez plus de demandes de confirmation de {name}.',
    isConfirmed: 'Cette inscription a été confirmée. Vous pouvez la modifier ou y mettre fin.',
    manage: 'Gérer l’inscription',
    chooseOne: 'Veuillez choisir au moins un thème.',
  },
  es: {
    ask: 'Confirme su suscripción',
    askText: 'Confirme que desea suscribirse a {name}.',
    confirm: 'Confirmar suscripción',
    confirmed: 'Suscripción confirmada',
    confirmedText: 'Gracias. Ya está suscrito a {name}.',
    expired: 'Este enlace ha caducado',
    expiredText: 'Su suscripción a {name} no se confirmó.',
    sendAgain: 'Enviar un enlace nuevo',
    sentAgain: 'Revise su correo',
    sentAgainText: 'Si el límite lo permite, recibirá un enlace nuevo.',
    askDecline: '¿No fue usted?',
    askDeclineText: 'Entonces no recibirá más correos de {name} que pidan una confirmación.',
    decline: 'No fui yo',
    declined: 'No se le suscribirá',
    declinedText: 'No recibirá más correos de {name} que pidan una confirmación.',
    isConfirmed: 'Esta suscripción se ha confirmado. Puede cambiarla o terminarla.',
    manage: 'Gestionar suscripción',
    chooseOne: 'Elija al menos un tema.',
  },
  nl: {
    ask: 'Bevestig uw aanmelding',
    askText: 'Bevestig dat u zich wilt aanmelden voor {name}.',
    confirm: 'Aanmelding bevestigen',
    confirmed: 'Aanmelding bevestigd',
    confirmedText: 'Bedankt. U bent nu aangemeld voor {name}.',
    expired: 'Deze link is verlopen',
    expiredText: 'Uw aanmelding voor {name} is niet bevestigd.',
    sendAgain: 'Nieuwe link sturen',
    sentAgain: 'Kijk in uw inbox',
    sentAgainText: 'Als de limiet het toelaat, is een nieuwe link onderweg.',
    askDecline: 'Was u dat niet?',
    askDeclineText: 'Dan ontvangt u geen e-mails van {name} meer die om een bevestiging vragen.',
    decline: 'Dat was ik niet',
    declined: 'U wordt niet aangemeld',
    declinedText: 'U ontvangt geen e-mails van {name} meer die om een bevestiging vragen.',
    isConfirmed: 'Deze aanmelding is bevestigd. U kunt haar wijzigen of beëindigen.',
    manage: 'Aanmelding beheren',
    chooseOne: 'Kies minstens één onderwerp.',
  },
  pt: {
    ask: 'Confirme a sua subscrição',
    askText: 'Confirme que pretende subscrever {name}.',
    confirm: 'Confirmar subscrição',
    confirmed: 'Subscrição confirmada',
    confirmedText: 'Obrigado. Já está subscrito em {name}.',
    expired: 'Esta ligação expirou',
    expiredText: 'A sua subscrição de {name} não foi confirmada.',
    sendAgain: 'Enviar nova ligação',
    sentAgain: 'Verifique o seu e-mail',
    sentAgainText: 'Se o limite o permitir, receberá uma nova ligação.',
    askDecline: 'Não foi você?',
    askDeclineText: 'Nesse caso, não receberá mais e-mails de {name} a pedir confirmação.',
    decline: 'Não fui eu',
    declined: 'Não será subscrito',
    declinedText: 'Não receberá mais e-mails de {name} a pedir confirmação.',
    isConfirmed: 'Esta subscrição foi confirmada. Pode alterá-la ou terminá-la.',
    manage: 'Gerir subscrição',
    chooseOne: 'Escolha pelo menos um tema.',
  },
  it: {
    ask: 'Conferma la tua iscrizione',
    askText: 'Conferma di volerti iscrivere a {name}.',
    confirm: 'Conferma iscrizione',
    confirmed: 'Iscrizione confermata',
    confirmedText: 'Grazie. Ora sei iscritto a {name}.',
    expired: 'Questo link è scaduto',
    expiredText: 'La tua iscrizione a {name} non è stata confermata.',
    sendAgain: 'Invia un nuovo link',
    sentAgain: 'Controlla la posta',
    sentAgainText: 'Se il limite lo consente, riceverai un nuovo link.',
    askDecline: 'Non sei stato tu?',
    askDeclineText: 'Allora non riceverai più e-mail di {name} che chiedono una conferma.',
    decline: 'Non sono stato io',
    declined: 'Non verrai iscritto',
    declinedText: 'Non riceverai più e-mail di {name} che chiedono una conferma.',
    isConfirmed: 'Questa iscrizione è stata confermata. Puoi modificarla o terminarla.',
    manage: 'Gestisci iscrizione',
    chooseOne: 'Scegli almeno un argomento.',
  },
};
