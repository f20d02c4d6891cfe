// Sends due mail without Temporal, with the sender of the product and a real SMTP server.
import { connectDb, type Db } from '../../db/connect.ts';
import { createLogger } from '../../platform/logger.ts';
import { Relay } from '../../platform/smtp/relay.ts';
import type { Relays } from '../../platform/smtp/relays.ts';
import { DomainPace } from '../../services/sending/domain-pace.ts';
import { noResults, type ResultCounts } from '../../services/sending/outcome.ts';
import { Preparation } from '../../services/sending/prepare.ts';
import type { Sender, SenderDeps, SendingTime } from '../../services/sending/sender.ts';
import { limits } from './campaigns.ts';
import { testLinkSettings } from './links.ts';
import { testRenderer } from './renderer.ts';

export interface TestSenderOptions extends Partial<SenderDeps> {
  connections?: number;
  timeouts?: { connectMs?: number; greetingMs?: number; silenceMs?: number };
}

export interface TestSender {
  sender: Sender;
  relays: Relays;
  /** Runs until no mail is due, and returns the results. */
  send(time?: Partial<SendingTime>): Promise<ResultCounts>;
  close(): Promise<void>;
}

const log = createLogger('test', 'silent');
