export const requestLog = {
  kind: 'Which requests',
  failed: 'Failed',
  successful: 'Successful',
  record: 'Log successful requests',
  recordText: 'Of keys, without bodies; the last 1,000.',
  none: 'No successful request is logged',
  noneText: 'Turn on “Log successful requests” to record them from then on.',
};
