export type * from './api-types.ts';
export { createClient, type EverpostClient } from './client.ts';
export { EverpostConnectionError, EverpostError, isEverpostError } from './errors.ts';
export { items, type ListPath, pages } from './pages.ts';
export type { ClientOptions, RawClient } from './raw-client.ts';
export type {
  AnswerOf,
  BodyOf,
  CallOptions,
  ErrorCode,
  OperationOf,
  PathOf,
  QueryOf,
  WebhookEvent,
} from './types.ts';
export { verifyWebhook, type WebhookRequest, WebhookVerificationError } from './webhooks.ts';
