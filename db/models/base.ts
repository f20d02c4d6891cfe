import { Model, snakeCaseMappers } from 'objection';

/** Columns are snake_case in Postgres and camelCase in the program. */
export class BaseModel extends Model {
  static override columnNameMappers = snakeCaseMappers();

  declare createdAt: Date;
}
