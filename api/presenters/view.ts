import type { View } from '../../db/models/view.ts';
import { viewPages } from '../../services/views/views.ts';
import { list, namedType, nullable, oneOf, record, text, uuid } from '../http/schemas.ts';

export const viewSchema = namedType('View', 'Filters and columns of a list, shared in the project.', {
  id: uuid().description('View ID.'),
  name: text().description('Name of the view.').example('Pro customers'),
  page: oneOf(...viewPages).description('The list that the view is of.'),
  filters: record().description('Filters, as the web application uses them.').example({ 'data.plan': 'pro' }),
  columns: list(text()).description('Columns in their order; empty for the default ones.').example(['email']),
  createdBy: nullable(uuid()).description('ID of the user who created the view; null if no user did.'),
});

export const presentView = ({ id, name, page, filters, columns, createdBy }: View) => ({
  id,
  name,
  page,
  filters,
  columns,
  createdBy,
});
