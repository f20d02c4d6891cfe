import type { Language } from '../platform/languages.ts';

export interface FormTexts {
  email: string;
  submit: string;
  privacy: string;
  choose: string;
  thanks: string;
  thanksText: string;
  continue: string;
  continueText: string;
  waitText: string;
  send: string;
  invalid: string;
  tooMany: string;
  failed: string;
  working: string;
}

export const formTexts: Record<Language, FormTexts> = {
  en: {
    email: 'Email address',
    submit: 'Subscribe',
    privacy: 'Privacy policy',
    choose: 'Please choose',
    thanks: 'Thank you',
    thanksText: 'If the address is right, you will get an email. Please check your inbox.',
    continue: 'One more step',
    continueText: 'Please press the button to send the form.',
    waitText: 'Please wait five seconds, then press the button to send the form.',
    send: 'Send',
    invalid: 'Please check your input.',
    tooMany: 'There are too many requests. Please try again later.',
    failed: 'This does not work just now. Please try again in a few minutes.',
    working: 'Please wait…',
  },
  de: {
    email: 'E-Mail-Adresse',
    submit: 'Anmelden',
    privacy: 'Datenschutzerklärung',
    choose: 'Bitte wählen',
    thanks: 'Vielen Dank',
    thanksText: 'Wenn die Adresse stimmt, erhalten Sie eine E-Mail. Bitte sehen Sie in Ihr Postfach.',
    continue: 'Noch ein Schritt',
    continueText: 'Bitte drücken Sie den Knopf, um das Formular zu senden.',
    waitText: 'Bitte warten Sie fünf Sekunden und drücken Sie dann den Knopf, um das Formular zu senden.',
    send: 'Senden',
    invalid: 'Bitte prüfen Sie Ihre Eingaben.',
    tooMany: 'Es sind zu viele Anfragen. Bitte versuchen Sie es später noch einmal.',
    failed: 'Das geht gerade nicht. Bitte versuchen Sie es in einigen Minuten noch einmal.',
    working: 'Bitte warten…',
  },
  fr: {
    email: 'Adresse e-mail',
    submit: 'S’inscrire',
    privacy: 'Politique de confidentialité',
    choose: 'Veuillez choisir',
    thanks: 'Merci',
    thanksText: 'Si l’adresse est correcte, vous recevrez un e-mail. Consultez votre messagerie.',
    continue: 'Encore une étape',
    continueText: 'Appuyez sur le bouton pour envoyer le formulaire.',
    waitText: 'Attendez cinq secondes, puis appuyez sur le bouton pour envoyer le formulaire.',
    send: 'Envoyer',
    invalid: 'Veuillez vérifier votre saisie.',
    tooMany: 'Trop de demandes. Veuillez réessayer plus tard.',
    failed: 'Cela ne fonctionne pas pour le moment. Réessayez dans quelques minutes.',
    working: 'Veuillez patienter…',
  },
  es: {
    email: 'Correo electrónico',
    submit: 'Suscribirse',
    privacy: 'Política de privacidad',
    choose: 'Elija una opción',
    thanks: 'Gracias',
    thanksText: 'Si la dirección es correcta, recibirá un correo. Revise su bandeja de entrada.',
    continue: 'Un paso más',
    continueText: 'Pulse el botón para enviar el formulario.',
    waitText: 'Espere cinco segundos y pulse el botón para enviar el formulario.',
    send: 'Enviar',
    invalid: 'Revise los datos.',
    tooMany: 'Hay demasiadas solicitudes. Inténtelo más tarde.',
    failed: 'Ahora no funciona. Inténtelo dentro de unos minutos.',
    working: 'Espere…',
  },
  nl: {
    email: 'E-mailadres',
    submit: 'Aanmelden',
    privacy: 'Privacybeleid',
    choose: 'Maak een keuze',
    thanks: 'Bedankt',
    thanksText: 'Als het adres klopt, ontvangt u een e-mail. Kijk in uw inbox.',
    continue: 'Nog één stap',
    continueText: 'Druk op de knop om het formulier te versturen.',
    waitText: 'Wacht vijf seconden en druk dan op de knop om het formulier te versturen.',
    send: 'Versturen',
    invalid: 'Controleer uw invoer.',
    tooMany: 'Er zijn te veel aanvragen. Probeer het later opnieuw.',
    failed: 'Dat lukt nu niet. Probeer het over een paar minuten opnieuw.',
    working: 'Een ogenblik…',
  },
  pt: {
    email: 'Endereço de e-mail',
    submit: 'Subscrever',
    privacy: 'Política de privacidade',
    choose: 'Escolha uma opção',
    thanks: 'Obrigado',
    thanksText: 'Se o endereço estiver correto, receberá um e-mail. Verifique a sua caixa de entrada.',
    continue: 'Mais um passo',
    continueText: 'Prima o botão para enviar o formulário.',
    waitText: 'Aguarde cinco segundos e prima o botão para enviar o formulário.',
    send: 'Enviar',
    invalid: 'Verifique os dados.',
    tooMany: 'Há demasiados pedidos. Tente mais tarde.',
    failed: 'Não é possível neste momento. Tente dentro de alguns minutos.',
    working: 'Aguarde…',
  },
  it: {
    email: 'Indirizzo e-mail',
    submit: 'Iscriviti',
    privacy: 'Informativa sulla privacy',
    choose: 'Scegli un’opzione',
    thanks: 'Grazie',
    thanksText: 'Se l’indirizzo è corretto, riceverai un’e-mail. Controlla la posta.',
    continue: 'Ancora un passo',
    continueText: 'Premi il pulsante per inviare il modulo.',
    waitText: 'Attendi cinque secondi, poi premi il pulsante per inviare il modulo.',
    send: 'Invia',
    invalid: 'Controlla i dati inseriti.',
    tooMany: 'Ci sono troppe richieste. Riprova più tardi.',
    failed: 'Al momento non funziona. Riprova tra qualche minuto.',
    working: 'Attendi…',
  },
};
