/**
 * The project of system mail: verification, reset, invitation, warnings. The baseline migration creates it. It has no
 * members and no valid keys, and may send from `SYSTEM_FROM` without owning that domain.
 */
export const SYSTEM_PROJECT_ID = '00000000-0000-7000-8000-000000000001';
