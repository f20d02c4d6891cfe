export const canvas = {
  zoom: 'Zoom',
  minimap: 'Overview of the workflow',
  hasFaults: 'Something is missing here',
  addAfter: (step: string) => `Add a step after ${step}`,
  addAtExit: (step: string, branch: string) => `Add a step after ${step}: ${branch}`,
  insertBetween: (from: string, to: string) => `Insert a step between ${from} and ${to}`,
};
