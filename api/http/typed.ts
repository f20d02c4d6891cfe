import type joi from 'joi';

declare const carries: unique symbol;

/** A joi schema that remembers the type of what it lets through; the types of a handler's input follow from it. */
export type Typed<T> = joi.Schema & { readonly [carries]?: () => T };

/** The fields of a path, a query or a body. */
export type Shape = Record<string, Typed<unknown>>;

export type TypeOf<S> = S extends { readonly [carries]?: () => infer T } ? T : unknown;

type OptionalKeys<S extends Shape> = { [K in keyof S]: undefined extends TypeOf<S[K]> ? K : never }[keyof S];

/** A field whose schema lets `undefined` through may be missing. */
export type ValueOf<S extends Shape> = { [K in Exclude<keyof S, OptionalKeys<S>>]: TypeOf<S[K]> } & {
  [K in OptionalKeys<S>]?: TypeOf<S[K]>;
};

/** A body is given as its fields, or as one schema where fields alone do not say it. */
export type BodyValueOf<B> = B extends joi.Schema ? TypeOf<B> : B extends Shape ? ValueOf<B> : undefined;
