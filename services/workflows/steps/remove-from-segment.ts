import { changeSegment } from './change-segment.ts';

export const removeFromSegmentStep = changeSegment({
  type: 'REMOVE_FROM_SEGMENT',
  label: 'Remove from segment',
  description: 'Removes the contact from a static segment.',
  member: false,
});
