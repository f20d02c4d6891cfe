export const testMail = {
  text: 'Each address gets the email once, marked as a test. Opens and clicks are not counted.',
  addressNeeded: 'Enter at least one address.',
  addressesHint: (most: number) => `Up to ${most} addresses. Press Enter after each one.`,
  withDataOf: 'With the data of',
  withDataHint: 'Fills in the variables. Empty: the data of each recipient.',
  sent: (emails: string) => `Test email sent to ${emails}.`,
  withoutFallback: 'Variables without a fallback are empty for some recipients',
  refused: (email: string, message: string) => `${email}: ${message}`,
};
