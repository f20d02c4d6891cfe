interface BulkMail {
  projectId: string;
  campaignId: string;
  from: string;
}

/** Headers of bulk mail: suppress automatic replies, and let mailbox providers tell senders apart. */
export const bulkHeaders = ({ projectId, campaignId, from }: BulkMail): Record<string, string> => ({
  Precedence: 'bulk',
  'X-Auto-Response-Suppress': 'OOF, AutoReply',
  'List-Id': `<${projectId}.${from.slice(from.lastIndexOf('@') + 1)}>`,
  'Feedback-ID': `${campaignId}:${projectId}:campaign:everpost`,
});
