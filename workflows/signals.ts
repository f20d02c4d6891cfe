import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { SignalNames, UpdateNames } from '../services/outbox/signals.ts';

/** Asks a campaign or an execution to read its row again. Carries no state, so order and repetition do not matter. */
export const refresh = defineSignal('lookAgain' satisfies SignalNames['refresh']);

/** Returns when a check is done that was running or started after the request. */
export const checkDomainNow = defineUpdate<void>('checkNow' satisfies UpdateNames['checkDomain']);
