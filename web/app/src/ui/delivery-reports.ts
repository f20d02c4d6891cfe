/** Whether deliveries are reported at all: not every relay does, and without reports a count of 0 says nothing. */
export const hasDeliveryReports = ({ sent, delivered }: { sent: number; delivered: number }): boolean =>
  sent === 0 || delivered > 0;

/** The same for the days of a period. */
export function haveDeliveryReports(points: { sent: number; delivered: number }[]): boolean {
  const sum = (name: 'sent' | 'delivered') => points.reduce((total, point) => total + point[name], 0);
  return hasDeliveryReports({ sent: sum('sent'), delivered: sum('delivered') });
}
