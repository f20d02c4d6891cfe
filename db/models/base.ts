import { Model } from 'objection';

export class BaseModel extends Model {
  declare createdAt: Date;
}
