// The types of the API: those of the client package, and of the paths that it lacks because a key cannot call them.
import type * as byKey from '../../../../client/src/schema.ts';
import type * as bySession from './session-schema.ts';

export type paths = Omit<byKey.paths, keyof bySession.paths> & bySession.paths;
export type operations = Omit<byKey.operations, keyof bySession.operations> & bySession.operations;
export type components = bySession.components;
