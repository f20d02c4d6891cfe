/** Fields that many pages share. */
export const pickers = {
  previousMonth: 'Previous month',
  nextMonth: 'Next month',
  time: 'Time',
  openCalendar: 'Open the calendar',
  nothingFound: 'Nothing found',
  colorInvalid: 'Enter a color such as #1d4ed8.',
  chooseColor: (label: string) => `${label}: choose a color`,
  saturation: 'Saturation and brightness',
  hue: 'Hue',
};

/** Words of the product, which the API may have others for. */
export const glossary = {
  whatIs: (what: string) => `What does “${what}” mean?`,
  words: {
    execution: 'The way of one person through a workflow, step by step. The API calls it an execution.',
    headless:
      'Sent to subscribed contacts only, like marketing email, but without our footer: you place the unsubscribe link yourself. The API calls it HEADLESS.',
    job: 'Work that takes a while, such as an import or a change of many contacts. The API calls it a job.',
  },
};
