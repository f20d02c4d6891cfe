import { list, namedType, text, uuid } from '../http/schemas.ts';

/** The resources that use something, each by ID and name. */
export const usersSchema = () =>
  list(
    namedType('ResourceReference', 'A resource by ID and name.', {
      id: uuid().description('Resource ID.'),
      name: text().description('Resource name.'),
    }),
  );
