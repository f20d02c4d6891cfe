/** An address of a contact. One recipient domain never gets all connections, so there are several. */
export const addressOf = (kind: string, n: number): string => `${kind}${n}@d${n % 20}.example.com`;
