import { Alert, Badge } from '@mantine/core';
import { IconShieldExclamation } from '@tabler/icons-react';
import type { Form } from '../../api/api-types.ts';
import { dateTime } from '../../format.ts';
import { t } from '../../texts/index.ts';

export const FormStatusBadges = ({ form: { status, attackedSince } }: { form: Form }) => (
  <>
    <Badge color={status === 'ACTIVE' ? 'teal' : 'gray'}>{t.forms.statuses[status]}</Badge>
    {attackedSince && <Badge color="red">{t.forms.underAttack}</Badge>}
  </>
);

/** Says that forms are under attack, and what that means; nothing without any. */
export function AttackBanner({ forms }: { forms: Form[] }) {
  const attacked = forms.filter(({ attackedSince }) => attackedSince !== null);
  if (attacked.length === 0) return null;
  const [first] = attacked;
  return (
    <Alert color="red" icon={<IconShieldExclamation />} title={t.forms.attackTitle(attacked.length)}>
      {attacked.length === 1 && first?.attackedSince && `${t.forms.attackSince(dateTime(first.attackedSince))} `}
      {t.forms.attackText}
    </Alert>
  );
}
