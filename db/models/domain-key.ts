import { BaseModel } from './base.ts';

/** A DKIM key of a domain, published under its selector. One key of a domain signs. */
export class DomainKey extends BaseModel {
  static override tableName = 'domain_keys';

  declare id: string;
  declare domainId: string;
  declare selector: string;
  /** Sealed, with the id as associated data. */
  declare privateKey: string;
  /** As published in DNS: its DER form in base64. */
  declare publicKey: string;
  declare signs: boolean;
}
