/** Fields that many pages share. */
export const pickers = {
  previousMonth: 'Voriger Monat',
  nextMonth: 'Nächster Monat',
  time: 'Uhrzeit',
  openCalendar: 'Kalender öffnen',
  nothingFound: 'Nichts gefunden',
  colorInvalid: 'Geben Sie eine Farbe wie #1d4ed8 ein.',
  chooseColor: (label: string) => `${label}: Farbe wählen`,
  saturation: 'Sättigung und Helligkeit',
  hue: 'Farbton',
};

/** Words of the product, which the API may have others for. */
export const glossary = {
  whatIs: (what: string) => `Was heißt „${what}“?`,
  words: {
    execution: 'Der Weg einer Person durch einen Workflow, Schritt für Schritt. In der API heißt er execution.',
    headless:
      'Geht wie Marketing nur an Abonnenten, aber ohne unsere Fußzeile: Den Abmeldelink setzen Sie selbst. In der API heißt es HEADLESS.',
    job: 'Arbeit, die eine Weile dauert, etwa ein Import oder eine Änderung vieler Kontakte. In der API heißt sie job.',
  },
};
