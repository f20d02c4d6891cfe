import type { EverydayTopic, Texts } from '../index.ts';
import { basics } from './basics.ts';
import { details } from './details.ts';

export const everyday: Pick<Texts, EverydayTopic> = { ...basics, ...details };
