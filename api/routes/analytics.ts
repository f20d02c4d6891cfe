import joi from 'joi';
import { campaignTotals, metrics, topCampaigns } from '../../services/analytics/campaigns.ts';
import { byDomain, byTemplate, topLinks } from '../../services/analytics/mails.ts';
import { timeseries } from '../../services/analytics/timeseries.ts';
import { topEvents } from '../../services/analytics/top-events.ts';
import { answer, ok } from '../http/answers.ts';
import { statsRangeQuery } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import { limit, list, namedType, oneOf, optional, text, wholeNumber } from '../http/schemas.ts';
import { presentTimeseries, timeseriesSchema } from '../presenters/activity.ts';
import {
  campaignTotalsSchema,
  presentCampaignTotals,
  presentRatedCampaign,
  ratedCampaignSchema,
} from '../presenters/campaign-analytics.ts';
import { domainStatsSchema, templateStatsSchema } from '../presenters/mail-counts.ts';

// All figures cover whole hours or days, by default of the last 30 days.

const topEventSchema = namedType('TopEvent', 'A tracked event with its frequency.', {
  name: text().description('Event name.').example('signed_up'),
  count: wholeNumber({ min: 1 }).description('Number of times the event was tracked in the range.'),
  trend: joi
    .number()
    .required()
    .description('Growth over the preceding range of the same length: 0.5 is 50% more. 1 if the event is new.')
    .example(0.5),
});

const topLinkSchema = namedType('TopLink', 'A link with its clicks.', {
  link: text()
    .description(
      'URL of the link. A URL that was generated for one recipient has no query; `other` stands for all beyond 400 a day.',
    )
    .example('https://example.com/offer'),
  clicks: wholeNumber({ min: 0 }).description('Number of clicks, including automated clicks.'),
  humanClicks: wholeNumber({ min: 0 }).description('Number of clicks by people.'),
});

export const analytics = routes('Analytics', [
  route({
    method: 'GET',
    path: '/analytics/timeseries',
    heavy: 'read',
    summary: 'Get email results by UTC day or hour',
    access: 'secretKey',
    scope: 'analytics:read',
    query: {
      ...statsRangeQuery(),
      granularity: optional(oneOf('hour', 'day')).description('Length of a point; `day` by default.'),
    },
    answers: { 200: answer('A point for every day or hour. An email counts once per result.', timeseriesSchema) },
    handle: async ({ db, project, query: { granularity = 'day', ...query } }) =>
      ok(presentTimeseries(await timeseries(db, project.projectId, { ...query, granularity }), granularity)),
  }),
  route({
    method: 'GET',
    path: '/analytics/top-campaigns',
    heavy: 'read',
    summary: 'List the best campaigns that started in a range',
    access: 'secretKey',
    scope: 'analytics:read',
    query: {
      ...statsRangeQuery(),
      metric: optional(oneOf(...metrics)).description('Count to rank by; `opens` by default.'),
      limit: limit({ fallback: 10 }),
    },
    answers: { 200: answer('The campaigns, best first.', list(ratedCampaignSchema)) },
    handle: async ({ db, project, query: { metric = 'opens', ...query } }) =>
      ok((await topCampaigns(db, project.projectId, { ...query, metric })).map(presentRatedCampaign)),
  }),
  route({
    method: 'GET',
    path: '/analytics/campaign-stats',
    heavy: 'read',
    summary: 'Get the totals of the campaigns that started in a range',
    access: 'secretKey',
    scope: 'analytics:read',
    query: statsRangeQuery(),
    answers: { 200: answer('The totals and the campaigns.', campaignTotalsSchema) },
    handle: async ({ db, project, query }) =>
      ok(presentCampaignTotals(await campaignTotals(db, project.projectId, query))),
  }),
  route({
    method: 'GET',
    path: '/analytics/top-events',
    heavy: 'read',
    summary: 'List the most frequent tracked events',
    access: 'secretKey',
    scope: 'analytics:read',
    query: { ...statsRangeQuery(), limit: limit({ fallback: 10 }) },
    answers: {
      200: answer('The events, most frequent first.', list(topEventSchema)),
    },
    handle: async ({ db, project, query }) => ok(await topEvents(db, project.projectId, query)),
  }),
  route({
    method: 'GET',
    path: '/analytics/by-template',
    heavy: 'read',
    summary: 'List email results by template, over whole UTC days',
    access: 'secretKey',
    scope: 'analytics:read',
    query: { ...statsRangeQuery(), limit: limit() },
    answers: {
      200: answer('The templates, most sent emails first. An email counts once per result.', list(templateStatsSchema)),
    },
    handle: async ({ db, project, query }) => ok(await byTemplate(db, project.projectId, query)),
  }),
  route({
    method: 'GET',
    path: '/analytics/by-domain',
    heavy: 'read',
    summary: 'List email results by recipient domain, over whole UTC days',
    access: 'secretKey',
    scope: 'analytics:read',
    query: { ...statsRangeQuery(), limit: limit() },
    answers: {
      200: answer('The domains, most sent emails first. An email counts once per result.', list(domainStatsSchema)),
    },
    handle: async ({ db, project, query }) => ok(await byDomain(db, project.projectId, query)),
  }),
  route({
    method: 'GET',
    path: '/analytics/top-links',
    heavy: 'read',
    summary: 'List the links that people clicked most, over whole UTC days',
    access: 'secretKey',
    scope: 'analytics:read',
    query: { ...statsRangeQuery(), limit: limit({ fallback: 10 }) },
    answers: {
      200: answer('The links, most clicks by people first.', list(topLinkSchema)),
    },
    handle: async ({ db, project, query }) => ok(await topLinks(db, project.projectId, query)),
  }),
]);
