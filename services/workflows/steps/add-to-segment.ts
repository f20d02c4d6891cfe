import { changeSegment } from './change-segment.ts';

export const addToSegmentStep = changeSegment({
  type: 'ADD_TO_SEGMENT',
  label: 'Add to segment',
  description: 'Makes the contact a member of a static segment.',
  member: true,
});
