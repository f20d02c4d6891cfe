import { BaseModel } from './base.ts';

/** A URL that is called for what happens in a project. */
export class WebhookEndpoint extends BaseModel {
  static override tableName = 'webhook_endpoints';

  declare id: string;
  declare projectId: string;
  declare url: string;
  declare description: string | null;
  declare types: string[];
  declare sealedHeaders: string | null;
  declare headerNames: string[];
  declare ratePerSecond: number | null;
  /** Sealed, as `previousSecret`: the list of those that sign too, the last one until `previousSecretUntil`. */
  declare secret: string;
  declare previousSecret: string | null;
  declare previousSecretUntil: Date | null;
  declare enabled: boolean;
  /** Null where a person disabled it. */
  declare disabledReason: 'gone' | 'failing' | null;
  declare disabledAt: Date | null;
  declare failingSince: Date | null;
  declare failureMailed: boolean;
  declare failedRounds: number;
  declare pausedUntil: Date | null;
  /** While it is called, new deliveries cause no signal. */
  declare deliveringUntil: Date;
  /** When its Temporal workflow is to be signalled. */
  declare signalAt: Date | null;
  declare generation: number;
  declare loopStartedAt: Date;
  declare updatedAt: Date;
}
