import { mail, type Recipe } from './recipe.ts';

const ann = { email: 'ann@example.com', subscribed: true, data: { name: 'Ann' } };
const days = (amount: number) => ({ amount, unit: 'days' as const });
const hours = (amount: number) => ({ amount, unit: 'hours' as const });

const welcome: Recipe = {
  id: 'welcome-series',
  name: 'Welcome series',
  description: 'Welcomes new sign-ups, and shows the first steps to those who have not taken them.',
  eventName: 'signed up',
  templates: {
    hello: mail('Welcome', 'Welcome, {{ name }}', ['Hello {{ name }},', 'good to have you here.']),
    tips: mail('First steps', 'Three first steps', ['Hello {{ name }},', 'here is how most people get started.']),
  },
  steps: {
    hello: { type: 'SEND_EMAIL', name: 'Say hello', template: 'hello', position: [0, 0] },
    wait: {
      type: 'WAIT_FOR_EVENT',
      name: 'Has begun?',
      position: [0, 120],
      config: { eventName: 'activated', timeout: days(3) },
    },
    tips: { type: 'SEND_EMAIL', name: 'Show first steps', template: 'tips', position: [160, 240] },
    active: {
      type: 'UPDATE_CONTACT',
      name: 'Mark as active',
      config: { data: { active: true } },
      position: [-160, 240],
    },
  },
  transitions: [
    ['hello', 'wait'],
    ['wait', 'active', 'event'],
    ['wait', 'tips', 'timeout'],
  ],
  cases: [
    {
      name: 'begins at once',
      contact: ann,
      events: [{ at: hours(2), name: 'activated' }],
      expect: [['hello'], ['wait', 'event'], ['active']],
    },
    { name: 'does nothing', contact: ann, expect: [['hello'], ['wait', 'timeout'], ['tips']] },
  ],
};

const trial: Recipe = {
  id: 'trial-ending',
  name: 'Trial ending',
  description: 'Reminds people three days before the end of their trial, and again on the last day.',
  eventName: 'trial started',
  allowReentry: true,
  templates: {
    soon: mail('Trial ends soon', 'Your trial ends in three days', ['Hello {{ name }},', 'keep what you have built.']),
    last: mail('Last day of the trial', 'Your trial ends today', ['Hello {{ name }},', 'today is the last day.']),
  },
  steps: {
    run: {
      type: 'WAIT_FOR_EVENT',
      name: 'Buys during the trial?',
      position: [0, 0],
      config: { eventName: 'subscribed to plan', timeout: days(11) },
    },
    soon: { type: 'SEND_EMAIL', name: 'Three days left', template: 'soon', position: [0, 120] },
    wait: {
      type: 'WAIT_FOR_EVENT',
      name: 'Buys now?',
      position: [0, 240],
      config: { eventName: 'subscribed to plan', timeout: days(3) },
    },
    last: { type: 'SEND_EMAIL', name: 'Last day', template: 'last', position: [0, 360] },
    bought: { type: 'EXIT', name: 'Has bought', config: { reason: 'customer' }, position: [240, 240] },
  },
  transitions: [
    ['run', 'bought', 'event'],
    ['run', 'soon', 'timeout'],
    ['soon', 'wait'],
    ['wait', 'bought', 'event'],
    ['wait', 'last', 'timeout'],
  ],
  cases: [
    {
      name: 'buys early',
      contact: ann,
      events: [{ at: days(2), name: 'subscribed to plan' }],
      expect: [['run', 'event'], ['bought']],
    },
    {
      name: 'buys after the reminder',
      contact: ann,
      events: [{ at: days(12), name: 'subscribed to plan' }],
      expect: [['run', 'timeout'], ['soon'], ['wait', 'event'], ['bought']],
    },
    { name: 'never buys', contact: ann, expect: [['run', 'timeout'], ['soon'], ['wait', 'timeout'], ['last']] },
  ],
};

const cart: Recipe = {
  id: 'abandoned-cart',
  name: 'Abandoned cart',
  description: 'Reminds people of what they left in their cart, once after four hours.',
  eventName: 'added to cart',
  allowReentry: true,
  templates: {
    reminder: mail('Cart reminder', 'You left something behind', ['Hello {{ name }},', 'your cart is still here.']),
  },
  steps: {
    wait: {
      type: 'WAIT_FOR_EVENT',
      name: 'Orders?',
      position: [0, 0],
      config: { eventName: 'ordered', timeout: hours(4) },
    },
    ordered: { type: 'EXIT', name: 'Has ordered', config: { reason: 'ordered' }, position: [-160, 120] },
    subscribed: {
      type: 'CONDITION',
      name: 'Subscribed?',
      position: [160, 120],
      config: { field: 'subscribed', operator: 'equals', value: true },
    },
    reminder: { type: 'SEND_EMAIL', name: 'Remind', template: 'reminder', position: [160, 240] },
  },
  transitions: [
    ['wait', 'ordered', 'event'],
    ['wait', 'subscribed', 'timeout'],
    ['subscribed', 'reminder', 'yes'],
  ],
  cases: [
    {
      name: 'orders in time',
      contact: ann,
      events: [{ at: hours(1), name: 'ordered' }],
      expect: [['wait', 'event'], ['ordered']],
    },
    { name: 'leaves the cart', contact: ann, expect: [['wait', 'timeout'], ['subscribed', 'yes'], ['reminder']] },
    {
      name: 'is not subscribed',
      contact: { ...ann, subscribed: false },
      expect: [
        ['wait', 'timeout'],
        ['subscribed', 'no'],
      ],
    },
  ],
};

const winBack: Recipe = {
  id: 'win-back',
  name: 'Win-back',
  description: 'Emails customers thirty days after their last order, and compares two subjects.',
  eventName: 'ordered',
  allowReentry: true,
  templates: {
    miss: mail('We miss you', 'We miss you, {{ name }}', ['Hello {{ name }},', 'it has been a while.']),
    news: mail('What is new', 'What is new since your last order', ['Hello {{ name }},', 'a lot has changed.']),
  },
  steps: {
    wait: {
      type: 'WAIT_FOR_EVENT',
      name: 'Orders again?',
      position: [0, 0],
      config: { eventName: 'ordered', timeout: days(30) },
    },
    again: { type: 'EXIT', name: 'Has ordered again', config: { reason: 'ordered' }, position: [-240, 120] },
    split: {
      type: 'SPLIT',
      name: 'Two subjects',
      position: [160, 120],
      config: {
        branches: [
          { name: 'miss you', weight: 50 },
          { name: 'what is new', weight: 50 },
        ],
      },
    },
    miss: { type: 'SEND_EMAIL', name: 'We miss you', template: 'miss', position: [40, 240] },
    news: { type: 'SEND_EMAIL', name: 'What is new', template: 'news', position: [280, 240] },
  },
  transitions: [
    ['wait', 'again', 'event'],
    ['wait', 'split', 'timeout'],
    ['split', 'miss', 'miss you'],
    ['split', 'news', 'what is new'],
  ],
  cases: [
    {
      name: 'orders again',
      contact: ann,
      events: [{ at: days(10), name: 'ordered' }],
      expect: [['wait', 'event'], ['again']],
    },
  ],
};

const doubleOptIn: Recipe = {
  id: 'double-opt-in',
  name: 'Double opt-in',
  description: 'Asks people to confirm their address, reminds them once, and subscribes those who confirm.',
  eventName: 'requested newsletter',
  allowReentry: true,
  templates: {
    confirm: mail(
      'Confirm your address',
      'Please confirm your address',
      ['Hello {{ name }},', 'please confirm: <a href="https://www.example.com/confirm?email={{ email }}">yes</a>.'],
      'TRANSACTIONAL',
    ),
    remind: mail(
      'Confirm your address: reminder',
      'One click left',
      ['Hello {{ name }},', 'we still need your confirmation.'],
      'TRANSACTIONAL',
    ),
  },
  steps: {
    ask: { type: 'SEND_EMAIL', name: 'Ask to confirm', template: 'confirm', position: [0, 0] },
    wait: {
      type: 'WAIT_FOR_EVENT',
      name: 'Confirms?',
      position: [0, 120],
      config: { eventName: 'confirmed address', timeout: days(2) },
    },
    remind: { type: 'SEND_EMAIL', name: 'Remind', template: 'remind', position: [160, 240] },
    again: {
      type: 'WAIT_FOR_EVENT',
      name: 'Confirms now?',
      position: [160, 360],
      config: { eventName: 'confirmed address', timeout: days(7) },
    },
    subscribe: { type: 'UPDATE_CONTACT', name: 'Subscribe', config: { subscribed: true }, position: [-160, 480] },
    drop: { type: 'EXIT', name: 'Not confirmed', config: { reason: 'not confirmed' }, position: [160, 480] },
  },
  transitions: [
    ['ask', 'wait'],
    ['wait', 'subscribe', 'event'],
    ['wait', 'remind', 'timeout'],
    ['remind', 'again'],
    ['again', 'subscribe', 'event'],
    ['again', 'drop', 'timeout'],
  ],
  cases: [
    {
      name: 'confirms',
      contact: { ...ann, subscribed: false },
      events: [{ at: hours(1), name: 'confirmed address' }],
      expect: [['ask'], ['wait', 'event'], ['subscribe']],
    },
    {
      name: 'confirms after the reminder',
      contact: { ...ann, subscribed: false },
      events: [{ at: days(3), name: 'confirmed address' }],
      expect: [['ask'], ['wait', 'timeout'], ['remind'], ['again', 'event'], ['subscribe']],
    },
    {
      name: 'never confirms',
      contact: { ...ann, subscribed: false },
      expect: [['ask'], ['wait', 'timeout'], ['remind'], ['again', 'timeout'], ['drop']],
    },
  ],
};

export const recipes: readonly Recipe[] = [welcome, trial, cart, winBack, doubleOptIn];
