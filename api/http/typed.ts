import type joi from 'joi';

declare const carries: unique symbol;

/** A joi schema with the type of its validated value, from which the types of a handler's input follow. */
export type Typed<T> = joi.Schema & { readonly [carries]?: () => T };

/** The fields of a path, a query or a body. */
export type Shape = Record<string, Typed<unknown>>;

export type TypeOf<S> = S extends { readonly [carries]?: () => infer T } ? T : unknown;

type OptionalKeys<S extends Shape> = { [K in keyof S]: undefined extends TypeOf<S[K]> ? K : never }[keyof S];

/** Fields whose schema allows `undefined` are optional. */
export type ValueOf<S extends Shape> = { [K in Exclude<keyof S, OptionalKeys<S>>]: TypeOf<S[K]> } & {
  [K in OptionalKeys<S>]?: TypeOf<S[K]>;
};

/** A body is declared by its fields, or by one schema where fields are not enough. */
export type BodyValueOf<B> = B extends joi.Schema ? TypeOf<B> : B extends Shape ? ValueOf<B> : undefined;
