import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { Temporal } from './connection.ts';
import { grpcCodes } from './grpc-codes.ts';

// No personal data: search attributes are not encrypted.
export const attributeKeys = {
  projectId: defineSearchAttributeKey('ProjectId', 'KEYWORD'),
  contactId: defineSearchAttributeKey('ContactId', 'KEYWORD'),
  resourceId: defineSearchAttributeKey('ResourceId', 'KEYWORD'),
  stepType: defineSearchAttributeKey('StepType', 'KEYWORD'),
};

const names = Object.values(attributeKeys).map(({ name }) => name);
/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2;
const DEADLINE_MS = 10_000;
const refusals: number[] = [grpcCodes.UNIMPLEMENTED, grpcCodes.PERMISSION_DENIED, grpcCodes.UNAUTHENTICATED];

export type Registration = 'there' | 'added' | 'cannot be checked';

/**
 * Registers missing search attributes. Temporal rejects a start with an unknown attribute, so this runs before any start.
 * Temporal Cloud does not allow it: there an operator adds them, and they cannot be checked.
 */
export async function ensureSearchAttributes(temporal: Temporal): Promise<Registration> {
  let missing: string[];
  try {
    missing = await missingAttributes(temporal);
  } catch (error) {
    if (isGrpcServiceError(error) && refusals.includes(error.code)) return 'cannot be checked';
    throw error;
  }
  if (missing.length === 0) return 'there';
  await add(temporal, missing);
  await waitUntilListed(temporal);
  return 'added';
}

async function missingAttributes({ connection, namespace }: Temporal): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const wrong = names.filter((name) => (customAttributes[name] ?? KEYWORD) !== KEYWORD);
  if (wrong.length > 0) throw new Error(`Search attributes of the wrong type (Keyword is needed): ${wrong.join(', ')}`);
  return names.filter((name) => !(name in customAttributes));
}

async function add({ connection, namespace }: Temporal, missing: string[]): Promise<void> {
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another worker has added them.
    if (!isGrpcServiceError(error) || error.code !== grpcCodes.ALREADY_EXISTS) throw error;
  }
}

async function waitUntilListed(temporal: Temporal): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const missing = await missingAttributes(temporal);
    if (missing.length === 0) return;
    if (Date.now() > deadline) throw new Error(`Temporal does not show the search attributes ${missing.join(', ')}.`);
    await sleep(100);
  }
}
