/** Whether deliveries are reported at all: not every relay does, and without reports a count of 0 says nothing. */
export const hasDeliveryReports = ({ sent, delivered }: { sent: number; delivered: number }): boolean =>
  sent === 0 || delivered > 0;
