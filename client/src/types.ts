// Reads paths, parameters, bodies and answers out of the generated types.
import type { Error as ErrorBody, paths, webhooks } from './api-types.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

/** The declaration of a method of a path. */
export type OperationOf<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never;

type ParameterOf<O, Place extends 'path' | 'query'> = O extends { parameters: infer All }
  ? Place extends keyof All
    ? NonNullable<All[Place]>
    : never
  : never;

/** The JSON body, or a form where the route takes files. */
export type BodyOf<O> = O extends { requestBody?: infer Body } ? ContentOf<NonNullable<Body>> : never;

type ContentOf<Body> = [Body] extends [never]
  ? never
  : Body extends { content: { 'application/json': infer Json } }
    ? Json
    : FormData;

/** An option that is required when it has required fields, and absent when the route does not take it. */
type Option<Name extends string, Value> = [Value] extends [never]
  ? { [N in Name]?: undefined }
  : Partial<Record<never, never>> extends Value
    ? { [N in Name]?: Value | undefined }
    : { [N in Name]: Value };

export interface CallOptions {
  /** Aborts the call, its retries included. */
  signal?: AbortSignal;
  /** For routes that take one; generated when missing. */
  idempotencyKey?: string;
}

export type OptionsOf<O> = CallOptions &
  Option<'path', ParameterOf<O, 'path'>> &
  Option<'query', ParameterOf<O, 'query'>> &
  Option<'body', BodyOf<O>>;

/** The query of a GET. */
export type QueryOf<P extends PathOf<'get'>> = ParameterOf<OperationOf<P, 'get'>, 'query'>;

/** Makes the argument optional where no option is required. */
export type Arguments<Options> = Partial<Record<never, never>> extends Options ? [options?: Options] : [Options];

/** The body of a good answer: JSON, text of any other type, or nothing. */
export type AnswerOf<O> = O extends { responses: infer All }
  ? {
      [Status in keyof All & (200 | 201 | 202 | 204)]: All[Status] extends { content: infer Content }
        ? Content extends { 'application/json': infer Json }
          ? Json
          : string
        : undefined;
    }[keyof All & (200 | 201 | 202 | 204)]
  : never;

export type ErrorCode = ErrorBody['error']['code'];

/** `event.<name>` stands for every name. */
type TypeOf<T extends string> = T extends `${infer Start}<${string}>${infer End}` ? `${Start}${string}${End}` : T;

/** What an endpoint receives. `type` names the kind of `data`. */
export type WebhookEvent = {
  [T in keyof webhooks & string]: {
    type: TypeOf<T>;
    timestamp: string;
    data: webhooks[T]['data'];
    /** The payload was over 20 kB: its largest values are empty. */
    truncated?: boolean;
  };
}[keyof webhooks & string];
