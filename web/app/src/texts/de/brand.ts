import { number, plural } from '../../format.ts';
import type { Texts } from '../index.ts';

export const brand: Texts['brand'] = {
  title: 'Marke',
  description: 'Farben, Schriften, Logo und Anschrift, mit denen E-Mails des visuellen Editors entstehen.',
  saved: 'Die Marke ist gespeichert. Neue E-Mails verwenden sie.',
  logo: 'Logo',
  logoHint: 'Steht bereit, wo Sie ein Bild in eine E-Mail einfügen.',
  removeLogo: 'Logo entfernen',
  colorsTitle: 'Farben',
  colorsHint:
    'Jede E-Mail kann die hellen Farben ändern. Wer ein dunkles E-Mail-Programm verwendet, sieht die dunklen.',
  light: 'Hell',
  dark: 'Dunkel',
  colors: {
    background: 'Hintergrund',
    surface: 'Papier',
    text: 'Schrift',
    link: 'Verweise',
    button: 'Knöpfe',
    buttonText: 'Schrift auf Knöpfen',
  },
  contrast: (ratio: string) => `Kontrast ${ratio}:1, gut lesbar`,
  contrastLow: (ratio: string, needed: string) => `Kontrast ${ratio}:1, schwer lesbar. Lesbar ist er ab ${needed}:1.`,
  fonts: 'Schriften und Knöpfe',
  font: 'Schrift des Textes',
  headingFont: 'Schrift der Überschriften',
  radius: 'Runde Ecken der Knöpfe',
  footer: 'Fußzeile',
  footerHint: 'Die Variable „address“ und der Block „Soziale Netzwerke“ zeigen diese Angaben.',
  address: 'Postanschrift',
  addressHint: 'Viele Länder verlangen sie in Werbe-E-Mails.',
  socialLinks: 'Soziale Netzwerke',
  apply: 'Vorhandene E-Mails',
  applyText:
    'E-Mails behalten die Marke, mit der sie gespeichert wurden, bis Sie sie bearbeiten oder hier alle aktualisieren.',
  applyAfterSave: 'Speichern Sie zuerst die Marke. Danach können Sie vorhandene E-Mails aktualisieren.',
  details: 'Einzelheiten',
  updateEmails: 'E-Mails aktualisieren',
  applyTitle: 'Vorhandene E-Mails aktualisieren?',
  applyConfirm:
    'Vorlagen und Kampagnenentwürfe aus dem Editor werden neu erzeugt. Vorlagen gelten sofort, ihr bisheriger Inhalt wird zur Version. Geplante und gesendete Kampagnen, Entwürfe von Vorlagen und HTML-E-Mails bleiben, wie sie sind.',
  renderResult: (rendered: number, unchanged: number) =>
    `${plural(rendered, { one: 'E-Mail', other: 'E-Mails' })} aktualisiert, ${number(unchanged)} wie zuvor.`,
  renderFailed: (count: number) =>
    `${plural(count, { one: 'E-Mail konnte', other: 'E-Mails konnten' })} nicht aktualisiert werden`,
  sample: {
    heading: 'Das ist Ihre Marke',
    before: 'So sieht der Text einer E-Mail aus, mit ',
    link: 'einem Verweis darin',
    button: 'Und ein Knopf',
    unsubscribe: 'Abmelden',
  },
};

export const savedBlocks: Texts['savedBlocks'] = {
  title: 'Gespeicherte Blöcke',
  description: 'Kopfzeilen, Fußzeilen und Abschnitte, die mehrere E-Mails gemeinsam haben.',
  new: 'Neuer gespeicherter Block',
  emptyTitle: 'Noch keine gespeicherten Blöcke',
  emptyText:
    'Gestalten Sie eine Kopfzeile, eine Fußzeile oder einen Abschnitt einmal, und fügen Sie ihn in E-Mails des visuellen Editors ein.',
  name: 'Name',
  kind: 'Art',
  kindHints: {
    HEADER: 'Der Anfang einer E-Mail, etwa ein Logo.',
    FOOTER: 'Steht einmal am Ende einer E-Mail, mit dem Link zum Abmelden.',
    SECTION: 'Beliebige Blöcke, überall in einer E-Mail.',
  },
  content: 'Inhalt',
  createdDone: 'Der Block ist gespeichert. Fügen Sie ihn mit „Block hinzufügen“ in E-Mails ein.',
  saved: 'Der Block ist gespeichert.',
  usedBy: 'Verwendet von',
  uses: (templates: number, campaigns: number) =>
    `${plural(templates, { one: 'Vorlage', other: 'Vorlagen' })}, ${plural(campaigns, { one: 'Kampagne', other: 'Kampagnen' })}`,
  unused: 'Noch nirgends.',
  moreUses: (count: number) => `und ${plural(count, { one: 'weitere', other: 'weitere' })}`,
  templates: 'Vorlagen',
  campaigns: 'Entworfene und geplante Kampagnen',
  deleteTitle: (name: string) => `Den gespeicherten Block ${name} löschen?`,
  deleteText: 'Keine E-Mail verwendet ihn. Das lässt sich nicht rückgängig machen.',
  usedTitle: (name: string) => `Der gespeicherte Block ${name} wird verwendet`,
  usedText: 'Entfernen Sie ihn zuerst aus diesen E-Mails, und löschen Sie ihn dann:',
  deleted: (name: string) => `Der gespeicherte Block ${name} wurde gelöscht.`,
  apply: 'E-Mails, die ihn verwenden',
  applyText: 'Sie behalten den Block, wie er beim Speichern war, bis Sie sie bearbeiten oder hier alle aktualisieren.',
  applyAfterSave: 'Speichern Sie zuerst den Block. Danach können Sie die E-Mails aktualisieren, die ihn verwenden.',
  footerOnly:
    'Eine gespeicherte Fußzeile besteht nur aus der Fußzeile. Verschieben Sie andere Blöcke hinein, oder löschen Sie sie.',
  footerMissing: 'Eine gespeicherte Fußzeile braucht eine Fußzeile. Fügen Sie eine hinzu.',
  noFooter: 'Nur ein gespeicherter Block der Art Fußzeile kann eine Fußzeile haben.',
};
