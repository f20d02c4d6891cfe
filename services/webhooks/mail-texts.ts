import type { AccountLanguage } from '../../platform/languages.ts';

/** `warned`: it fails for an hour. The others are why it was disabled. */
export type EndpointNews = 'warned' | 'gone' | 'failing';

interface Text {
  subject: string;
  paragraphs: string[];
}

type TextOfEndpoint = (host: string, project: string) => Text;

const KEPT_EN =
  'Its deliveries are kept for 30 days. Enable it when it works again; POST /webhook-endpoints/{id}/recover sends those it missed.';
const KEPT_DE =
  'Was er erhalten soll, wird 30 Tage aufbewahrt. Schalten Sie ihn wieder ein, wenn er funktioniert; POST /webhook-endpoints/{id}/recover sendet, was er verpasst hat.';

export const endpointMailTexts: Record<AccountLanguage, Record<EndpointNews, TextOfEndpoint>> = {
  en: {
    warned: (host, project) => ({
      subject: 'A webhook endpoint is failing',
      paragraphs: [
        `The webhook endpoint at ${host} of the project ${project} has not accepted a delivery for an hour.`,
        'Its deliveries are retried for several days. If all of them fail for five days, the endpoint is disabled.',
      ],
    }),
    gone: (host, project) => ({
      subject: 'A webhook endpoint was disabled',
      paragraphs: [
        `The webhook endpoint at ${host} of the project ${project} answered 410 (Gone) and was disabled.`,
        KEPT_EN,
      ],
    }),
    failing: (host, project) => ({
      subject: 'A webhook endpoint was disabled',
      paragraphs: [
        `The webhook endpoint at ${host} of the project ${project} has failed for five days and was disabled.`,
        KEPT_EN,
      ],
    }),
  },
  de: {
    warned: (host, project) => ({
      subject: 'Ein Webhook-Endpunkt schlägt fehl',
      paragraphs: [
        `Der Webhook-Endpunkt bei ${host} des Projekts ${project} hat seit einer Stunde keinen Aufruf beantwortet.`,
        'Seine Zustellungen werden einige Tage lang wiederholt. Nach fünf Tagen ohne Erfolg wird der Endpunkt ausgeschaltet.',
      ],
    }),
    gone: (host, project) => ({
      subject: 'Ein Webhook-Endpunkt wurde ausgeschaltet',
      paragraphs: [
        `Der Webhook-Endpunkt bei ${host} des Projekts ${project} hat mit 410 (Gone) geantwortet und wurde ausgeschaltet.`,
        KEPT_DE,
      ],
    }),
    failing: (host, project) => ({
      subject: 'Ein Webhook-Endpunkt wurde ausgeschaltet',
      paragraphs: [
        `Der Webhook-Endpunkt bei ${host} des Projekts ${project} ist fünf Tage lang fehlgeschlagen und wurde ausgeschaltet.`,
        KEPT_DE,
      ],
    }),
  },
};
