/**
 * The project that our own mail is recorded under: verification, reset, invitation, warnings. A migration makes it. It
 * has no members, its keys are none, and it may send from `SYSTEM_FROM` without owning that domain.
 */
export const SYSTEM_PROJECT_ID = '00000000-0000-7000-8000-000000000001';
