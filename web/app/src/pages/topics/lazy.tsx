// What other pages show about topics, loaded with its texts when they show it.
import { lazy } from 'react';
import { partTexts } from '../../texts/index.ts';

export const TopicSelect = lazy(async () => {
  const [{ TopicSelect }] = await Promise.all([import('./topic-select.tsx'), partTexts('topics')]);
  return { default: TopicSelect };
});

export const SubscriptionsPanel = lazy(async () => {
  const [{ SubscriptionsPanel }] = await Promise.all([import('./subscriptions.tsx'), partTexts('topics')]);
  return { default: SubscriptionsPanel };
});

export const ConsentsTab = lazy(async () => {
  const [{ ConsentsTab }] = await Promise.all([import('./consents.tsx'), partTexts('topics')]);
  return { default: ConsentsTab };
});

export const ChangeTopicButton = lazy(async () => {
  const [{ ChangeTopicButton }] = await Promise.all([import('./bulk.tsx'), partTexts('topics')]);
  return { default: ChangeTopicButton };
});
