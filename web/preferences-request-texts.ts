import type { Language } from '../platform/languages.ts';

/** Texts of the page on which people ask for the link to their preferences. */
export interface PreferencesRequestTexts {
  title: string;
  text: string;
  address: string;
  send: string;
  sentTitle: string;
  sent: string;
  badAddress: string;
  tooMany: string;
}

export const preferencesRequestTexts: Record<Language, PreferencesRequestTexts> = {
  en: {
    title: 'Your email preferences',
    text: 'Enter your email address. We send you a link to choose what you receive.',
    address: 'Email address',
    send: 'Send the link',
    sentTitle: 'Check your inbox',
    sent: 'If we know this address, an email with the link is on its way. It can take a few minutes.',
    badAddress: 'This is not an email address. Please check it.',
    tooMany: 'Too many requests. Please try again later.',
  },
  de: {
    title: 'Ihre E-Mail-Einstellungen',
    text: 'Geben Sie Ihre E-Mail-Adresse ein. Wir senden Ihnen einen Link, mit dem Sie wählen, was Sie erhalten.',
    address: 'E-Mail-Adresse',
    send: 'Link senden',
    sentTitle: 'Sehen Sie in Ihr Postfach',
    sent: 'Wenn wir diese Adresse kennen, ist eine E-Mail mit dem Link unterwegs. Das kann einige Minuten dauern.',
    badAddress: 'Das ist keine E-Mail-Adresse. Bitte prüfen Sie sie.',
    tooMany: 'Zu viele Anfragen. Bitte versuchen Sie es später noch einmal.',
  },
  fr: {
    title: 'Vos préférences d’e-mail',
    text: 'Saisissez votre adresse e-mail. Nous vous enverrons un lien pour choisir ce que vous recevez.',
    address: 'Adresse e-mail',
    send: 'Envoyer le lien',
    sentTitle: 'Consultez votre boîte de réception',
    sent: 'Si nous connaissons cette adresse, un e-mail avec le lien est en route. Cela peut prendre quelques minutes.',
    badAddress: 'Ce n’est pas une adresse e-mail. Veuillez la vérifier.',
    tooMany: 'Trop de demandes. Veuillez réessayer plus tard.',
  },
  es: {
    title: 'Sus preferencias de correo',
    text: 'Introduzca su dirección de correo. Le enviaremos un enlace para elegir lo que recibe.',
    address: 'Dirección de correo',
    send: 'Enviar el enlace',
    sentTitle: 'Revise su bandeja de entrada',
    sent: 'Si conocemos esta dirección, un correo con el enlace está en camino. Puede tardar unos minutos.',
    badAddress: 'Esto no es una dirección de correo. Revísela.',
    tooMany: 'Demasiadas solicitudes. Inténtelo de nuevo más tarde.',
  },
  nl: {
    title: 'Uw e-mailvoorkeuren',
    text: 'Vul uw e-mailadres in. We sturen u een link waarmee u kiest wat u ontvangt.',
    address: 'E-mailadres',
    send: 'Link versturen',
    sentTitle: 'Kijk in uw inbox',
    sent: 'Als we dit adres kennen, is er een e-mail met de link onderweg. Dat kan enkele minuten duren.',
    badAddress: 'Dit is geen e-mailadres. Controleer het.',
    tooMany: 'Te veel verzoeken. Probeer het later opnieuw.',
  },
  pt: {
    title: 'As suas preferências de e-mail',
    text: 'Introduza o seu endereço de e-mail. Enviamos-lhe uma ligação para escolher o que recebe.',
    address: 'Endereço de e-mail',
    send: 'Enviar a ligação',
    sentTitle: 'Veja a sua caixa de entrada',
    sent: 'Se conhecermos este endereço, um e-mail com a ligação está a caminho. Pode demorar alguns minutos.',
    badAddress: 'Isto não é um endereço de e-mail. Verifique-o.',
    tooMany: 'Demasiados pedidos. Tente novamente mais tarde.',
  },
  it: {
    title: 'Le sue preferenze e-mail',
    text: 'Inserisca il suo indirizzo e-mail. Le inviamo un link per scegliere che cosa riceve.',
    address: 'Indirizzo e-mail',
    send: 'Invia il link',
    sentTitle: 'Controlli la posta in arrivo',
    sent: 'Se conosciamo questo indirizzo, un’e-mail con il link è in arrivo. Possono volerci alcuni minuti.',
    badAddress: 'Questo non è un indirizzo e-mail. Lo controlli.',
    tooMany: 'Troppe richieste. Riprovi più tardi.',
  },
};
