import { startTestApi, type TestApi } from './api.ts';
import { type CampaignWorker, campaignWorker } from './campaigns.ts';
import { type SmtpStandIn, startSmtp } from './smtp.ts';

export interface SendingApi {
  api: TestApi;
  smtp: SmtpStandIn;
  worker: CampaignWorker;
  stop(): Promise<void>;
}

/** Starts an API without a rate limit, an SMTP server, and a worker that sends the API's mail to it. */
export async function startSendingApi(): Promise<SendingApi> {
  const [api, smtp] = await Promise.all([startTestApi({ env: { RATE_LIMIT_PER_MINUTE: '0' } }), startSmtp()]);
  const worker = campaignWorker({ db: api.db, url: api.databaseUrl }, smtp.url);
  return {
    api,
    smtp,
    worker,
    stop: async () => {
      await worker.close();
      await smtp.close();
      await api.stop();
    },
  };
}
