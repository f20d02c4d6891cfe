import joi from 'joi';
import { campaignTotals, metrics, topCampaigns } from '../../services/analytics/campaigns.ts';
import { byDomain, byTemplate, topLinks } from '../../services/analytics/mails.ts';
import { timeseries } from '../../services/analytics/timeseries.ts';
import { topEvents } from '../../services/analytics/top-events.ts';
import { answer, ok } from '../http/answers.ts';
import { rangeQuery } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import { limit, list, nullable, object, oneOf, optional, text, uuid, wholeNumber } from '../http/schemas.ts';
import { presentTimeseries, timeseriesSchema } from '../presenters/activity.ts';
import {
  campaignTotalsSchema,
  presentCampaignTotals,
  presentRatedCampaign,
  ratedCampaignSchema,
} from '../presenters/campaign-analytics.ts';
import { mailCounts } from '../presenters/mail-counts.ts';

// All figures cover whole hours, by default of the last 30 days.

export const analytics = routes('Analytics', [
  route({
    method: 'GET',
    path: '/analytics/timeseries',
    heavy: 'read',
    summary: 'Get mail results per UTC day or hour, counted once per mail',
    access: 'secretKey',
    scope: 'analytics:read',
    query: { ...rangeQuery(), granularity: optional(oneOf('hour', 'day')) },
    answers: { 200: answer('A point for every day or hour.', timeseriesSchema) },
    handle: async ({ db, project, query: { granularity = 'day', ...query } }) =>
      ok(presentTimeseries(await timeseries(db, project.projectId, { ...query, granularity }), granularity)),
  }),
  route({
    method: 'GET',
    path: '/analytics/top-campaigns',
    heavy: 'read',
    summary: 'List campaigns that started in the range, the best first',
    access: 'secretKey',
    scope: 'analytics:read',
    query: { ...rangeQuery(), metric: optional(oneOf(...metrics)), limit: limit({ fallback: 10 }) },
    answers: { 200: answer('The campaigns.', list(ratedCampaignSchema)) },
    handle: async ({ db, project, query: { metric = 'opens', ...query } }) =>
      ok((await topCampaigns(db, project.projectId, { ...query, metric })).map(presentRatedCampaign)),
  }),
  route({
    method: 'GET',
    path: '/analytics/campaign-stats',
    heavy: 'read',
    summary: 'Get totals and figures of the campaigns that started in the range',
    access: 'secretKey',
    scope: 'analytics:read',
    query: rangeQuery(),
    answers: { 200: answer('The totals and the campaigns.', campaignTotalsSchema) },
    handle: async ({ db, project, query }) =>
      ok(presentCampaignTotals(await campaignTotals(db, project.projectId, query))),
  }),
  route({
    method: 'GET',
    path: '/analytics/top-events',
    heavy: 'read',
    summary: 'List the most frequent tracked events with their growth',
    access: 'secretKey',
    scope: 'analytics:read',
    query: { ...rangeQuery(), limit: limit({ fallback: 10 }) },
    answers: {
      200: answer(
        'The events.',
        list(object({ name: text(), count: wholeNumber({ min: 1 }), trend: joi.number().required() })),
      ),
    },
    handle: async ({ db, project, query }) => ok(await topEvents(db, project.projectId, query)),
  }),
  route({
    method: 'GET',
    path: '/analytics/by-template',
    heavy: 'read',
    summary: 'List mail results by template, in whole days of UTC, counted once per mail',
    access: 'secretKey',
    scope: 'analytics:read',
    query: { ...rangeQuery(), limit: limit() },
    answers: {
      200: answer(
        'The templates with most mail first. `name` is null once the template is deleted.',
        list(object({ templateId: uuid(), name: nullable(text()), ...mailCounts() })),
      ),
    },
    handle: async ({ db, project, query }) => ok(await byTemplate(db, project.projectId, query)),
  }),
  route({
    method: 'GET',
    path: '/analytics/by-domain',
    heavy: 'read',
    summary: 'List mail results by the domain of the recipient, in whole days of UTC, counted once per mail',
    access: 'secretKey',
    scope: 'analytics:read',
    query: { ...rangeQuery(), limit: limit() },
    answers: {
      200: answer('The domains with most mail first.', list(object({ domain: text(), ...mailCounts() }))),
    },
    handle: async ({ db, project, query }) => ok(await byDomain(db, project.projectId, query)),
  }),
  route({
    method: 'GET',
    path: '/analytics/top-links',
    heavy: 'read',
    summary: 'List the links that people clicked most, in whole days of UTC',
    access: 'secretKey',
    scope: 'analytics:read',
    query: { ...rangeQuery(), limit: limit({ fallback: 10 }) },
    answers: {
      200: answer(
        'The links, by the clicks of people. A link that was made for one recipient is counted without its query.',
        list(object({ link: text(), clicks: wholeNumber({ min: 0 }), humanClicks: wholeNumber({ min: 0 }) })),
      ),
    },
    handle: async ({ db, project, query }) => ok(await topLinks(db, project.projectId, query)),
  }),
]);
