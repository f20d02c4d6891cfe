import { changeSegment } from './change-segment.ts';

export const addToSegmentStep = changeSegment({
  type: 'ADD_TO_SEGMENT',
  label: 'Add to segment',
  description: 'Adds the contact to a static segment.',
  member: true,
});
