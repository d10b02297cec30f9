import {
  changeContestTemplate,
  finishRound,
  listContestRounds,
  listContestTemplates,
  listRoundAttempts,
  periodEmpty,
  readContestTemplate,
  readRound,
  roundIsActive,
  roundNotFound,
  startRound,
  templateNotFound,
} from '../../domain/engagement/daily-contests/rounds.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  AttemptListQuery,
  ContestAttemptListResponse,
  ContestRoundListResponse,
  ContestRoundResponse,
  ContestTemplateListResponse,
  ContestTemplateResponse,
  ContestTemplateUpdateRequest,
  RoundListQuery,
  RoundPath,
  StartRoundRequest,
  TemplateListQuery,
  TemplatePath,
} from './contests.schemas.ts';

const tags: [string] = ['contests'];

/** Daily games of the group `contests`; the contests of referrers are in `referral-contests.router.ts`. */
export const contestsRouter = router({
  listTemplates: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/contests/daily/templates', tags, summary: 'List the daily games' },
      description: 'Lists the daily games with their prizes and schedules.',
    })
    .input(fromWire(TemplateListQuery))
    .output(toWire(ContestTemplateListResponse))
    .query(async ({ ctx, input }) => ({ items: await listContestTemplates(ctx.app, input.enabledOnly) })),

  getTemplate: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/contests/daily/templates/{template_id}', tags, summary: 'Read a daily game' },
      description: 'Returns a daily game.',
      refuses: [templateNotFound],
    })
    .input(fromWire(TemplatePath))
    .output(toWire(ContestTemplateResponse))
    .query(({ ctx, input }) => readContestTemplate(ctx.app, input.templateId)),

  updateTemplate: auditedWebProcedure('contests:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/contests/daily/templates/{template_id}', tags, summary: 'Change a daily game' },
      description:
        'Changes a daily game; absent or null fields are not changed. Rounds that have begun keep their game and numbers.',
      refuses: [templateNotFound],
    })
    .input(fromWire(withBody(TemplatePath, ContestTemplateUpdateRequest)))
    .output(toWire(ContestTemplateResponse))
    .mutation(({ ctx, input: { templateId, ...changes } }) => changeContestTemplate(ctx.app, templateId, changes)),

  startRound: auditedWebProcedure('contests:start')
    .meta({
      openapi: {
        method: 'POST',
        path: '/contests/daily/templates/{template_id}/start-round',
        tags,
        summary: 'Start a round of a daily game',
      },
      description:
        'Starts a round now or later and enables the game. Users with an active subscription and the first required channel are told in the background.',
      refuses: [periodEmpty, templateNotFound, roundIsActive],
    })
    .input(fromWire(withBody(TemplatePath, StartRoundRequest)))
    .output(toWire(ContestRoundResponse))
    .mutation(({ ctx, input: { templateId, ...request } }) => startRound(ctx.app, templateId, request)),

  listRounds: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/contests/daily/rounds', tags, summary: 'List rounds of daily games' },
      description:
        'Lists rounds: those that are played now by their start, else the latest first. The payload contains the solution.',
    })
    .input(fromWire(RoundListQuery))
    .output(toWire(ContestRoundListResponse))
    .query(async ({ ctx, input: { statusFilter, templateId, ...page } }) => {
      // 0 is no template (spec 04 section 10.4).
      const filter = { status: statusFilter as 'active' | 'finished' | 'any', templateId: templateId || null };
      const { items, total } = await listContestRounds(ctx.app, filter, page);
      return { items, total, ...page };
    }),

  getRound: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/contests/daily/rounds/{round_id}', tags, summary: 'Read a round' },
      description: 'Returns a round. The payload contains the solution.',
      refuses: [roundNotFound],
    })
    .input(fromWire(RoundPath))
    .output(toWire(ContestRoundResponse))
    .query(({ ctx, input }) => readRound(ctx.app, input.roundId)),

  finishRound: auditedWebProcedure('contests:finish')
    .meta({
      openapi: { method: 'POST', path: '/contests/daily/rounds/{round_id}/finish', tags, summary: 'End a round' },
      description: 'Ends a round. The schedule does not open it again; repeating the call changes nothing.',
      refuses: [roundNotFound],
    })
    .input(fromWire(RoundPath))
    .output(toWire(ContestRoundResponse))
    .mutation(({ ctx, input }) => finishRound(ctx.app, input.roundId)),

  listAttempts: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/contests/daily/rounds/{round_id}/attempts',
        tags,
        summary: 'List the attempts of a round',
      },
      description: 'Lists the attempts of a round, oldest first; none for an unknown round.',
    })
    .input(fromWire(RoundPath.extend(AttemptListQuery.shape)))
    .output(toWire(ContestAttemptListResponse))
    .query(async ({ ctx, input: { roundId, winnersOnly, ...page } }) => {
      const { items, total } = await listRoundAttempts(ctx.app, { roundId, winnersOnly }, page);
      return { items, total, ...page };
    }),
});
