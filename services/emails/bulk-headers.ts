interface ListMail {
  projectId: string;
  from: string;
  /** The key of the topic. */
  topic?: string | undefined;
}

interface BulkMail extends ListMail {
  campaignId: string;
}

/** RFC 2919: what a recipient's filters take for one list. */
export const listIdOf = ({ projectId, from, topic }: ListMail): string =>
  `<${topic === undefined ? '' : `${topic}.`}${projectId}.${from.slice(from.lastIndexOf('@') + 1)}>`;

/** Headers of bulk mail: suppress automatic replies, and let mailbox providers tell senders apart. */
export const bulkHeaders = ({ projectId, campaignId, from, topic }: BulkMail): Record<string, string> => ({
  Precedence: 'bulk',
  'X-Auto-Response-Suppress': 'OOF, AutoReply',
  'List-Id': listIdOf({ projectId, from, topic }),
  'Feedback-ID': `${campaignId}:${projectId}:campaign:everpost`,
});
