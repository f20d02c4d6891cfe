import { BaseModel } from './base.ts';

/** A DKIM key of a domain: published under its selector, and one of them signs. */
export class DomainKey extends BaseModel {
  static override tableName = 'domain_keys';

  declare id: string;
  declare domainId: string;
  declare selector: string;
  /** Sealed, bound to the id. */
  declare privateKey: string;
  /** As it stands in DNS: the base64 of its DER form. */
  declare publicKey: string;
  declare signs: boolean;
}
